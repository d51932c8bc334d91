"""Any program: a process a question, or one that answers all of them line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.protocols import templates
from codebench.protocols.output import FORMATS, as_json, read_output
from codebench.protocols.places import Places
from codebench.protocols.processes import Conversation, run_bounded
from codebench.protocols.settings import Settings
from codebench.reading import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus

REQUEST = {"query": "{query}", "k": "{k}"}


class Command(Retriever):
    """A program without Python: its call, and where its output holds what."""

    def __init__(self, **options: Any) -> None:
        settings = Settings(options)
        fields = settings.fields
        self.persistent = fields.flag("persistent", False)
        self.argv = settings.argv("argv")
        self.prepare = settings.argv("index", optional=True)
        self.stdin = fields.take("stdin", REQUEST if self.persistent else "")
        self.environment = templates.environment_values(fields, "environment")
        for name, template in (("stdin", self.stdin), ("environment", self.environment)):
            templates.check(fields, name, template)
        statuses = fields.items("statuses", ())
        if not all(type(status) is int for status in statuses):
            fields.fault("statuses", "holds what is no exit status", shown(statuses))
            statuses = ()
        self.statuses = {0, *statuses}
        self.output = read_output(fields, FORMATS)
        if self.persistent and templates.asks([self.argv, *self.environment.values()]):
            fields.fault("argv", "cannot hold the question where the process stays")
        asked = templates.asks([self.argv, self.stdin, *self.environment.values()])
        if not asked and not settings.wrong("argv", "stdin", "environment"):
            fields.fault(
                "argv",
                "is never told the question",
                mend="write {query} in argv, stdin or environment",
            )
        settings.finish()
        settings.need(self.argv)
        settings.need(self.prepare)
        self.version = settings.version([*self.argv, *self.prepare])
        self.concurrent = not self.persistent
        self.process: Conversation | None = None

    def index(self, corpus: Corpus) -> None:
        self.root = corpus.path
        self.places = Places(corpus, self.output.root)
        if self.prepare:
            given = templates.values("", 0, self.root)
            argv = templates.fill(self.prepare, given)
            environment = templates.fill(self.environment, given)
            done = run_bounded(list(map(str, argv)), cwd=self.root, environment=environment)
            if done.status != 0:
                raise done.failure(argv[0])
        if self.persistent:
            self._start()

    def search(self, text: str, k: int) -> Sequence[Hit]:
        given = templates.values(text, k, self.root)
        if templates.is_wordless([self.argv, self.stdin, *self.environment.values()], given):
            return []
        said = self._converse(given) if self.persistent else self._run(given)
        return self.output.hits(self.output.of_text(said), self.places, text, k)

    def _run(self, given: dict[str, str]) -> str:
        argv = [str(item) for item in templates.fill(self.argv, given)]
        done = run_bounded(
            argv,
            cwd=self.root,
            environment=templates.fill(self.environment, given),
            stdin=self._input(given),
        )
        if done.status not in self.statuses:
            hint = f" (if that means that nothing was found: statuses: [{done.status}])"
            raise done.failure(argv[0], hint)
        return done.output.decode("utf-8", "replace")

    def _converse(self, given: dict[str, str]) -> str:
        process = self.process if self.process and self.process.alive else self._start()
        process.say(self._input(given) + b"\n")
        return process.line().decode("utf-8", "replace")

    def _input(self, given: dict[str, str]) -> bytes:
        filled = templates.fill(self.stdin, given)
        if not isinstance(filled, str):
            return as_json(filled).encode()
        return (" ".join(filled.splitlines()) if self.persistent else filled).encode()

    def _start(self) -> Conversation:
        given = templates.values("", 0, self.root)
        argv = [str(item) for item in templates.fill(self.argv, given)]
        environment = templates.fill(self.environment, given)
        self.process = Conversation(argv, cwd=self.root, environment=environment)
        return self.process

    def close(self) -> None:
        if self.process is not None:
            self.process.end()
