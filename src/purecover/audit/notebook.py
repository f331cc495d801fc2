"""Judging in a notebook: buttons and keys where ipywidgets is installed, else a table."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from purecover import _validation as valid
from purecover._inputs import check_columns, column_names, read_columns
from purecover._validation import public
from purecover.audit.designs import JudgedRows, shown_as
from purecover.audit.judging import TEN, Judging, remarks

KEYS = {"y": "yes", "n": "no", "s": "skip", "b": "back"}
_MISSING = ("None", "nan", "NaN", "<NA>", "NaT")
_LINK = re.compile(r"https?://[^\s<>\"']+")


class JudgingView:
    """Rows to be judged, as a notebook shows them.

    Attributes
    ----------
    judging : Judging
        The rows and the answers.
    """

    def __init__(self, judging: Judging) -> None:
        self.judging = judging

    @property
    def judged(self) -> JudgedRows:
        """The answers so far, of all judges, for ``evaluate(..., judged=view.judged)``."""
        return self.judging.judged()

    @public
    def answer(self, keys: str) -> JudgingView:
        """Answer the rows shown, in their order, with one key for each.

        Parameters
        ----------
        keys : str
            y (yes), n (no), s (skip) and b (back to the last answer); blanks do not count.

        Returns
        -------
        JudgingView
            This view, with the next rows.
        """
        must = "made of the keys y, n, s and b"
        valid.check_instance("keys", keys, str, must)
        typed = "".join(keys.split()).casefold()
        if not set(typed) <= KEYS.keys():
            raise valid.bad_value("keys", must, repr(keys))
        for key in typed:
            if key == "b":
                self.judging.back()
            else:
                self.judging.answer(KEYS[key])
        return self

    def __repr__(self) -> str:
        rows = [
            "\n".join([f"row {row + 1:,}", *(f"  {name}: {text}" for name, text in cells.items())])
            for row, cells in self._upcoming()
        ]
        return "\n".join([*rows, *self._said(), f'Next: view.answer("{"y" * len(rows)}")'])

    def _repr_html_(self) -> str:
        upcoming = self._upcoming()
        said = "<br>".join(map(html.escape, self._said()))
        return (
            f"{_table(upcoming)}<p>{said}<br>Answer these rows in their order: "
            f'<code>view.answer("{"y" * len(upcoming)}")</code> with y, n or s (skip) for each.</p>'
        )

    def _ipython_display_(self) -> None:
        try:
            import ipywidgets
            from IPython.display import display
        except ImportError:
            raise NotImplementedError from None  # IPython then takes the table
        display(self._widget(ipywidgets))

    def _widget(self, widgets: Any) -> Any:
        """Return a row with buttons, and a field that takes the keys."""
        card, said = widgets.HTML(), widgets.HTML()
        keys = widgets.Text(placeholder="or type y, n, s, b here", layout={"width": "14em"})
        buttons = []

        def show() -> None:
            rows = self._upcoming()[:1]
            card.value = _table(rows) if rows else "No row is left"
            said.value = "<br>".join(map(html.escape, self._said()))

        def take(key: str) -> None:
            self.answer(key)
            show()

        def typed(change: Any) -> None:
            if known := [key for key in change["new"].casefold() if key in KEYS]:
                take("".join(known))
            if change["new"]:
                keys.value = ""

        for key, word in KEYS.items():
            button = widgets.Button(description=f"{word.title()} ({key})")
            button.on_click(lambda _, key=key: take(key))
            buttons.append(button)
        keys.observe(typed, names="value")
        show()
        return widgets.VBox([said, card, widgets.HBox([*buttons, keys])])

    def _upcoming(self) -> list[tuple[int, dict[str, str]]]:
        return [(row, self.judging.cells(row)) for row in self.judging.upcoming(TEN)]

    def _said(self) -> list[str]:
        """Return the answers in numbers, what is known of the figure, and what to heed."""
        row, tally = self.judging.row, self.judging.tally()
        said = None if row is None else self.judging.said(row)
        return [
            "{yes} yes, {no} no, {skip} skipped".format(**tally)
            + f"; saved in {self.judging.file.name}",
            self.judging.status()[0],
            *([] if said is None else [f"You said {said}."]),
            *filter(None, [] if row is None else [self.judging.note(row)]),
            *remarks(self.judging),
        ]


def _table(rows: list[tuple[int, dict[str, str]]]) -> str:
    """Return rows as a table in HTML."""
    names = list(dict.fromkeys(name for _, cells in rows for name in cells))
    lines = [
        "".join(f"<td>{cell}</td>" for cell in (f"{row + 1:,}", *map(_linked, cells.values())))
        for row, cells in rows
    ]
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ["row", *names])
    return f"<table><tr>{'</tr><tr>'.join([head, *lines])}</tr></table>"


def _linked(text: str) -> str:
    """Return text as HTML, with links."""
    parts = re.split(f"({_LINK.pattern})", text)
    for i, part in enumerate(parts):
        safe = html.escape(part)
        link = f'<a href="{safe}" target="_blank" rel="noopener noreferrer">{safe}</a>'
        parts[i] = link if i % 2 else safe
    return "".join(parts)


@public
def judge(
    frame: Any,
    score: str,
    labeled: str,
    *,
    file: str | Path = "answers.judged.csv",
    columns: Any = None,
    judge: str = "",
    figure: str = "auc",
    threshold: float | None = None,
    review: int | None = None,
    negative_label: Any = None,
) -> JudgingView:
    """Judge rows of a frame in a notebook, one after another.

    With ipywidgets the notebook shows one row with buttons, and a field that takes the keys y
    (yes), n (no), s (skip) and b (back). Without, it shows a table of the next ten rows, which
    ``view.answer("ynyyysyyyy")`` answers. Scores and labels are not shown, since they would lead
    the judge. Each answer is saved at once, and the same call goes on where you stopped.

    Parameters
    ----------
    frame : data frame or mapping of str to array-like
        The rows.
    score, labeled : str
        Names of the columns of scores and of labels.
    file : str or Path, default="answers.judged.csv"
        Where answers are kept.
    columns : sequence of str, optional
        Columns to show, by default all others.
    judge : str, default=""
        Name of the judge, if there are several. Each is asked about the rows of the others.
    figure : {"auc", "alpha", "precision"}, default="auc"
        What the interval is of.
    threshold, review, negative_label
        The cut of the score and the label of known negatives, as in :func:`draw`.

    Returns
    -------
    JudgingView
        What the notebook shows; ``view.judged`` has the answers for :func:`purecover.evaluate`.

    See Also
    --------
    draw : Draw rows for a table of your own.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import purecover as pu
    >>> example = pu.load_example()
    >>> frame = {"score": example.scores, "labeled": example.labeled, "truth": example.truth}
    >>> file = Path(tempfile.mkdtemp(), "answers.judged.csv")
    >>> view = pu.audit.judge(frame, "score", "labeled", file=file)
    >>> view.answer("yyyyyyyyyy").judged.tally(labeled=False)
    (array([10,  0]), array([10,  0]))
    >>> report = pu.evaluate(example.scores, example.labeled, judged=view.judged)
    """
    if not isinstance(file, (str, Path)):
        raise valid.bad_type("file", "the name of a file", file)
    found = read_columns(frame, {"score": score, "labeled": labeled})
    names = column_names(frame)
    shown = [name for name in names if name not in (score, labeled)]
    if columns is not None:
        shown = list(check_columns("columns", columns, names, "names of columns"))
    cells = {heading: _column(frame, name) for heading, name in shown_as(shown).items()}
    judging = Judging(
        found["score"],
        found["labeled"],
        Path(file),
        cells=lambda row: {name: _text(values[row]) for name, values in cells.items()},
        judge=judge,
        figure=figure,
        threshold=threshold,
        review=review,
        negative_label=negative_label,
    )
    return JudgingView(judging)


def _column(frame: Any, name: str) -> Any:
    if isinstance(frame, Mapping):
        return frame[name]
    import narwhals.stable.v2 as nw

    return nw.from_native(frame, eager_only=True).get_column(name)


def _text(value: Any) -> str:
    text = str(value)
    return "" if text in _MISSING else text
