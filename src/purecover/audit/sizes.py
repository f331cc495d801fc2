"""Which rows to judge, and how many."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from purecover import _validation as valid
from purecover._progress import busy
from purecover._typing import ArrayLike, RandomState
from purecover._validation import public
from purecover.audit.answers import Outlook, figure_of, posterior_of
from purecover.audit.designs import (
    KINDS,
    TOP_SHARE,
    AuditDesign,
    Kind,
    ScoredLabels,
    cut_of,
    cuts_of_all,
)
from purecover.exceptions import IdentifiabilityError, Words
from purecover.intervals.interval import check_level
from purecover.posterior.knowledge import groups_with
from purecover.proportions import GivenProportions, check_share, check_share_or_range

Figure = Literal["auc", "alpha", "positives", "precision", "recall"]
FIGURES = ("auc", "alpha", "positives", "precision", "recall")
AT_A_CUT = ("precision", "recall")

CUTS = (0.15, 0.3, 0.5, 0.7, 0.9)
"""Rows above scores that these shares of the labeled rows reach are compared."""

_FEWEST, _NARROWEST = 5, 1e-4


def outlooks(
    data: ScoredLabels,
    figure: str,
    cut: float | None,
    beta: float | None = None,
    level: float = 0.95,
) -> list[tuple[float | None, Outlook]]:
    """Return what rows above some cuts would show of a figure; None for labeled rows of recall."""
    if figure in AT_A_CUT and cut is None:
        must = Words("given, or ", "review", f", for {figure} at a threshold")
        raise valid.bad_value("threshold", must, "neither")
    counts = data.counts
    found: list[tuple[float | None, Outlook]] = []
    knowledge = posterior_of(counts, GivenProportions(beta=beta)).knowledge
    for each in sorted({data.reached(share) for share in CUTS}) if cut is None else [cut]:
        groups = groups_with(counts, knowledge.counts, [each])
        drawn, top = (
            knowledge.posterior().split(groups),
            slice(0, int((groups.thresholds >= each).sum())),
        )
        values, n = figure_of(figure, drawn, top), int(groups.unlabeled[top].sum())
        found.append((each, Outlook.of(values, drawn.share_positive(top), n, level)))
        if figure == "recall":
            labeled = Outlook.of(values, drawn.shares[:, 1], int(counts.n_labeled), level)
            found.append((None, labeled))
    return found


@public
@busy()
def draw(
    scores: ArrayLike,
    labeled: ArrayLike,
    n: int = 10,
    *,
    design: Kind = "top",
    figure: str | None = None,
    threshold: float | None = None,
    review: int | None = None,
    n_labeled: int = 0,
    negative_label: Any = None,
    random_state: RandomState = 0,
) -> AuditDesign:
    """Draw rows to be judged by hand.

    Parameters
    ----------
    scores : array-like of shape (n,)
        The scores, larger means more positive.
    labeled : array-like of shape (n,)
        True where the row carries the positive label.
    n : int, default=10
        How many unlabeled rows to judge; :func:`plan` says how many are needed. Where fewer lie
        above the cut, all of these are drawn, and the design says so.
    design : {"top", "random", "stratified"}, default="top"
        ``"top"`` draws from the unlabeled rows with high scores, which needs the fewest;
        ``"random"`` from all unlabeled rows; ``"stratified"`` evenly from three strata of the
        score, or from both sides of the threshold. Only the last two can show that labels did not
        go to positives at random.
    figure : {"auc", "alpha", "positives", "precision", "recall"}, optional
        What the interval is wanted of: the rows above the cut are judged that are expected to
        narrow it most by these scores and labels, or labeled rows if those tell more of recall.
        By default half of the labeled rows lie above the cut, which does for the AUC and alpha.
    threshold : float, optional
        The cut of the score. Give the threshold at which precision or recall is wanted.
    review : int, optional
        The cut in other words: so many unlabeled rows with the highest scores lie above it.
    n_labeled : int, default=0
        How many labeled rows to judge, or all if there are fewer: where labels may be wrong, they
        determine beta. They are drawn from the lowest scores of labeled rows, where most wrong
        labels are.
    negative_label : object, optional
        The label of rows that are known to be negative: nobody needs to judge them, and they are
        not among the unlabeled ones. Pass it to :func:`combine` and :func:`evaluate` as well.
    random_state : int, numpy.random.Generator or None, default=0
        Where randomness comes from.

    Returns
    -------
    AuditDesign
        The rows in random order, so that judges who stop early leave a random sample too.

    See Also
    --------
    plan : How many rows to judge.
    combine : What the verdicts say.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(2.0).sample(500, 5000, alpha=0.3, random_state=0)
    >>> design = pu.audit.draw(sample.scores, sample.labeled)
    >>> print(design)
    10 of 858 unlabeled rows with score >= 1.96668
    """
    data = ScoredLabels.read(scores, labeled, negative_label)
    kind = valid.check_choice("design", design, KINDS)
    n = valid.check_integer("n", n, low=1)
    n_labeled = valid.check_integer("n_labeled", n_labeled, low=0)
    asked = n + n_labeled
    rng = valid.check_random_state(random_state)
    cut, reason = cut_of(data, threshold, review), ""
    if figure is not None:
        kind, cut, n_more, reason = _best_for(figure, data, kind, cut, n)
        n, n_labeled = n - n_more, n_labeled + n_more
    if cut is None:
        cuts = [data.reached(TOP_SHARE)] if kind == "top" else cuts_of_all(data)
    else:
        cuts = [cut]
    rows = [data.drawn(kind, cuts, rng, n)]
    every = np.flatnonzero(data.labeled)
    n_labeled = min(n_labeled, every.size)
    if n_labeled:
        if kind == "top":
            cuts += data.low_cut(n_labeled, below=cuts[0])
        low = every[data.strata(cuts)[every] == len(cuts)]
        rows.append(rng.choice(low if low.size >= n_labeled else every, n_labeled, replace=False))
    found = AuditDesign._of(kind, cuts, rng.permutation(np.concatenate(rows)), data)
    if found.rows.size < asked:
        reason = "; ".join(filter(None, (reason, f"{asked} were asked for, and no more are there")))
    return replace(found, reason=reason)


def _best_for(
    figure: str, data: ScoredLabels, kind: str, cut: float | None, n: int
) -> tuple[str, float, int, str]:
    """Return design, cut, number of labeled rows among the n, and why these narrow the figure."""
    valid.check_choice("figure", figure, FIGURES)
    if kind != "top":
        must = Words("left out where ", "design", " is given")
        raise valid.bad_value("figure", must, repr(figure))
    rows = outlooks(data, figure, cut)
    n_there = min(n, max(each.n_left for _, each in rows))
    rows = [each for each in rows if each[1].n_left >= n_there]
    at, best = min(rows, key=lambda each: each[1].width_after(n_there))
    name = {"auc": "the AUC", "positives": "the number of positives"}.get(figure, figure)
    width = best.width_after(n_there)
    then = f"{width:,.0f}" if figure == "positives" else f"{width:.2g}"
    most = " most," if len(rows) > 1 else ""
    reason = f"they narrow the 95 % interval of {name}{most} to about {then}"
    if at is None:
        return "random", rows[0][0] or 0.0, n, reason
    return kind, at, 0, reason


@public
@busy()
def plan(
    scores: ArrayLike | None = None,
    labeled: ArrayLike | None = None,
    *,
    width: float,
    figure: Figure = "alpha",
    threshold: float | None = None,
    review: int | None = None,
    beta: float | None = None,
    alpha_guess: Any = None,
    confidence_level: float = 0.95,
) -> int:
    r"""How many unlabeled rows to judge for an interval this wide.

    Parameters
    ----------
    scores, labeled : array-like of shape (n,), optional
        The data, for rows with high scores as :func:`draw` draws them. Without data the rows are a
        random sample of the unlabeled ones, and nothing but their number counts.
    width : float
        How wide the interval may be, from its low to its high end; of ``positives`` in rows.
    figure : {"auc", "alpha", "positives", "precision", "recall"}, default="alpha"
        Of what; ``positives`` is their number among the unlabeled rows, ``precision`` and
        ``recall`` are those of unlabeled rows above the cut.
    threshold, review
        The cut, as in :func:`draw`. Without one that of the fewest rows counts.
    beta : float, optional
        Share of positives among the labeled, if it is known.
    alpha_guess : float or pair of floats, optional
        Where alpha may lie, for a random sample; by default anywhere, which needs the most.
    confidence_level : float, default=0.95
        Probability of the interval.

    Returns
    -------
    int
        The number of rows, at least 5 but for alpha and positives, of which 0 means that the scores
        alone are expected to do.

    Raises
    ------
    IdentifiabilityError
        If no number of rows above the cut makes the interval so narrow.

    Notes
    -----
    Of a random sample the interval is that of the beta posterior with Jeffreys' prior, at the
    expected alpha that is nearest to 1/2; roughly
    :math:`n \approx (2 z/w)^2 \alpha(1-\alpha)`. With data the posterior of the scores is worth m
    answers on the share of positives among the rows, which explains a part :math:`\rho^2` of the
    variance of the figure; n answers leave :math:`1 - \rho^2 n/(n + m)` of it.

    Examples
    --------
    >>> import purecover as pu
    >>> pu.audit.plan(width=0.1)
    382
    >>> pu.audit.plan(width=0.1, alpha_guess=(0.05, 0.2))
    245
    >>> sample = pu.simulate.binormal(2.0).sample(1000, 5000, alpha=0.3, random_state=0)
    >>> pu.audit.plan(sample.scores, sample.labeled, width=0.15) < 30
    True
    """
    hint = "0.1 means an interval such as 0.2 to 0.3"
    figure = valid.check_choice("figure", figure, FIGURES)  # type: ignore[assignment]
    most = 1e12 if figure == "positives" else 1
    width = valid.check_real("width", width, low=_NARROWEST, high=most, closed="left", hint=hint)
    level = check_level(confidence_level)
    if scores is None:
        given = {"labeled": labeled, "threshold": threshold, "review": review, "beta": beta}
        for name, value in given.items():
            if value is not None:
                raise valid.bad_value(name, "left out where there are no scores", valid.show(value))
        if figure != "alpha":
            raise valid.bad_value("figure", "'alpha' where there are no scores", repr(figure))
        guess = check_share_or_range("alpha_guess", (0, 1) if alpha_guess is None else alpha_guess)
        low, high = guess if isinstance(guess, tuple) else (guess, guess)
        share = min(max(0.5, low), high)  # the expected alpha nearest to 1/2
        least, most = 1, 10**10
        while least < most:
            half = (least + most) // 2
            if _beta_width(half, share, level) <= width:
                most = half
            else:
                least = half + 1
        return least
    if alpha_guess is not None:
        must = "left out where scores are given, from which alpha is estimated"
        raise valid.bad_value("alpha_guess", must, valid.show(alpha_guess))
    if beta is not None:
        beta = check_share("beta", beta, closed="right")
    data = ScoredLabels.read(scores, labeled)
    kinds = outlooks(data, figure, cut_of(data, threshold, review), beta, level)
    enough = [n for _, rows in kinds if (n := rows.n_for(width)) is not None]
    if not enough:
        raise IdentifiabilityError(
            f"{{function}} cannot expect a width of {width:g} for {figure} even if all unlabeled "
            "rows with high scores are judged.\n"
            "Hint: a larger width, or a random sample, planned without scores"
        )
    # A report by the scores alone adds an error of the AUC, which judged rows make small.
    return max(min(enough), 0 if figure in ("alpha", "positives") else _FEWEST)


def _beta_width(n: int, share: float, level: float) -> float:
    """Width of the interval of alpha after as many positives as expected."""
    from scipy.special import betaincinv

    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = betaincinv(0.5 + share * n, 0.5 + (1 - share) * n, tails)
    return float(high - low)
