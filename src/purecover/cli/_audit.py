"""``purecover audit plan`` and ``purecover audit estimate``."""

from __future__ import annotations

import math
import re
import textwrap
from typing import Any

import numpy as np

from purecover._typing import IntArray
from purecover._validation import show
from purecover.audit.combine import CombinedAudit, combine_audit
from purecover.audit.plan import plan_audit
from purecover.audit.posterior import AuditEstimate, alpha_from_audit, in_words
from purecover.audit.strata import StratifiedAudit, stratified_audit
from purecover.cli._audit_sample import SIZE, STRATUM, in_our_words, numbers
from purecover.cli._columns import Request, Table, Words, is_missing, list_columns
from purecover.cli._data import Rows, describe_source, note_blank_labels, read_rows
from purecover.cli._files import name_of, read_table
from purecover.cli._messages import CommandError, in_options, note
from purecover.cli._options import DataOptions, undash
from purecover.cli._output import print_json
from purecover.cli._progress import progress_bars
from purecover.counts import ScoreCounts
from purecover.estimators.base import PriorEstimator
from purecover.estimators.choice import check_estimator, tell_clean
from purecover.exceptions import IdentifiabilityError, InvalidInputError
from purecover.intervals.interval import check_level
from purecover.proportions import MixtureProportions
from purecover.recovery.auc import recover_auc
from purecover.report.evaluation import evaluate

__all__ = ["run_estimate", "run_plan"]

_YES = frozenset(("1", "1.0", "yes", "y", "true", "t", "positive", "pos", "x"))
_NO = frozenset(("0", "0.0", "no", "n", "false", "f", "negative", "neg"))
_WIDTH = 100

Audit = AuditEstimate | StratifiedAudit


# -- how many ---------------------------------------------------------------------------------


def run_plan(
    *,
    width: float,
    alpha_guess: str | None,
    assurance: float,
    confidence_level: float,
    unlabeled: int | None,
    json: bool,
    quiet: bool,
) -> int:
    """Say how many."""
    guess: Any = None if alpha_guess is None else numbers("--alpha-guess", alpha_guess)
    try:
        found = plan_audit(
            width=width,
            alpha_guess=guess[0] if guess is not None and len(guess) == 1 else guess,
            assurance=assurance,
            confidence_level=confidence_level,
            n_unlabeled=unlabeled,
        )
    except InvalidInputError as error:
        raise in_our_words(error) from error
    if json:
        print_json(found.to_dict())
    else:
        text = str(found.n_items) if quiet else _wrapped(str(found))
        print(text)  # noqa: T201
    return 0


# -- what they tell ---------------------------------------------------------------------------


def run_estimate(
    file: str,
    data: DataOptions,
    *,
    answer: str,
    unlabeled: int | None,
    confidence_level: float,
    scores: str | None,
    estimator: str | None,
    clean: bool,
    resamples: int,
    seed: int,
    json: bool,
    quiet: bool,
) -> int:
    """Read the answers, print what follows."""
    level = check_level(confidence_level)
    for option, given in (("--estimator", estimator is not None), ("--clean", clean)):
        if given and scores is None:
            raise CommandError(f"{option} needs --scores, a file of scores and labels.")
    audit, strata, n_blank = _read_answers(file, answer, unlabeled, level, seed)
    document: dict[str, Any] = {"audit": audit.to_dict(), "not_judged": n_blank}
    if strata:
        document["strata"] = strata
    alpha, words = audit.alpha, _words(audit, strata)
    rows = None
    if scores is not None:
        with progress_bars(quiet=quiet) as steps:
            rows = read_rows(scores, data, progress=steps("Reading"))
            method = _estimator(estimator, clean=clean)
            both = _combine(rows, audit, method, level, resamples, seed)
            proportions = _believed(audit, both)
            report = evaluate(
                rows.scores,
                rows.label_column,
                negative_label=rows.negative_label,
                sample_weight=rows.weights,
                proportions=proportions,
                confidence_level=level,
                n_resamples=resamples,
                random_state=seed,
                progress=steps("Resampling"),
            )
        alpha = audit.alpha if both.conflict else both.intervals["alpha"]
        ends = [_auc(report.counts, end, proportions.beta) for end in (alpha.low, alpha.high)]
        document["combined"] = both.to_dict()
        document["auc_over_alpha"] = ends
        document["report"] = report.to_dict()
        document["source"] = describe_source(scores, rows)
        words += f"\n\n{both}\n\n{report}\n\nover the interval of alpha the AUC goes from "
        words += " to ".join(f"{end:.4f}" if math.isfinite(end) else "nowhere" for end in ends)
    if json:
        print_json(document)
    elif quiet:
        print(repr(alpha.estimate))  # noqa: T201
    else:
        print(_wrapped(words))  # noqa: T201
    if n_blank:
        note(
            f"{n_blank:,} rows were not judged; if these are the doubtful ones, alpha is off",
            quiet=quiet,
        )
    if rows is not None:
        note_blank_labels(rows, quiet=quiet)
    return 0


def _read_answers(
    file: str, answer: str, unlabeled: int | None, level: float, seed: int
) -> tuple[Audit, list[str], int]:
    """The audit, the names of its strata, and how many rows nobody judged."""
    source = name_of(file)
    answer = undash(answer)

    def request(available: list[str]) -> Request:
        if available.count(answer) != 1:
            what = "no column" if answer not in available else "several columns"
            raise CommandError(
                f"{source} has {what} named {show(answer)}, where the answers should be.\n"
                f"Hint: the columns are {list_columns(available)}; --answer names the right one."
            )
        words = {"answer": answer}
        if {STRATUM, SIZE} <= set(available):
            words |= {STRATUM: STRATUM, SIZE: SIZE}
        return Request({}, words, frozenset({"answer"}))

    table = read_table(file, request, asked=frozenset({answer}))
    found = _answers(source, answer, table.words["answer"])
    judged = found >= 0
    if not judged.any():
        raise CommandError(
            f"{source} has no answers in column {show(answer)}.\n"
            "Hint: write yes or no into it, and leave blank what nobody judged."
        )
    n_blank = int((~judged).sum())
    positive = found == 1
    if STRATUM not in table.words:
        try:
            audit = alpha_from_audit(
                int(positive.sum()),
                int(judged.sum()),
                n_unlabeled=unlabeled,
                confidence_level=level,
            )
        except InvalidInputError as error:
            raise CommandError(in_options(str(error))) from error
        return audit, [], n_blank
    if unlabeled is not None:
        raise CommandError(f"--unlabeled is known for {source}: its strata say how many there are.")
    names, sizes, codes = _strata(source, table)
    k = np.bincount(codes[judged & positive], minlength=len(names))
    n = np.bincount(codes[judged], minlength=len(names))
    if not n.all():
        raise CommandError(
            f"{source} has no answer in stratum {show(names[int(np.argmin(n))])}.\n"
            "Hint: judge some of each stratum."
        )
    audit_of_strata = stratified_audit(sizes, k, n, confidence_level=level, random_state=seed)
    return audit_of_strata, [re.sub(r"^\d+: ", "", name) for name in names], n_blank


def _answers(source: str, answer: str, words: Words) -> IntArray:
    """1 for yes, 0 for no, -1 for nothing."""
    meaning = []
    for code, value in enumerate(words.values):
        said = str(value).strip().casefold()
        if is_missing(value):
            meaning.append(-1)
        elif said in _YES or said in _NO:
            meaning.append(int(said in _YES))
        else:
            rows = np.flatnonzero(words.codes == code)
            more = "" if rows.size == 1 else f" and {rows.size - 1} more"
            raise CommandError(
                f"{source} says {show(value)} in column {show(answer)}, row {rows[0] + 1}{more}; "
                "an answer is yes or no, 1 or 0, or blank."
            )
    return np.array(meaning)[words.codes]


def _strata(source: str, table: Table) -> tuple[list[str], IntArray, IntArray]:
    """Names and sizes of the strata, from the highest scores, and the stratum of each row."""
    words, sizes = table.words[STRATUM], table.words[SIZE]
    pairs = sorted(set(zip(words.codes.tolist(), sizes.codes.tolist(), strict=True)))
    found = []
    for code, size in pairs:
        name, number = str(words.values[code]).strip(), str(sizes.values[size]).strip()
        place = re.match(r"(\d+):", name)
        whole = re.fullmatch(r"(\d+)(?:\.0*)?", number)
        if place is None or whole is None:
            raise CommandError(
                f"{source} has the stratum {show(name)} of size {show(number)}, which audit sample "
                f"did not write.\nHint: columns {STRATUM!r} and {SIZE!r} must stay as they were."
            )
        found.append((int(place[1]), name, int(whole[1]), code))
    found.sort()
    if [place for place, *_ in found] != list(range(1, len(words.values) + 1)):
        raise CommandError(
            f"{source} lacks a stratum, or has two sizes for one.\n"
            f"Hint: columns {STRATUM!r} and {SIZE!r} must stay as audit sample wrote them."
        )
    order = np.empty(len(found), dtype=np.int64)
    order[[code for *_, code in found]] = np.arange(len(found))
    return (
        [name for _, name, *_ in found],
        np.array([size for _, _, size, _ in found]),
        order[words.codes],
    )


def _estimator(name: str | None, *, clean: bool) -> PriorEstimator:
    """The estimator of that name, or the default; with beta = 1 if labels are clean."""
    named = None if name is None else name.casefold().replace("_", "-")
    method = check_estimator(named)
    if not clean:
        return method
    tell_clean(method, beta=1)
    if method.estimates_beta:
        raise CommandError(f"--clean cannot be had from {name}, which always estimates beta.")
    return method


def _combine(
    rows: Rows, audit: Audit, method: PriorEstimator, level: float, resamples: int, seed: int
) -> CombinedAudit:
    """Scores and audit in one posterior."""
    counts = ScoreCounts.from_scores(
        rows.scores,
        rows.label_column,
        sample_weight=rows.weights,
        negative_label=rows.negative_label,
    )
    return combine_audit(
        method.fit(counts),
        audit,
        confidence_level=level,
        n_resamples=max(resamples, 100),
        random_state=seed,
    )


def _believed(audit: Audit, both: CombinedAudit) -> MixtureProportions:
    """Proportions of both, or with the alpha of the audit alone if the scores contradict it."""
    if not both.conflict:
        return both.proportions
    try:
        return audit.proportions(both.proportions.beta)
    except IdentifiabilityError:
        return audit.proportions()


def _auc(counts: ScoreCounts, alpha: float, beta: float) -> float:
    return recover_auc(counts, MixtureProportions(alpha, beta)) if alpha < beta else math.nan


# -- words ------------------------------------------------------------------------------------


def _words(audit: Audit, strata: list[str]) -> str:
    if not isinstance(audit, StratifiedAudit):
        return str(audit)
    head = str(audit).splitlines()[:2]
    lines = [*head, "", f"{'':<28}{'judged':>8}{'positive':>10}{'of all':>10}   share"]
    for name, n, k, size, share in zip(
        strata, audit.n_audited, audit.n_positive, audit.n_unlabeled, audit.shares, strict=True
    ):
        ends = f"{share.estimate:.4f} ({share.low:.4f} - {share.high:.4f})"
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
