"""A page in headless Chromium, driven through the DevTools protocol over a pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "needs Chromium (the Debian package chromium)"

_FLAGS = """
--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-extensions
--disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage
--remote-debugging-pipe --window-size=1280,900
""".split()


class Browser:
    """One Chromium with one page at a time; what its console says is kept."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="chromium-")
        out_child, self._out = os.pipe()
        self._in, in_child = os.pipe()
        # Chromium reads its orders from descriptor 3 and answers on 4.
        words = [str(CHROMIUM), *_FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        shell = f'exec "$@" 3<&{out_child} 4>&{in_child}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *words],
            pass_fds=(out_child, in_child),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(out_child)
        os.close(in_child)
        self._number = 0
        self._rest = b""
        self._session = ""
        self.said: list[str] = []
        self.requested: list[str] = []
        self._loaded = False

    def __enter__(self) -> Self:
        targets = self._send("Target.getTargets")["targetInfos"]
        (page,) = (one["targetId"] for one in targets if one["type"] == "page")
        attached = self._send("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self._send(f"{domain}.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._send("Browser.close")
        self._process.wait(20)
        os.close(self._out)
        os.close(self._in)
        self._profile.cleanup()

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a file and wait until it is loaded."""
        self.said.clear()
        self.requested.clear()
        self._loaded = False
        self._send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._send("Emulation.setEmulatedMedia", features=[scheme])
        self._send("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + 20
        while not self._loaded:
            self._note(self._receive(deadline))

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        done = self._send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press a key and let it go."""
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        self._send("Input.dispatchKeyEvent", **common, **down)
        self._send("Input.dispatchKeyEvent", **common, type="keyUp")

    def names(self, role: str) -> list[str]:
        """Return what a screen reader calls everything of a role."""
        nodes = self._send("Accessibility.getFullAXTree")["nodes"]
        return [
            str(node["name"]["value"])
            for node in nodes
            if not node.get("ignored") and node.get("role", {}).get("value") == role
        ]

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Write a screenshot as PNG."""
        done = self._send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(done["data"]))

    def pdf(self) -> bytes:
        """Return the page as it prints."""
        return base64.b64decode(self._send("Page.printToPDF", printBackground=False)["data"])

    def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        order = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            order["sessionId"] = self._session
        os.write(self._out, json.dumps(order).encode() + b"\0")
        deadline = time.monotonic() + 30
        while True:
            message = self._receive(deadline)
            if message.get("id") == self._number:
                assert "error" not in message, message["error"]
                result: dict[str, Any] = message["result"]
                return result
            self._note(message)

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "Chromium does not answer"
            part = os.read(self._in, 1 << 16)
            assert part, "Chromium has ended"
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requested.append(str(parameters["request"]["url"]))
        elif method == "Log.entryAdded":
            self.said.append(str(parameters["entry"]["text"]))
        elif method == "Runtime.exceptionThrown":
            self.said.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.said.append(str(parameters["args"]))
