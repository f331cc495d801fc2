"""Firefox without a driver: it speaks WebDriver BiDi itself, over a socket on this machine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PATIENCE = 60


def firefox_program() -> str | None:
    """The Firefox of this machine, Debian's long-term one first."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """One tab of a headless Firefox with a profile of its own."""

    def __init__(self, program: str, profile: Path) -> None:
        profile.mkdir()
        self.complaints: list[str] = []
        self._log = profile.with_suffix(".log")
        self._sent = 0
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [program, "--headless", "--no-remote", "--profile", str(profile),
                 "--remote-debugging-port", "0", "about:blank"],
                stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            self._connect()
        except BaseException:
            self._stop()
            raise

    def _connect(self) -> None:
        import websocket

        # An origin would be refused.
        self._socket = websocket.create_connection(
            f"{self._address()}/session", timeout=PATIENCE, suppress_origin=True
        )
        self._call("session.new", capabilities={})
        self._call("session.subscribe", events=["log.entryAdded"])
        tree = self._call("browsingContext.getTree")
        self._tab = tree["contexts"][0]["context"]

    def _address(self) -> str:
        for _ in range(10 * PATIENCE):
            found = re.search(r"ws://[\w.:]+", self._log.read_text(errors="replace"))
            if found:
                return found[0]
            time.sleep(0.1)
        raise TimeoutError(self._log.read_text(errors="replace"))

    def _call(self, method: str, **params: Any) -> Any:
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("method") == "log.entryAdded":
                self.complaints.append(answer["params"]["text"])
            elif answer.get("id") == self._sent:
                if answer["type"] != "success":
                    raise RuntimeError(answer["message"])
                return answer["result"]

    def open(self, address: str) -> None:
        """Go there, and wait until the page has loaded."""
        self._call("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression; awaited if it is a promise."""
        result = self._call(
            "script.evaluate",
            expression=expression,
            target={"context": self._tab},
            awaitPromise=True,
        )
        if result["type"] == "exception":
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def _stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()
        self._stop()
