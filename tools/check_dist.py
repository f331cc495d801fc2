"""Check the wheel and the source archive: contents, metadata, and that one makes the other.

What belongs into them is not listed here but read from the source tree, so that a new file is
either shipped or named. Needs nothing but hatchling, and no network.
"""

from __future__ import annotations

import base64
import csv
import email.message
import email.parser
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools.package_page import package_page  # noqa: E402 - not installed

# Kinds of files the package reads; any other is a stray.
KINDS = {
    ".py",
    ".pyi",
    ".typed",
    ".js",
    ".css",
    ".j2",
    ".json",
    ".csv",
    ".npz",
    ".toml",
    ".md",
    ".txt",
}
# The chart library of the report page is the largest file; room for half as much again.
LARGEST_WHEEL, LARGEST_SDIST = 1_500_000, 6_000_000
# Settings of tools that only a clone has a use for.
ONLY_IN_CLONES = {".editorconfig", ".pre-commit-config.yaml"}
ADDED_TO_SDIST = {"PKG-INFO"}


def source_files(root: Path) -> set[str]:
    """The files of the repository, ignored ones aside; without git, all but caches."""
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],  # noqa: S607
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        found = {name for name in done.stdout.split("\0") if name}
    else:
        found = {p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()}
    return {
        name
        for name in found
        if (root / name).is_file() and "__pycache__" not in name and not name.endswith(".pyc")
    }


def read_wheel(path: Path) -> dict[str, bytes]:
    """The files of a wheel."""
    with zipfile.ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}


def read_sdist(path: Path) -> dict[str, bytes]:
    """The files of a source archive, without its leading folder."""
    with tarfile.open(path) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        return {
            member.name.partition("/")[2]: file.read()
            for member in members
            if (file := archive.extractfile(member)) is not None
        }


def compare_files(
    found: Mapping[str, bytes], wanted: Mapping[str, bytes], title: str
) -> Iterable[str]:
    """One line for each file that is missing, one too many, or different."""
    yield from (f"{title} lacks {name}" for name in sorted(wanted.keys() - found.keys()))
    yield from (f"{title} holds {name}" for name in sorted(found.keys() - wanted.keys()))
    yield from (
        f"{title} has another {name}"
        for name in sorted(found.keys() & wanted.keys())
        if found[name] != wanted[name]
    )


def compare_values(
    found: email.message.Message, wanted: Mapping[str, Iterable[str]]
) -> Iterable[str]:
    """One line for each field of the metadata that says something else than the project."""
    for field, values in wanted.items():
        said, expected = sorted(found.get_all(field, [])), sorted(values)
        if said != expected:
            yield f"METADATA says {field}: {said}, the project {expected}"


def requirement(text: str) -> str:
    """A requirement without blanks, its parts in order: two spellings of one compare equal."""
    name, _, marker = text.replace(" ", "").replace("'", '"').partition(";")
    head = re.match(r"[\w.-]+(\[[\w,.-]+\])?", name)
    if head is None:
        raise ValueError(f"{text!r} is no requirement")
    bounds = ",".join(sorted(name[head.end() :].split(",")))
    extras = ",".join(sorted((head.group(1) or "[]")[1:-1].split(",")))
    base = name[: head.start(1)] if head.group(1) else head.group()
    return f"{base.lower()}[{extras}]{bounds};{marker}"


def resolved(extra: str, extras: Mapping[str, list[str]]) -> Iterable[str]:
    """The requirements of an extra; the package itself stands for the extras it is named with."""
    for text in extras[extra]:
        own = re.fullmatch(r"purecover\[([\w,]+)\]", text)
        if own is None:
            yield text
        else:
            for other in own.group(1).split(","):
                yield from resolved(other, extras)


def check_metadata(wheel: Mapping[str, bytes], project: Mapping[str, Any]) -> Iterable[str]:
    """What is wrong with METADATA, WHEEL, RECORD and the entry points."""
    version = re.search(
        r'^__version__ = "([^"]+)"$', wheel["purecover/__init__.py"].decode(), re.MULTILINE
    )
    if version is None:
        yield "purecover/__init__.py has no __version__"
        return
    info = f"purecover-{version.group(1)}.dist-info"
    if f"{info}/METADATA" not in wheel:
        yield f"the wheel has no {info}/METADATA: its version is another"
        return
    metadata = email.parser.Parser().parsestr(wheel[f"{info}/METADATA"].decode())
    extras = project["optional-dependencies"]
    yield from compare_values(
        metadata,
        {
            "Name": [project["name"]],
            "Version": [version.group(1)],
            "Summary": [project["description"]],
            "Requires-Python": [project["requires-python"]],
            "License-Expression": [project["license"]],
            "License-File": project["license-files"],
            "Classifier": project["classifiers"],
            "Provides-Extra": extras,
            "Description-Content-Type": ["text/markdown"],
        },
    )
    wanted = {requirement(text) for text in project["dependencies"]} | {
        requirement(f'{text}; extra == "{extra}"')
        for extra in extras
        for text in resolved(extra, extras)
    }
    said = {requirement(text) for text in metadata.get_all("Requires-Dist", [])}
    yield from (f"METADATA does not require {text}" for text in sorted(wanted - said))
    yield from (f"METADATA requires {text}" for text in sorted(said - wanted))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    if metadata.get_payload() != package_page(readme, project["urls"].get("Source")):
        yield "the description is not README.md as tools/package_page.py makes it"
    for name in project["license-files"]:
        if wheel.get(f"{info}/licenses/{name}") != (ROOT / name).read_bytes():
            yield f"the wheel lacks the license {name}"
    for script, place in project["scripts"].items():
        if f"{script} = {place}" not in wheel[f"{info}/entry_points.txt"].decode():
            yield f"the wheel has no program {script}"
    if "Tag: py3-none-any" not in wheel[f"{info}/WHEEL"].decode():
        yield "the wheel is not for every machine (py3-none-any)"
    for name, digest, _ in csv.reader(wheel[f"{info}/RECORD"].decode().splitlines()):
        found = base64.urlsafe_b64encode(hashlib.sha256(wheel.get(name, b"")).digest())
        if digest and digest != f"sha256={found.decode().rstrip('=')}":
            yield f"RECORD has another hash of {name}"


def without_info(wheel: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of the package itself."""
    return {name: data for name, data in wheel.items() if ".dist-info/" not in name}


def check_wheel(wheel: Mapping[str, bytes], root: Path) -> Iterable[str]:
    """What is wrong with the files of the package in a wheel."""
    wanted = {
        name.removeprefix("src/"): (root / name).read_bytes()
        for name in source_files(root)
        if name.startswith("src/purecover/")
    }
    yield from compare_files(without_info(wheel), wanted, "the wheel")
    yield from (
        f"{name} is of a kind the package does not use"
        for name in sorted(wanted)
        if Path(name).suffix not in KINDS
    )


def check_sdist(sdist: Mapping[str, bytes], root: Path) -> Iterable[str]:
    """What is wrong with the files of a source archive."""
    wanted = {
        name: (root / name).read_bytes()
        for name in source_files(root)
        if name not in ONLY_IN_CLONES
    }
    found = {name: data for name, data in sdist.items() if name not in ADDED_TO_SDIST}
    yield from compare_files(found, wanted, "the source archive")


def rebuild(sdist: Path, folder: Path) -> dict[str, bytes]:
    """The files of the wheel that pip makes of a source archive, where there is no git."""
    subprocess.run(
        [
            sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check",
            "--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir",
            "--wheel-dir", folder, sdist.resolve(),
        ],
        check=True,
        cwd=folder,
        env=os.environ | {"PATH": str(Path(sys.executable).parent), "PYTHONPATH": ""},
    )  # fmt: skip
    return read_wheel(next(folder.glob("*.whl")))


def newest(folder: Path, pattern: str) -> Path:
    """The newest archive of a folder."""
    archives = sorted(folder.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not archives:
        sys.exit(f"no {pattern} in {folder}\nHint: make dist")
    return archives[-1]


def main() -> None:
    """Check the newest wheel and source archive of a folder."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    wheel_path, sdist_path = newest(folder, "*.whl"), newest(folder, "*.tar.gz")
    wheel, sdist = read_wheel(wheel_path), read_sdist(sdist_path)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    problems = [
        *check_wheel(wheel, ROOT),
        *check_metadata(wheel, project),
        *check_sdist(sdist, ROOT),
    ]
    for path, bound in ((wheel_path, LARGEST_WHEEL), (sdist_path, LARGEST_SDIST)):
        if path.stat().st_size > bound:
            problems.append(f"{path.name} has {path.stat().st_size:,} bytes, more than {bound:,}")
    with tempfile.TemporaryDirectory() as temporary:
        again = rebuild(sdist_path, Path(temporary))
    problems += compare_files(again, wheel, "the wheel made of the source archive")
    if problems:
        sys.exit("\n".join(problems))
    for path, files in ((wheel_path, wheel), (sdist_path, sdist)):
        print(f"{path.name}: {len(files)} files, {path.stat().st_size / 1e6:.2f} MB, as it should")


if __name__ == "__main__":
    main()
