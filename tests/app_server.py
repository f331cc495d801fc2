"""A server of the local page for tests: in this process, or as the command starts it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

import purecover
from purecover.app.jobs import Settings
from purecover.app.server import Site
from purecover.cli.serve import WORKER

EXAMPLE = Path(purecover.__file__).parent / "data" / "example_scores.csv"
ADDRESS = "http://127.0.0.1:8765"
TOKEN = "a-secret-of-the-tests"  # noqa: S105
COLUMNS = {"score": ["score"], "labeled": "labeled"}

# A worker that obeys: the name of the file says what to do with it.
OBEDIENT = """
import json, os, sys, time
print(json.dumps({"type": "Step", "step": "ready"}), flush=True)
for line in sys.stdin:
    task = json.loads(line)
    if task["type"] == "Look":
        with open(os.path.join(task["folder"], task["file"]), "rb") as file:
            file.read(1)
        say = {"type": "Looked", "columns": [], "rows": [], "guess": {}}
    elif task["file"] == "slow.csv":
        print(json.dumps({"type": "Step", "step": "Reading", "done": 1, "total": 4}), flush=True)
        time.sleep(600)
    elif task["file"] == "crash.csv":
        os._exit(3)
    elif task["file"] == "babble.csv":
        say = "babble"
    else:
        for name in ("report.html", "report.json"):
            with open(os.path.join(task["folder"], name), "w") as file:
                file.write("{}")
        say = {"type": "Evaluated", "notes": [str(os.getpid())]}
    print(json.dumps(say), flush=True)
"""


@contextmanager
def running(*, obedient: bool = False, **settings: Any) -> Iterator[tuple[TestClient, Site]]:
    """A client that knows the token, and the site it talks to."""
    worker = (sys.executable, "-c", OBEDIENT) if obedient else WORKER
    site = Site(Settings(**{"worker": worker, "token": TOKEN, "workers": 1} | settings))
    with TestClient(site, base_url=ADDRESS, raise_server_exceptions=True) as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        yield client, site
    assert not site.api.store.root.exists()


def folders(site: Site) -> set[str]:
    """Folders of the files that the site holds."""
    return {path.name for path in site.api.store.root.iterdir() if path.is_dir()}


def send(client: Any, content: bytes, name: str = "scores.csv") -> Any:
    """Upload a file."""
    return client.post("/api/files", params={"name": name}, content=content)


def start(client: Any, file: str, **fields: Any) -> str:
    """Start a report and return its name."""
    answer = client.post("/api/jobs", json={"file": file} | COLUMNS | fields)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["job"])


def wait_for(client: Any, job: str, *states: str, seconds: float = 120) -> dict[str, Any]:
    """Ask until a report is in one of the states; by default until it has ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        about = client.get(f"/api/jobs/{job}").json()
        if about["state"] in (states or ("done", "failed")):
            return dict(about)
        time.sleep(0.02)
    raise TimeoutError(json.dumps(about))


@contextmanager
def command(
    *options: str, browser: str = "--no-browser"
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """``purecover app`` itself, and the address it prints; killed at the end if need be."""
    process = subprocess.Popen(
        [sys.executable, "-m", "purecover", "app", browser, "--quiet", *options],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        yield process, process.stderr.readline().strip()
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        process.stderr.close()
