"""``purecover audit plan``, ``audit sample`` and ``audit estimate``."""

from __future__ import annotations

import csv
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App, Parameter

import purecover as pu
from purecover.cli import output
from purecover.cli.options import COLUMNS, chosen, takes
from purecover.cli.output import STDIO, CommandError, show

if TYPE_CHECKING:
    import numpy as np

    from purecover._typing import BoolArray, IntArray
    from purecover.audit.posterior import AuditEstimate, StratifiedAudit
    from purecover.audit.top import TopAudit
    from purecover.cli.files import Request, Table, Words
    from purecover.cli.rows import FileRows

    Audit = AuditEstimate | StratifiedAudit | TopAudit

audit = App(
    name="audit",
    help=(
        "Find alpha by judging some unlabeled rows by hand: how many, which, and what they tell."
    ),
    default_parameter=Parameter(negative=()),
)

ROW, STRATUM, SIZE, ANSWER = "row", "stratum", "stratum_size", "positive"
DESIGN = "design"
"""Columns of the file to be filled in, beside those of the data."""
_YES = frozenset(("1", "1.0", "yes", "y", "true", "t", "positive", "pos", "x"))
_NO = frozenset(("0", "0.0", "no", "n", "false", "f", "negative", "neg"))
_WIDTH = 100
_TOP = re.compile(
    r"top: (\d+) of (\d+) unlabeled and (\d+) of (\d+) labeled rows have score >= (\S+)"
)
_STRATA = ("unlabeled above", "labeled above", "labeled below")
"""Parts of a sample of high scores."""


@audit.command
@takes(
    f"width alpha_guess confidence_level n_unlabeled design scores {COLUMNS} beta json quiet",
    required="width",
    beta="Share of positives among the labeled rows; below 1, labeled rows are judged too.",
    quiet="Print the number alone.",
)
def plan(**given: Any) -> int:
    """Say how many rows to judge, for an interval of alpha that is narrow enough."""
    guess, quiet = given.pop("alpha_guess", None), given.get("quiet", False)
    beside = chosen(given, "width confidence_level n_unlabeled design")
    if given.get("design", "random") == "random":
        hint = "needs --design top."
        output.refuse(hint, scores=given.get("scores"), beta=given.get("beta"))
    elif "scores" not in given:
        raise CommandError("--design top needs --scores, a file of scores and labels.")
    else:
        from purecover.cli.rows import Columns, read_rows

        beside["counts"] = read_rows(given["scores"], Columns.among(given)).counts
        beside |= chosen(given, "beta")
    found = pu.audit.plan_audit(
        alpha_guess=guess[0] if guess is not None and len(guess) == 1 else guess, **beside
    )
    if "json" in given:
        output.print_json(found.to_dict())
    else:
        output.tell(found.n_items if quiet else _wrapped(str(found)))
    return 0


@audit.command
@takes(
    f"n design beta strata columns random_state {COLUMNS} out quiet",
    required="n",
    beta="1 says that no label is wrong: --design top draws no labeled rows.",
    out="CSV file to write; standard output by default.",
)
def sample(file: str, /, **given: Any) -> int:
    """Draw unlabeled rows of FILE to be judged, in random order.

    Writes a CSV file with the number of each row, its columns, and an empty column named positive
    for the answers.

    Parameters
    ----------
    file
        CSV, TSV, JSON (an object per line, or an array of objects) or Parquet.
    """
    import numpy as np

    from purecover._validation import check_choice, check_integer
    from purecover.audit.posterior import strata_of
    from purecover.cli.rows import Columns, read_rows

    quiet = given.get("quiet", False)
    n = check_integer("n", given["n"], low=1)
    design = check_choice("design", given.get("design", "random"), ("random", "top"))
    if design == "top":
        output.refuse("cannot be had with --design top.", strata=given.get("strata"))
    else:
        output.refuse("needs --design top.", beta=given.get("beta"))
    path = None if given.get("out") == STDIO else given.get("out")
    if path is not None:
        output.check_writable("--out", path, not_this=file)
        _keep_answers(path)
    thresholds = sorted(set(given.get("strata", ())), reverse=True)
    placed = [DESIGN, STRATUM] if design == "top" else [STRATUM, SIZE] if thresholds else []
    own = [ROW, *placed, ANSWER]
    copied = partial(_copied, file, asked=given.get("columns"), own=own)
    rows = read_rows(file, Columns.among(given), cells=copied)
    candidates = ~rows.labeled
    rng = np.random.default_rng(given.get("random_state", 0))
    if design == "top":
        drawn, places = _draw_top(rows, candidates, n, rng, clean=_is_clean(given))
    else:
        stratum = strata_of(rows.scores, thresholds)
        sizes = np.bincount(stratum[candidates], minlength=len(thresholds) + 1)
        masks = [candidates & (stratum == h) for h in range(sizes.size)]
        drawn, at = _draw(masks, _allocation(n, sizes, thresholds), rng)
        places = [[] for _ in at]
        if thresholds:
            places = [[f"{h + 1}: {_describe(h, thresholds)}", int(sizes[h])] for h in at]
    lines = []
    for i, place in zip(drawn.tolist(), places, strict=True):
        cells = [words.values[words.codes[i]] for words in rows.cells.values()]
        lines.append([i + 1, *place, *cells, ""])
    text = output.csv_text([*own[:-1], *rows.cells, ANSWER], lines)
    if path is None:
        output.hand_out(text)
    else:
        with output.write_atomically("--out", path) as target:
            target.write(text.encode())
        output.note(
            f"{_drawn(drawn, rows, candidates)} written to {path}; fill in its column {ANSWER!r} "
            "with yes or no",
            quiet=quiet,
        )
    output.note_blanks(rows.source(file), quiet=quiet)
    return 0


def _keep_answers(out: str) -> None:
    """Refuse to write over the work of a person."""
    try:
        with Path(out).open(newline="", encoding="utf-8") as old:
            answered = sum(bool((row.get(ANSWER) or "").strip()) for row in csv.DictReader(old))
    except (OSError, ValueError, csv.Error):
        return  # not there, or no such file
    if answered:
        raise CommandError(
            f"{show(out)} holds {answered:,} answers in column {ANSWER!r}, which would be lost.\n"
            "Hint: give another name to --out, or remove the file first."
        )


def _copied(
    file: str, available: list[str], *, asked: Sequence[str] | None, own: list[str]
) -> list[str]:
    """The columns to copy; ``own`` are those that the file of the audit has beside them."""
    from purecover.cli.files import name_of, require_column

    source = name_of(file)
    wanted = available if asked is None else asked
    for name in asked or ():
        require_column(source, name, available, "asked for by --columns")
    taken = next((name for name in wanted if name in own), None)
    if taken is not None:
        raise CommandError(
            f"{source} has a column {show(taken)}, as the file of the audit is to have one of its "
            "own.\nHint: rename it, or name the columns to copy with --columns."
        )
    return list(dict.fromkeys(wanted))


def _allocation(n: int, sizes: IntArray, thresholds: list[float]) -> IntArray:
    """How many rows of each stratum."""
    import numpy as np

    from purecover.audit.posterior import spread_evenly

    total = int(sizes.sum())
    if n > total:
        raise CommandError(f"--n must be at most {total:,}, the unlabeled rows there are, got {n}.")
    if not sizes.all():
        empty = _describe(int(np.argmin(sizes)), thresholds)
        raise CommandError(f"--strata leaves no unlabeled row with {empty}.")
    if n < sizes.size:
        raise CommandError(f"--n must be at least {sizes.size}, one for each stratum, got {n}.")
    return spread_evenly(n, sizes)


def _draw(
    masks: Sequence[BoolArray], sizes: Any, rng: np.random.Generator
) -> tuple[IntArray, list[int]]:
    """So many row positions of each mask in random order, and the masks they are of.

    Judges who stop early leave a random sample.
    """
    import numpy as np

    pairs = zip(masks, sizes, strict=True)
    parts = [rng.choice(np.flatnonzero(mask), size, replace=False) for mask, size in pairs]
    order = rng.permutation(sum(sizes))
    return np.concatenate(parts)[order], np.repeat(np.arange(len(sizes)), sizes)[order].tolist()


def _draw_top(
    rows: FileRows, candidates: BoolArray, n: int, rng: np.random.Generator, *, clean: bool
) -> tuple[IntArray, list[list[Any]]]:
    """Row positions in random order, with the design and the stratum of each."""
    from purecover.audit.top import Cut, top_cut

    counts = rows.counts
    cut = top_cut(counts)
    at = Cut.of(counts, cut)
    if n > at.unlabeled[0]:
        raise CommandError(
            f"--n must be at most {at.unlabeled[0]:,}, the unlabeled rows with score >= {cut:g}, "
            f"got {n}."
        )
    high = rows.scores >= cut
    above, below = (0, 0) if clean else at.spread(n)
    masks = candidates & high, rows.labeled & high, rows.labeled & ~high
    drawn, at_strata = _draw(masks, (n, above, below), rng)
    words = (
        f"top: {at.unlabeled[0]} of {sum(at.unlabeled)} unlabeled and {at.labeled[0]} of "
        f"{sum(at.labeled)} labeled rows have score >= {cut!r}"
    )
    return drawn, [[words, _STRATA[h]] for h in at_strata]


def _drawn(drawn: IntArray, rows: FileRows, candidates: BoolArray) -> str:
    """How many rows were drawn, in words."""
    n_labeled = int(rows.labeled[drawn].sum())
    words = f"{drawn.size - n_labeled:,} of {int(candidates.sum()):,} unlabeled"
    if n_labeled:
        words += f" and {n_labeled:,} of {int(rows.labeled.sum()):,} labeled"
    return f"{words} rows"


def _describe(h: int, thresholds: list[float]) -> str:
    """The scores of a stratum in words."""
    if h == len(thresholds):
        return f"score < {thresholds[-1]:g}"
    if h == 0:
        return f"score >= {thresholds[0]:g}"
    return f"{thresholds[h]:g} <= score < {thresholds[h - 1]:g}"


@audit.command
@takes(
    f"answer n_unlabeled confidence_level scores {COLUMNS} beta n_resamples random_state json "
    "quiet",
    beta="1 says that no label is wrong.",
    n_resamples="Bootstrap resamples; 500 by default, 0 for none.",
    quiet="Print alpha alone.",
)
def estimate(file: str, /, **given: Any) -> int:
    """Estimate alpha from the answers in FILE, and with --scores all that follows from it.

    Parameters
    ----------
    file
        What audit sample wrote, with answers filled in: yes or no, 1 or 0; blank where nobody
        judged.
    """
    from purecover.cli.evaluate import exit_code
    from purecover.intervals.interval import check_level

    quiet, scores = given.get("quiet", False), given.get("scores")
    level = check_level(given.get("confidence_level", 0.95))
    if scores is None:
        output.refuse("needs --scores, a file of scores and labels.", beta=given.get("beta"))
    audit, strata, n_blank = _read_answers(file, given, level)
    document: dict[str, Any] = {"audit": audit, "not_judged": n_blank}
    if strata:
        document["strata"] = strata
    alpha, words, report = audit.alpha, _words(audit, strata), None
    if scores is not None:
        more, said, alpha, report = _combined(audit, scores, given, level)
        document, words = document | more, words + said
    if "json" in given:
        output.print_json(document)
    else:
        output.tell(repr(alpha.estimate) if quiet else _wrapped(words))
    if n_blank:
        output.note(
            f"{n_blank:,} rows were not judged; if these are the doubtful ones, alpha is off",
            quiet=quiet,
        )
    return 0 if report is None else exit_code(report, given)


def _combined(
    audit: Audit, scores: str, given: Mapping[str, Any], level: float
) -> tuple[dict[str, Any], str, Any, Any]:
    """What scores and audit say together: a document, words, alpha and the report."""
    from purecover.cli.rows import Columns, read_rows
    from purecover.estimators.choice import check_estimator, with_clean_labels

    quiet, n, seed = given.get("quiet", False), given.get("n_resamples", 500), _seed(given)
    estimator = check_estimator(None)
    # A sample of high scores without labeled rows was drawn for clean labels.
    undrawn = isinstance(audit, pu.audit.TopAudit) and not any(audit.labeled_audited)
    if _is_clean(given) or undrawn:
        with_clean_labels(estimator, beta=1)
    rows = read_rows(scores, Columns.among(given))
    counts = rows.counts
    how: dict[str, Any] = {"confidence_level": level, "random_state": seed}
    both = pu.audit.combine_audit(estimator.fit(counts), audit, n_resamples=max(n, 100), **how)
    report = pu.evaluate(counts, proportions=both, n_resamples=n, **how)
    alpha = audit.alpha if both.conflict else both.intervals["alpha"]
    words, ends = f"\n\n{both}\n\n{report}", None
    if not report.contradicted:
        gaps = [both.believed.beta - end for end in (alpha.low, alpha.high)]
        excess = report.auc_pu - 0.5
        ends = [min(max(0.5 + excess / gap, 0.0), 1.0) if gap > 0 else math.nan for gap in gaps]
        words += "\n\nover the interval of alpha the AUC goes from "
        words += " to ".join(f"{end:.4f}" if math.isfinite(end) else "nowhere" for end in ends)
    output.note_blanks(rows.source(scores), quiet=quiet)
    document = {"combined": both, "auc_over_alpha": ends, "report": report}
    return document | {"source": rows.source(scores)}, words, alpha, report


def _is_clean(given: Mapping[str, Any]) -> bool:
    """Whether no label is wrong; another beta than 1 would be ignored."""
    if given.get("beta", 1) != 1:
        raise CommandError(f"--beta must be 1, or left out, got {given['beta']:g}.")
    return "beta" in given


def _seed(given: Mapping[str, Any]) -> int:
    return int(given.get("random_state", 0))


def _read_answers(
    file: str, given: Mapping[str, Any], level: float
) -> tuple[Audit, list[str], int]:
    """The audit, the names of its strata, and how many rows nobody judged."""
    import numpy as np

    from purecover.cli.files import Request, name_of, read_table, require_column

    source, seed = name_of(file), _seed(given)
    answer, unlabeled = given.get("answer", ANSWER), given.get("n_unlabeled")

    def request(available: list[str]) -> Request:
        why, hint = "where the answers should be", "; --answer names the right one"
        require_column(source, answer, available, why, hint)
        designs = ((DESIGN, STRATUM), (STRATUM, SIZE))
        beside = next((each for each in designs if set(each) <= set(available)), ())
        words = {"answer": answer} | {name: name for name in beside}
        return Request({}, words, frozenset({"answer"}))

    table = read_table(file, request, [answer])
    found = _answers(source, answer, table.words["answer"])
    judged, positive = found >= 0, found == 1
    if not judged.any():
        raise CommandError(
            f"{source} has no answers in column {show(answer)}.\n"
            "Hint: write yes or no into it, and leave blank what nobody judged."
        )
    n_blank = int((~judged).sum())
    if unlabeled is not None and STRATUM in table.words:
        says = "design says how many" if DESIGN in table.words else "strata say how many there are"
        raise CommandError(f"--n-unlabeled is known for {source}: its {says}.")
    if DESIGN in table.words:
        return _top(source, table, positive, judged, level, seed), [], n_blank
    if STRATUM not in table.words:
        k, n = int(positive.sum()), int(judged.sum())
        plain = pu.audit.alpha_from_audit(k, n, n_unlabeled=unlabeled, confidence_level=level)
        return plain, [], n_blank
    names, sizes, codes = _strata(source, table)
    each = np.bincount(codes[judged], minlength=len(names))
    if not each.all():
        raise CommandError(
            f"{source} has no answer in stratum {show(names[int(np.argmin(each))])}.\n"
            "Hint: judge some of each stratum."
        )
    found = np.bincount(codes[positive], minlength=len(names))
    audit = pu.audit.stratified_audit(sizes, found, each, confidence_level=level, random_state=seed)
    return audit, [re.sub(r"^\d+: ", "", name) for name in names], n_blank


def _answers(source: str, answer: str, words: Words) -> IntArray:
    """1 for yes, 0 for no, -1 for nothing."""
    import numpy as np

    from purecover.cli.files import is_missing

    meaning = []
    for code, value in enumerate(words.values):
        said = value.strip().casefold()
        if said not in _YES | _NO and not is_missing(value):
            rows = np.flatnonzero(words.codes == code)
            more = "" if rows.size == 1 else f" and {rows.size - 1} more"
            raise CommandError(
                f"{source} says {show(value)} in column {show(answer)}, row {rows[0] + 1}{more}; "
                "an answer is yes or no, 1 or 0, or blank."
            )
        meaning.append(-1 if is_missing(value) else int(said in _YES))
    return np.array(meaning)[words.codes]


def _strata(source: str, table: Table) -> tuple[list[str], IntArray, IntArray]:
    """Names and sizes of the strata, from the highest scores, and the stratum of each row."""
    import numpy as np

    words, sizes = table.words[STRATUM], table.words[SIZE]
    found = []
    for code, size in sorted(set(zip(words.codes.tolist(), sizes.codes.tolist(), strict=True))):
        name, number = words.values[code].strip(), sizes.values[size].strip()
        place = re.match(r"(\d+):", name)
        whole = re.fullmatch(r"(\d+)(?:\.0*)?", number)
        if place is None or whole is None:
            raise CommandError(
                f"{source} has the stratum {show(name)} of size {show(number)}, which audit sample "
                f"did not write.\nHint: columns {STRATUM!r} and {SIZE!r} must stay as they were."
            )
        found.append((int(place[1]), name, int(whole[1]), code))
    places, names, numbers, codes = zip(*sorted(found), strict=True)
    if places != tuple(range(1, len(words.values) + 1)):
        raise CommandError(
            f"{source} lacks a stratum, or has two sizes for one.\n"
            f"Hint: columns {STRATUM!r} and {SIZE!r} must stay as audit sample wrote them."
        )
    return list(names), np.array(numbers), np.argsort(codes)[words.codes]


def _top(
    source: str, table: Table, positive: BoolArray, judged: BoolArray, level: float, seed: int
) -> TopAudit:
    """What the answers above a cut tell."""
    designs, strata = table.words[DESIGN].values, table.words[STRATUM]
    said = _TOP.fullmatch(designs[0].strip()) if len(designs) == 1 else None
    if said is None or not set(_STRATA).issuperset(strata.values):
        raise CommandError(
            f"{source} has a design that audit sample did not write.\n"
            f"Hint: columns {DESIGN!r} and {STRATUM!r} must stay as they were."
        )
    above, size, labeled_above, labeled_size = (int(each) for each in said.groups()[:4])
    cut = float(said[5])
    thresholds = [cut, math.nextafter(cut, -math.inf)]
    labeled = [labeled_above, labeled_size - labeled_above]
    counts = pu.ScoreCounts.from_counts(thresholds, labeled, [above, size - above])

    def each_stratum(rows: BoolArray) -> list[int]:
        named = [strata.values[code] for code in strata.codes[rows].tolist()]
        return [named.count(name) for name in _STRATA]

    k, *hits = each_stratum(positive)
    n, *tries = each_stratum(judged)
    drawn_labeled = len(strata.values) > 1
    if n == 0 or (drawn_labeled and not any(tries)):
        which, hint = "an unlabeled", "judge some of these"
        if n > 0:
            which, hint = "a labeled", "judge these too, or draw with --beta 1 if no label is wrong"
        raise CommandError(f"{source} has no answer for {which} row.\nHint: {hint}.")
    return pu.audit.top_audit(
        counts,
        cut,
        k,
        n,
        labeled_positive=hits if drawn_labeled else None,
        labeled_audited=tries if drawn_labeled else None,
        confidence_level=level,
        random_state=seed,
    )


def _words(audit: Audit, strata: list[str]) -> str:
    from purecover.audit.posterior import in_words

    if not isinstance(audit, pu.audit.StratifiedAudit):
        return str(audit)
    head = str(audit).splitlines()[:2]
    lines = [*head, "", f"{'':<28}{'judged':>8}{'positive':>10}{'of all':>10}   share"]
    for name, n, k, size, share in zip(
        strata, audit.n_audited, audit.n_positive, audit.n_unlabeled, audit.shares, strict=True
    ):
        ends = f"{share.estimate:.4f} [{share.low:.4f}, {share.high:.4f}]"
        lines.append(f"{name:<28}{n:>8,}{k:>10,}{size:>10,}   {ends}")
    for name, precision, recall in zip(strata, audit.precision, audit.recall, strict=False):
        limit = re.sub(r" < .*| <= score.*", "", name).removeprefix("score >= ")
        lines += [
            "",
            f"unlabeled rows with score >= {limit}",
            f"  precision {in_words(precision)}",
            f"  recall    {in_words(recall)}",
        ]
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    return "\n".join(
        part
        for line in text.splitlines()
        for part in (textwrap.wrap(line, _WIDTH) if len(line) > _WIDTH else [line])
    )
