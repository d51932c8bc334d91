"""The keeper: a small process between the run and one worker, that leaves nothing behind.

It starts the worker, watches the memory of everything that descends from it, and ends all of it
when it is told to, or when the run itself is gone: the run's end of the control pipe closes
however the run dies. The worker's folders go with it. On Linux it adopts what a daemon leaves
behind, and the worker dies with it.

It runs as a script of its own (`python keeper.py …`) and imports little, so that it starts in a
few milliseconds. It never reads what the worker says.

    control pipe   m: measure, and begin a new peak;  k: end everything;  its end: end everything
    status pipe    {"cpu": …, "peak": …} for m, {"exit": …, "why": …} once, {"killed": …} for k
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from collections.abc import Sequence

SAMPLE_SECONDS = 0.05
"""How often memory is looked at, at most."""

SHARE = 0.02
"""How much of a processor looking at memory may take: with many processes it is done less."""

KILL_SECONDS = 5.0

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Process:
    """One process of the machine: its parent, its group, CPU seconds and resident bytes.

    `ended` is True for one that only waits for its parent to take notice.
    """

    __slots__ = ("cpu", "ended", "group", "parent", "rss")

    def __init__(self, parent: int, group: int, cpu: float, rss: int, *, ended: bool) -> None:
        self.parent = parent
        self.group = group
        self.cpu = cpu
        self.rss = rss
        self.ended = ended


def processes() -> dict[int, Process]:
    """Return every process that can be seen, by ID."""
    return _from_proc() if os.path.exists("/proc/self/stat") else from_ps()  # noqa: PTH110


def _from_proc() -> dict[int, Process]:
    found = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  # pathlib is slow to import
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        cpu = sum(map(int, fields[11:15])) / _TICKS
        ended = fields[0] in {b"Z", b"X"}
        rss = 0 if ended else int(fields[21]) * _PAGE
        found[int(name)] = Process(int(fields[1]), int(fields[2]), cpu, rss, ended=ended)
    return found


def from_ps() -> dict[int, Process]:
    """Return every process as `ps` tells them, for systems without /proc; CPU time is not told."""
    import subprocess  # noqa: PLC0415  # only here

    done = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid=,rss=,stat="], capture_output=True, check=False
    )
    found = {}
    for line in done.stdout.splitlines():
        *numbers, state = line.split()
        if len(numbers) == 4 and all(number.isdigit() for number in numbers):
            pid, parent, group, rss = map(int, numbers)
            ended = state.startswith(b"Z")
            found[pid] = Process(parent, group, 0.0, rss * 1024, ended=ended)
    return found


def descendants(seen: dict[int, Process], root: int, group: int) -> set[int]:
    """Return the processes below `root`, and those of a process group."""
    children: dict[int, list[int]] = {}
    for pid, process in seen.items():
        children.setdefault(process.parent, []).append(pid)
    found = {pid for pid, process in seen.items() if process.group == group}
    todo = [root, *found]
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in found:
                found.add(pid)
                todo.append(pid)
    return found


class Keeper:
    """One worker's keeper.

    Args:
        status: the pipe to tell things on.
        limit: bytes that the worker and its descendants may hold in memory; 0 for any number.
        folder: the worker's folders.
    """

    def __init__(self, status: int, limit: int, folder: str) -> None:
        self.status = status
        self.limit = limit
        self.folder = folder
        self.worker = 0
        self.why = ""
        self.peak = 0
        self.reported = False

    def start(self, command: list[str], closed: Sequence[int]) -> None:
        """Start the worker in a session of its own, without the keeper's own pipes."""
        adopt()
        own = os.getpid()
        self.worker = os.fork()
        if self.worker:
            return
        try:
            os.setsid()
            die_with(own)
            prefer_to_be_killed()
            for pipe in closed:
                os.close(pipe)
            os.execv(command[0], command)  # noqa: S606  # it is this Python
        finally:
            os._exit(127)

    def serve(self, control: int) -> None:
        """Watch until there is nothing more to watch."""
        wake, waker = os.pipe()
        os.set_blocking(waker, False)
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(control, select.POLLIN)
        poll.register(wake, select.POLLIN)
        pause = SAMPLE_SECONDS
        self.reap()
        while True:
            ready = [fd for fd, _ in poll.poll(pause * 1000)]
            if wake in ready:
                os.read(wake, 4096)
                self.reap()
            if control in ready:
                asked = os.read(control, 64)
                if b"m" in asked:
                    self.measure()
                if b"k" in asked or not asked:
                    self.tell({"killed": self.kill()})
                    self.clean()
                    return
            start = time.perf_counter()
            if self.worker and not ready:
                self.sample()
            pause = max(SAMPLE_SECONDS, (time.perf_counter() - start) / SHARE)

    def sample(self) -> dict[int, Process]:
        """Look at the tree once; end it where it holds too much."""
        seen = processes()
        own = descendants(seen, os.getpid(), self.worker)
        tree = {pid: seen[pid] for pid in own}
        held = sum(process.rss for process in tree.values())
        self.peak = max(self.peak, held)
        if self.limit and held > self.limit and not self.why:
            self.why = "memory"
            self.kill()
        return tree

    def measure(self) -> None:
        """Tell the peak since the last time, and the CPU time of all but the worker itself.

        The worker tells its own time, which it knows to the nanosecond; here it is known to a
        hundredth of a second.
        """
        import resource  # noqa: PLC0415  # only where it is asked for

        tree = self.sample()
        gone = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = sum(process.cpu for pid, process in tree.items() if pid != self.worker)
        self.tell({"cpu": cpu + gone.ru_utime + gone.ru_stime, "peak": self.peak})
        self.peak = 0

    def reap(self) -> None:
        """Take up what has ended, and tell it where that was the worker."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.worker and not self.reported:
                self.reported = True
                self.tell({"exit": os.waitstatus_to_exitcode(status), "why": self.why})

    def kill(self) -> int:
        """End everything below, and return how many processes that were beside the worker."""
        ended: set[int] = set()
        deadline = time.monotonic() + KILL_SECONDS
        while time.monotonic() < deadline:
            seen = processes()
            below = descendants(seen, os.getpid(), self.worker)
            alive = [pid for pid in below if not seen[pid].ended]
            for pid in alive:
                try:
                    os.kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    continue
                ended.add(pid)
            self.reap()
            if not alive:
                break
            time.sleep(0.002)
        return len(ended - {self.worker})

    def clean(self) -> None:
        """Remove the worker's folders: the run may no longer be there to do it."""
        import shutil  # noqa: PLC0415  # only here

        os.chdir("/")
        shutil.rmtree(self.folder, ignore_errors=True)

    def tell(self, what: dict[str, object]) -> None:
        """Write one line; there may be nobody left to read it."""
        try:
            os.write(self.status, json.dumps(what).encode() + b"\n")
        except OSError:
            self.status = -1


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415  # only Linux has it

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def adopt() -> None:
    """Become the parent of what descendants leave behind, where the system can do that."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def die_with(parent: int) -> None:
    """Be killed when the parent ends, however it ends."""
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(127)


def prefer_to_be_killed() -> None:
    """Let a system that runs out of memory take the worker before the run."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123
            file.write("900")
    except OSError:
        return


def main(arguments: list[str]) -> None:
    """Keep one worker.

    Args:
        arguments: the control pipe, the status pipe, the memory limit in bytes, the pipes that
            only the worker needs (with commas), the worker's folder, and its command.
    """
    control, status, limit = map(int, arguments[:3])
    keeper = Keeper(status, limit, arguments[4])
    keeper.start(arguments[5:], (control, status))
    for pipe in arguments[3].split(","):
        os.close(int(pipe))
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(quiet, stream)  # else the end of what the worker prints would never come
    keeper.serve(control)


if __name__ == "__main__":
    main(sys.argv[1:])
