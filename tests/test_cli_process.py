"""The command line as the shell sees it: a process, its streams and its exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import purecover

EXAMPLE = str(Path(purecover.__file__).parent / "data" / "example_scores.csv")
SOURCE = str(Path(purecover.__file__).parents[1])
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of Unix")


def start(*argv: str, **options: object) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": SOURCE, "PYTHONIOENCODING": "utf-8"}
    return subprocess.Popen(
        [sys.executable, "-m", "purecover", *argv],
        stdin=options.get("stdin", subprocess.PIPE),
        stdout=options.get("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        env=environment,
    )  # type: ignore[call-overload]


def run(*argv: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    process = start(*argv)
    out, err = process.communicate(stdin, timeout=120)
    return process.returncode, out, err


@pytest.mark.slow
def test_names_the_terminal_cannot_show_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "größe.csv"
    path.write_text("größe,labeled\n1,1\n", encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": SOURCE, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "purecover", "evaluate", str(path), "--alpha", ".1"],
        capture_output=True,
        env=environment,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2
    assert b"gr\\xf6\\xdfe" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
@POSIX
def test_ctrl_c_while_reading_is_130() -> None:
    process = start("evaluate", "-", "--alpha", "0.25")
    assert process.stdin is not None
    process.stdin.write(b"score,labeled\n" + b"0.5,1\n" * 100_000)
    process.stdin.flush()  # more than a pipe holds: whoever took it has begun to read
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err


@POSIX
def test_a_reader_that_leaves_early_is_no_traceback(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 2},{'x' * 100}\n" for i in range(6_000))
    (tmp_path / "long.csv").write_text(f"score,labeled,note\n{rows}", encoding="ascii")
    process = start(
        "audit",
        "sample",
        str(tmp_path / "long.csv"),
        "--n",
        "3000",
        "--design",
        "random",
        "--quiet",
    )
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, b"")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_is_a_message() -> None:
    with Path("/dev/full").open("wb") as full:
        process = start("threshold", EXAMPLE, "--alpha", "0.4", "--best", "f1", stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err.startswith(b"purecover: error: No space left on device")
    assert b"Exception ignored" not in err


WORKERS = """if True:
    import os, signal, subprocess, sys, time
    from purecover._progress import starting_workers
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started us ignores
    sleep = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
    try:
        with starting_workers(2):
            worker = subprocess.Popen(sleep, stdout=subprocess.PIPE)
            worker.stdout.readline()
            {inside}
            assert worker.poll() is None
        {outside}
    except KeyboardInterrupt:
        print("heard", worker.poll(), flush=True)
        worker.kill()
"""
CTRL_C = "os.killpg(0, signal.SIGINT); time.sleep(0.2)"


@POSIX
@pytest.mark.parametrize("moment", ["inside", "outside"])
def test_workers_leave_ctrl_c_to_the_process_that_starts_them(moment: str) -> None:
    script = WORKERS.format(**({"inside": "pass", "outside": "pass"} | {moment: CTRL_C}))
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True, text=True, timeout=60, check=False, start_new_session=True,
    )  # fmt: skip
    assert done.stdout.split() == ["heard", "None"], done.stderr


COMMANDS = [
    ("--help",),
    ("example", "--out", "made.csv"),
    ("evaluate", "data.csv", "--alpha", "0.4", "--resamples", "0", "--html", "page.html"),
    ("evaluate", "data.csv", "--by", "fold", "--alpha", "0.4", "--resamples", "0"),
    ("evaluate-many", "data.csv", "--by", "fold", "--alpha", "0.4", "--resamples", "5",
     "--jobs", "2"),
    ("threshold", "data.csv", "--alpha", "0.4", "--precision", "0.6", "--resamples", "0"),
    ("priors", "data.csv", "--estimators", "bbe", "--resamples", "0"),
    ("monitor", "state.json", "data.csv", "--alpha", "0.4"),
    ("evidence", "data.csv", "--alpha", "0.4", "--resamples", "5"),
    ("error-rates", "data.csv", "--labeled", "truth", "--negative-label", "0", "--resamples", "5"),
    ("audit", "plan", "--width", "0.1"),
    ("audit", "sample", "data.csv", "--n", "5", "--out", "audit.csv"),
]  # fmt: skip
STANDARD = ("shlex", "csv", "tempfile", "queue", "json", "shutil", "gzip", "glob", "textwrap")


@pytest.fixture
def beside_modules(tmp_path: Path) -> Path:
    """A folder of data, in which files are called like modules of Python."""
    lines = Path(EXAMPLE).read_text(encoding="ascii").splitlines()
    rows = [f"{line},{i % 2}" for i, line in enumerate(lines[1:])]
    (tmp_path / "data.csv").write_text("\n".join([f"{lines[0]},fold", *rows, ""]), encoding="ascii")
    for module in STANDARD:
        bad = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\n"
        (tmp_path / f"{module}.py").write_text(bad, encoding="ascii")
    return tmp_path


@pytest.mark.parametrize(
    "argv",
    [  # the one that starts workers, and others in the slow stage
        pytest.param(argv, marks=[] if "--jobs" in argv else [pytest.mark.slow])
        for argv in COMMANDS
    ],
    ids=" ".join,
)
def test_no_module_beside_the_data_is_run(beside_modules: Path, argv: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "purecover", *argv],
        cwd=beside_modules,
        env=os.environ | {"PYTHONPATH": SOURCE},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert list(beside_modules.glob("*.ran")) == []
    assert done.returncode == 0, done.stderr


def test_no_module_beside_the_data_is_run_by_the_app(beside_modules: Path) -> None:
    from purecover.cli.serve import WORKER

    done = subprocess.run(
        [*WORKER, str(beside_modules / "root"), str(10**9), "report"],
        cwd=beside_modules,
        env=os.environ | {"PYTHONPATH": SOURCE},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert list(beside_modules.glob("*.ran")) == []
    assert done.returncode == 0


def test_no_module_beside_the_data_is_run_by_a_script(beside_modules: Path) -> None:
    scripts = beside_modules / "scripts"
    scripts.mkdir()
    (scripts / "many.py").write_text(
        "import numpy, purecover\n"
        "rows = numpy.loadtxt('data.csv', delimiter=',', skiprows=1)\n"
        "if __name__ == '__main__':\n"
        "    purecover.evaluate_many({'s': rows[:, 0], 'y': rows[:, 1], 'f': rows[:, 3]}, 'y',\n"
        "        score='s', by='f', alpha=0.4, n_resamples=5, n_jobs=2)\n",
        encoding="ascii",
    )
    done = subprocess.run(
        [sys.executable, "scripts/many.py"],
        cwd=beside_modules,
        env=os.environ | {"PYTHONPATH": SOURCE},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert list(beside_modules.glob("*.ran")) == []
    assert done.returncode == 0, done.stderr
