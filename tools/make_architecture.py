"""Draw the layers of the package and what imports what, for the page on its architecture.

Run ``python tools/make_architecture.py``. Layers and imports are read by the test that keeps
imports pointing down, ``tests/test_architecture.py``, so that the drawing cannot say otherwise.
"""

from __future__ import annotations

import runpy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

ROOT = Path(__file__).parents[1]
TEST = ROOT / "tests" / "test_architecture.py"
FIGURE = ROOT / "docs" / "_static" / "architecture.svg"

WIDTH, LEFT, RIGHT = 772, 226, 762
ROW, BOX, GAP, BAND_GAP = 44, 26, 15, 6
LETTER = 7.4
SWEEPS = 40

STYLE = """\
text { font: 12.5px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1b2733; }
.band { fill: #f2f5f8; }
.layer { fill: #66727f; }
.box { fill: #ffffff; stroke: #2f6f9f; }
.plain { fill: #66727f; }
.arrow { fill: none; stroke: #2f6f9f; stroke-opacity: 0.65; stroke-width: 1.3; }
#head path { fill: #2f6f9f; }"""

HEAD = """\
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6"
 orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>"""

Graph = dict[str, set[str]]
Layers = Mapping[int, set[str]]

# What a layer is about, in a few words; the page says more.
WORDS = {
    9: "commands, public names",
    8: "reports, pages, services",
    7: "findings and figures",
    6: "estimators compared",
    5: "classifiers, audits",
    4: "alpha and beta",
    3: "how sure one may be",
    2: "recovered figures, worlds",
    1: "scores become counts",
    0: "messages, arguments",
}


@dataclass
class Node:
    """A unit in its row, or a place where an arrow passes a row."""

    name: str
    row: int
    layer: int
    is_unit: bool
    x: float = 0.0
    above: list[Node] = field(default_factory=list)
    below: list[Node] = field(default_factory=list)

    @property
    def width(self) -> float:
        """Room for the name, or for a line."""
        return LETTER * len(self.name) + (8 if self.plain else 18) if self.is_unit else 6.0

    @property
    def plain(self) -> bool:
        """Whether it serves everybody, and goes without a frame."""
        return self.layer == 0 or is_private(self.name)


def is_private(unit: str) -> bool:
    """Whether a name is for the package itself; ``__init__`` is not."""
    return unit.startswith("_") and not unit.startswith("__")


def imports_of(layers: Layers, imports: Sequence[Any]) -> Graph:
    """Which unit imports which, without those that serve everybody and what only types need."""
    graph: Graph = {
        unit: set()
        for layer, units in layers.items()
        for unit in units
        if not (layer == 0 or is_private(unit))
    }
    for item in imports:
        target = item.target_unit
        if item.typing_only or item.unit in (target, "__init__"):  # which names everything
            continue
        if target in graph and item.unit in graph:
            graph[item.unit].add(target)
    return graph


def without_detours(graph: Graph) -> Graph:
    """The arrows from which all others follow: none where a longer way leads there, too."""

    def reached(unit: str) -> set[str]:
        return graph[unit].union(*(reached(below) for below in graph[unit]))

    return {
        unit: {t for t in below if not any(t in reached(other) for other in below - {t})}
        for unit, below in graph.items()
    }


def rows_of(layers: Layers, graph: Graph) -> list[list[Node]]:
    """Units from the top; in a layer those that import siblings stand above them."""
    rows: list[list[Node]] = []
    for layer, units in sorted(layers.items(), reverse=True):
        drawn = units & set(graph)

        depths = {unit: depth_of(unit, drawn, graph) for unit in drawn}
        groups = [sorted(u for u in drawn if depths[u] == d) for d in sorted(set(depths.values()))]
        for group in [*groups, sorted(units - drawn)]:
            if group:
                rows.append([Node(unit, len(rows), layer, is_unit=True) for unit in group])
    return rows


def depth_of(unit: str, siblings: set[str], graph: Graph) -> int:
    """How many siblings stand above a unit, one above the other."""
    above = (other for other in siblings if unit in graph[other])
    return max((1 + depth_of(other, siblings, graph) for other in above), default=0)


def join(rows: list[list[Node]], graph: Graph) -> list[list[Node]]:
    """Chains of nodes from unit to unit, one in each row on the way."""
    units = {node.name: node for row in rows for node in row}
    chains = []
    for name in sorted(graph):
        for target in sorted(graph[name]):
            start, end = units[name], units[target]
            chain = [start]
            for row in range(start.row + 1, end.row):
                passing = Node(f"{name} to {target}", row, rows[row][0].layer, is_unit=False)
                rows[row].append(passing)
                chain.append(passing)
            chain.append(end)
            for upper, lower in pairwise(chain):
                upper.below.append(lower)
                lower.above.append(upper)
            chains.append(chain)
    return chains


def wish(node: Node, *, down: bool) -> float:
    """Where a node stands straight below, or above, those it is joined with."""
    others = node.above if down else node.below
    return mean(other.x for other in others) if others else node.x


def place(rows: list[list[Node]]) -> None:
    """Order each row and give it places, so that arrows are short and cross little."""
    middle = (LEFT + RIGHT) / 2
    for row in rows:
        spread(row, [middle] * len(row))
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            key = partial(wish, down=down)
            if sweep < SWEEPS // 2:
                row.sort(key=key)
            spread(row, [key(node) for node in row])


def spread(row: list[Node], wishes: list[float]) -> None:
    """Places near the wishes, in order, without overlap and within the margins."""
    for node, x in zip(row, wishes, strict=True):
        node.x = x
    room = [(a.width + b.width) / 2 + GAP for a, b in pairwise(row)]
    for _ in range(200):
        for (a, b), least in zip(pairwise(row), room, strict=True):
            lack = least - (b.x - a.x)
            if lack > 0:
                a.x -= lack / 2
                b.x += lack / 2
        row[0].x = max(row[0].x, LEFT + row[0].width / 2)
        row[-1].x = min(row[-1].x, RIGHT - row[-1].width / 2)


def draw(rows: list[list[Node]], chains: list[list[Node]]) -> str:
    """The picture, as text."""
    tops: list[float] = []
    y = 4.0
    for row, before in zip(rows, [None, *rows], strict=False):
        if before is not None and before[0].layer != row[0].layer:
            y += BAND_GAP
        tops.append(y)
        y += ROW
    height = y + 4
    middle = [top + ROW / 2 for top in tops]
    size = f'width="{WIDTH}" height="{height:.0f}"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" {size}>',
        "<title>The layers of purecover and what imports what</title>",
        f"<style>\n{STYLE}\n</style>",
        HEAD,
        f'<rect {size} fill="#ffffff"/>',
    ]
    for layer in sorted({row[0].layer for row in rows}, reverse=True):
        its = [i for i, row in enumerate(rows) if row[0].layer == layer]
        top, tall = tops[its[0]], tops[its[-1]] + ROW - tops[its[0]]
        place = f'x="4" y="{top:.1f}" width="{WIDTH - 8}" height="{tall:.1f}" rx="4"'
        out.append(f'<rect class="band" {place}/>')
        words = f"{layer} {WORDS[layer]}"
        out.append(f'<text class="layer" x="16" y="{top + tall / 2 + 4:.1f}">{words}</text>')
    out += [arrow(chain, middle) for chain in chains]
    for row, y in zip(rows, middle, strict=True):
        for node in row:
            if node.is_unit:
                out += box(node, y)
    return "\n".join([*out, "</svg>", ""])


def arrow(chain: list[Node], middle: list[float]) -> str:
    """A line from unit to unit that is upright wherever it passes a row."""
    x, y = chain[0].x, middle[chain[0].row] + BOX / 2
    parts = [f"M{x:.1f} {y:.1f}"]
    for node in chain[1:]:
        top = middle[node.row] - BOX / 2
        half = (y + top) / 2
        parts.append(f"C{x:.1f} {half:.1f} {node.x:.1f} {half:.1f} {node.x:.1f} {top:.1f}")
        x, y = node.x, top
        if node is not chain[-1]:
            y += BOX
            parts.append(f"V{y:.1f}")
    return f'<path class="arrow" marker-end="url(#head)" d="{"".join(parts)}"/>'


def box(node: Node, y: float) -> list[str]:
    """A unit with its name; private modules and the lowest layer go without a frame."""
    name = f'x="{node.x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{escape(node.name)}</text>'
    if node.plain:
        return [f'<text class="plain" {name}']
    left, top = node.x - node.width / 2, y - BOX / 2
    frame = f'x="{left:.1f}" y="{top:.1f}" width="{node.width:.1f}" height="{BOX}" rx="4"'
    return [f'<rect class="box" {frame}/>', f"<text {name}"]


def picture(layers: Layers, imports: Sequence[Any]) -> str:
    """The drawing of the package as it is."""
    graph = without_detours(imports_of(layers, imports))
    rows = rows_of(layers, graph)
    chains = join(rows, graph)
    place(rows)
    return draw(rows, chains)


if __name__ == "__main__":
    found = runpy.run_path(str(TEST))
    FIGURE.write_text(picture(found["LAYERS"], found["all_imports"]()), encoding="utf-8")
