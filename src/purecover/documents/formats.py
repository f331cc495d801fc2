"""Numbers, shares, intervals and names as a person reads them."""

from __future__ import annotations

import math
import platform
import sys
import unicodedata
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeGuard

from purecover.intervals.interval import TOO_WIDE

if TYPE_CHECKING:
    from purecover.intervals.interval import Interval

UNDEFINED = "undefined"

_CONTROLS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))
_TURNING = _CONTROLS | {"R", "AL", "AN"}
"""Classes of characters that change the direction of text, their own and that around them."""


def number(value: float, digits: int = 4) -> str:
    """Write a number for a table."""
    return f"{value:.{digits}f}" if math.isfinite(value) else UNDEFINED


def signed(value: float) -> str:
    """Write a difference for a table."""
    return with_minus(f"{value:+.3f}") if math.isfinite(value) else UNDEFINED


def with_minus(text: str) -> str:
    """Replace hyphens by minus signs."""
    return text.replace("-", "−")


def bounded(interval: Interval | None) -> TypeGuard[Interval]:
    """Whether there is an interval with two finite ends."""
    return interval is not None and math.isfinite(interval.low) and math.isfinite(interval.high)


def ends(interval: Interval | None) -> str:
    """Write the ends of an interval for a table; empty if there is none."""
    if interval is None:
        return ""
    if math.isnan(interval.low):
        return UNDEFINED
    return f"[{interval.low:.4f}, {interval.high:.4f}]".replace("inf", "∞")


WIDE = 0.1
"""Width of intervals from which on two decimals are shown."""


def precise(value: float, interval: Interval | None) -> str:
    """Write a value with as many decimals as its interval allows."""
    return number(value, 2 if bounded(interval) and interval.width > WIDE else 3)


DASH = f"A dash: the interval is wider than {TOO_WIDE:g}."
"""The meaning of a dash in place of a metric that is hardly known."""


def from_to(interval: Interval | None) -> str:
    """Write both ends of an interval as ``0.77 to 0.96``; empty if there are none."""
    if not bounded(interval):
        return ""
    digits = 2 if interval.width > WIDE else 3
    return f"{interval.low:.{digits}f} to {interval.high:.{digits}f}"


def shares_within(value: float, interval: Interval | None) -> tuple[str, str]:
    """Write a share and its interval as percentages: ``35 %`` and ``5 to 50 %``, or no interval."""
    if not bounded(interval):
        return share(value), ""
    width = max(interval.width, 1e-9)
    digits = min(max(math.ceil(-1 - math.log10(width)), 0), 6)
    if value > 0:  # of a small share, one digit at least
        digits = max(digits, math.ceil(-2 - math.log10(value)))
    low, high = (_rounded(100 * end, digits) for end in (interval.low, interval.high))
    return f"{_rounded(100 * value, digits)} %", f"{low} to {high} %"


def number_of(n: int, thing: str) -> str:
    """Write a count with its noun in singular or plural."""
    return f"{n:,} {thing}" + ("" if n == 1 else "s")


def percent(value: float) -> str:
    """Write a confidence level as a percentage."""
    return f"{100 * value:g} %"


def share(value: float) -> str:
    """Write a share as a percentage: 23.2 %, 1.01 %, 0.75 %."""
    digits = 1 if value >= 0.1 else 2
    if 0 < value < 0.01:
        digits = min(-1 - math.floor(math.log10(value)), 10)
    return f"{_rounded(100 * value, digits)} %"


def _rounded(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def between(pair: tuple[float, float]) -> str:
    """Write bounds with enough digits to distinguish them, rounded outwards."""
    low, high = pair
    digits = min(max(1 - math.floor(math.log10(max(high - low, 1e-9))), 4), 9)
    scale = 10**digits
    low, high = math.floor(low * scale) / scale, math.ceil(high * scale) / scale
    return f"{low:.{digits}f} to {high:.{digits}f}"


def capitalized(text: str) -> str:
    """Capitalize the first letter and leave the others as they are."""
    return text[:1].upper() + text[1:]


def cut(text: str, longest: int) -> str:
    """Shorten a text to a length, with an ellipsis if it was longer."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def listed(names: str | Sequence[str] | None, longest: int) -> str:
    """Join one name or several with commas, shortened to a length."""
    several = [names] if isinstance(names, str) else names or ()
    return cut(", ".join(several), longest)


def shortened(name: str, longest: int) -> str:
    """Shorten a name, and isolate it if it would turn the direction of the text around it."""
    short = cut(name, longest)
    kinds = [unicodedata.bidirectional(letter) for letter in short]
    if _TURNING.isdisjoint(kinds):
        return short
    kept = (letter for letter, kind in zip(short, kinds, strict=True) if kind not in _CONTROLS)
    return f"\u2068{''.join(kept)}\u2069"


def versions() -> str:
    """Versions of the packages that computed a result."""
    others = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    # Not imported: the package's front stands above this layer, and is loaded already.
    own = sys.modules["purecover"].__version__
    return f"purecover {own}, Python {platform.python_version()}, {others}"
