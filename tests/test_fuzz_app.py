"""The local page's interface against requests made up from its own description."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("schemathesis")
pytest.importorskip("uvicorn")

from tests.app_server import command

EXAMPLES = 200 if os.environ.get("HYPOTHESIS_PROFILE") == "fuzz" else 15

# Bytes that are no table are refused with 422, which no schema of bytes can say.
CONFIGURATION = """
[[operations]]
include-path = "/api/files"
checks = { positive_data_acceptance = { enabled = false } }
[[operations]]
include-path = "/api/files/{file}"
include-method = "GET"
parameters = { file = "FILE" }
[[operations]]
include-path = "/api/jobs/{job}/report.html"
parameters = { job = "JOB" }
[[operations]]
include-path = "/api/jobs/{job}/report.json"
parameters = { job = "JOB" }
"""
# A file that is there, so that the requests get as far as the work.
HOOKS = """
import schemathesis
@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict) and isinstance(body.get("file"), str) and len(body["file"]) == 32:
        body["file"] = "FILE"
    return body
"""


@pytest.mark.slow
def test_fuzz_of_the_interface(tmp_path: Path) -> None:
    with command("--max-upload", "100kB", "--timeout", "30") as (process, address):
        base, _, token = address.partition("/#token=")

        def ask(path: str, body: object = None, method: str = "POST") -> dict[str, str]:
            request = urllib.request.Request(  # noqa: S310 - our own server
                f"{base}{path}",
                method=method,
                data=None if body is None else json.dumps(body).encode(),
                headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request) as answer:  # noqa: S310
                return dict(json.load(answer))

        file = ask("/api/example")["file"]
        asked = {"file": file, "score": ["score"], "labeled": "labeled", "resamples": 0}
        job = ask("/api/jobs", asked)["job"]
        for name, text in {"schemathesis.toml": CONFIGURATION, "made_up.py": HOOKS}.items():
            (tmp_path / name).write_text(text.replace("FILE", file).replace("JOB", job))
        done = subprocess.run(
            [
                sys.executable, "-m", "schemathesis.cli", "--config-file=schemathesis.toml", "run",
                f"{base}/api/openapi.json", f"--header=Authorization: Bearer {token}",
                f"--max-examples={EXAMPLES}", "--seed=1", "--no-color",
            ],
            cwd=tmp_path,
            env=os.environ | {"SCHEMATHESIS_HOOKS": "made_up", "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
        generated = re.search(r"(\d+) generated", done.stdout)
        assert generated is not None
        assert int(generated[1]) > 300
        # It still works, for a new file too: the old ones had to make room.
        assert process.poll() is None
        job = ask("/api/jobs", asked | {"file": ask("/api/example")["file"]})["job"]
        until = time.monotonic() + 120
        while (state := ask(f"/api/jobs/{job}", method="GET")["state"]) != "done":
            assert state in ("waiting", "running")
            assert time.monotonic() < until
            time.sleep(0.2)
