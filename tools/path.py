"""The path of one `evaluate`: the functions of purecover it runs, as a tree.

A function is what is defined in a module or in a class, properties and dataclass hooks included.
What stands inside another function (a comprehension, a lambda, a closure) is read with it and not
counted, nor is the wrapper of `public`, which only names errors.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import purecover
from purecover import evaluate, simulate

PACKAGE = Path(purecover.__file__).parent


@dataclass
class Trace:
    """What was called: how often, and the first call of each as a line of a tree."""

    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)

    @property
    def files(self) -> set[str]:
        """Files with a function that ran."""
        return {file for file, _ in self.calls}


def trace(call: Callable[[], Any]) -> Trace:
    """Run something and note the functions of purecover on its way."""
    found = Trace()
    counted: dict[Any, tuple[str, str] | None] = {}
    open_frames: list[FrameType] = []

    def look(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code not in counted:
            path = Path(code.co_filename)
            name = code.co_qualname
            ours = path.is_relative_to(PACKAGE) and "<" not in name
            counted[code] = (path.relative_to(PACKAGE).as_posix(), name) if ours else None
        which = counted[code]
        if which is None:
            return
        if event == "call":
            found.calls[which] += 1
            if found.calls[which] == 1:
                found.lines.append(f"{'  ' * len(open_frames)}{which[1]} ({which[0]})")
            open_frames.append(frame)
        elif event == "return":
            open_frames.pop()

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def trace_evaluate(look: Callable[[Any], Any] = id) -> Trace:
    """The path with alpha known and no bootstrap, and of what looks at the report."""
    sample = simulate.binormal(1.5).sample(500, 5000, alpha=0.25, random_state=0)

    def call() -> None:
        look(evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0))

    call()  # modules that are imported on the way do not belong to it
    return trace(call)


def main() -> None:
    found, printed = trace_evaluate(), trace_evaluate(str)
    encoded = found.calls["_inputs.py", "encode_labels"]
    print("\n".join(found.lines))
    print(f"\n{len(found.calls)} functions in {len(found.files)} files; labels encoded: {encoded}")
    print(f"The same, with the report printed: {len(printed.calls)} in {len(printed.files)} files")


if __name__ == "__main__":
    main()
