"""Changelog by fragments: one small file per change, collected at release.

A fragment is ``changelog.d/NAME.KIND.md``, where KIND is one of added, changed, fixed, removed,
and its text says what the change means for users. ``draft`` prints what the next release would
say; ``release VERSION`` moves it into CHANGELOG.md, removes the fragments and sets the version of
the package and of CITATION.cff; ``check`` complains about files that are no fragments.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
KINDS = {"added": "Added", "changed": "Changed", "fixed": "Fixed", "removed": "Removed"}
MARK = "<!-- releases -->\n"


def fragments(root: Path) -> list[Path]:
    """All files of changelog.d, its own README aside."""
    return sorted(p for p in (root / "changelog.d").glob("*") if p.name != "README.md")


def kind_of(path: Path) -> str | None:
    """The KIND in NAME.KIND.md, or None where the name has another form."""
    match = re.fullmatch(r"[\w+-]+\.(\w+)\.md", path.name)
    return match.group(1) if match and match.group(1) in KINDS else None


def problems(root: Path) -> list[str]:
    """What is wrong with the fragments, one line each."""
    found = []
    for path in fragments(root):
        if kind_of(path) is None:
            found.append(f"{path.name}: not NAME.KIND.md with KIND one of {', '.join(KINDS)}")
        elif not path.read_text(encoding="utf-8").strip():
            found.append(f"{path.name}: empty")
    return found


def section(root: Path, title: str) -> str:
    """The text of one release."""
    lines = [f"## {title}", ""]
    for kind, heading in KINDS.items():
        texts = [
            path.read_text(encoding="utf-8").strip()
            for path in fragments(root)
            if kind_of(path) == kind
        ]
        if texts:
            lines += [f"### {heading}", ""]
            lines += ["- " + text.replace("\n", "\n  ") for text in texts]
            lines.append("")
    return "\n".join(lines)


def hindrances(root: Path, version: str) -> list[str]:
    """Why a version cannot be released, one line each."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", version):
        return [f"{version} is not a version such as 0.2.0 or 0.2.0rc1"]
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if MARK not in text:
        return [f"CHANGELOG.md has no line {MARK.strip()!r}"]
    released = re.findall(r"^## (\S+)", text, re.MULTILINE)
    if version in released:
        return [f"CHANGELOG.md has {version} already"]
    if released:
        return []
    # Readers of the first release never saw what changed.
    late = [f"{p.name}: not added" for p in fragments(root) if kind_of(p) != "added"]
    if late:
        late.append("Hint: nothing was released before; tell what is of use in an added one")
    return late


def replace_line(path: Path, pattern: str, line: str) -> None:
    """Put a line, or several, in the place of the one line that matches a pattern."""
    text, n = re.subn(pattern, line, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if n != 1:
        sys.exit(f"{path.name} has {n} lines like {pattern}, not one")
    path.write_text(text, encoding="utf-8")


def release(root: Path, version: str, date: dt.date) -> None:
    """Write the section into CHANGELOG.md, remove the fragments, and set the version."""
    found = hindrances(root, version)
    if found:
        sys.exit("\n".join(found))
    replace_line(
        root / "src" / "purecover" / "__init__.py",
        r'^__version__ = ".*"$',
        f'__version__ = "{version}"',
    )
    replace_line(
        root / "CITATION.cff",
        r"^version: .*(\ndate-released: .*)?$",
        f"version: {version}\ndate-released: {date.isoformat()}",
    )
    changelog = root / "CHANGELOG.md"
    before, mark, after = changelog.read_text(encoding="utf-8").partition(MARK)
    text = section(root, f"{version} ({date.isoformat()})")
    changelog.write_text(f"{before}{mark}\n{text}{after}", encoding="utf-8")
    for path in fragments(root):
        path.unlink()


def main(arguments: list[str] | None = None, root: Path = ROOT) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Changelog by fragments.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("draft", help="print what the next release would say")
    commands.add_parser("check", help="complain about malformed fragments")
    commands.add_parser("release", help="write it to CHANGELOG.md").add_argument("version")
    options = parser.parse_args(arguments)
    bad = problems(root)
    if bad:
        sys.exit("\n".join(bad))
    if options.command == "draft":
        print(section(root, "Unreleased"))
    elif options.command == "release":
        release(root, options.version, dt.datetime.now(dt.UTC).date())


if __name__ == "__main__":
    main()
