"""How many rows to judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from purecover import _validation as valid
from purecover._typing import ArrayLike, FloatArray
from purecover._validation import public
from purecover.audit.answers import (
    Purity,
    Strata,
    log_binomial,
    posterior_draws,
    uniform_draws,
)
from purecover.audit.designs import TOP_SHARE, AuditDesign, JudgedRows, ScoredLabels, cut_of
from purecover.counts import ScoreCounts, auc_pu_variance
from purecover.estimators.choice import check_estimator
from purecover.exceptions import IdentifiabilityError
from purecover.intervals.interval import check_level
from purecover.proportions import check_share

Figure = Literal["alpha", "auc", "precision"]
FIGURES = ("alpha", "auc", "precision")

_OUTCOMES = 25
_NARROWEST = 1e-4


@public
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
        How wide the interval may be, from its low to its high end.
    figure : {"alpha", "auc", "precision"}, default="alpha"
        Of what; the last is the share of positives among the unlabeled rows above the cut.
    threshold, review
        The cut, as in :func:`draw`.
    beta : float, optional
        Share of positives among the labeled, if it is known.
    alpha_guess : float or pair of floats, optional
        Where alpha may lie, for a random sample; by default anywhere, which needs the most.
    confidence_level : float, default=0.95
        Probability of the interval.

    Returns
    -------
    int
        The number of rows.

    Raises
    ------
    IdentifiabilityError
        If no number of rows above the cut makes the interval so narrow.

    Notes
    -----
    Of a random sample the interval is that of the beta posterior with Jeffreys' prior, at the
    expected alpha that is nearest to 1/2; roughly
    :math:`n \approx (2 z/w)^2 \alpha(1-\alpha)`. With data the width is the mean over the verdicts
    that the scores make likely, of the posterior of :func:`combine`.

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
    width = valid.check_real("width", width, low=_NARROWEST, high=1, closed="left", hint=hint)
    level = check_level(confidence_level)
    figure = valid.check_choice("figure", figure, FIGURES)  # type: ignore[assignment]
    tails = [(1 - level) / 2, (1 + level) / 2]
    if scores is None:
        given = {"labeled": labeled, "threshold": threshold, "review": review, "beta": beta}
        for name, value in given.items():
            if value is not None:
                raise valid.bad_value(name, "left out where there are no scores", valid.show(value))
        if figure != "alpha":
            raise valid.bad_value("figure", "'alpha' where there are no scores", repr(figure))
        share = _widest(alpha_guess)
        return first(lambda n: _beta_width(n, share, tails) <= width, 10**10)
    if alpha_guess is not None:
        must = "left out where scores are given, from which alpha is estimated"
        raise valid.bad_value("alpha_guess", must, valid.show(alpha_guess))
    if beta is not None:
        beta = check_share("beta", beta, closed="right")
    data = ScoredLabels.read(scores, labeled)
    cut = cut_of(data, threshold, review)
    cut = data.reached(TOP_SHARE) if cut is None else cut
    rng = np.random.default_rng(0)
    none = np.zeros(0, dtype=np.int64)
    design = AuditDesign._of("top", [cut], none, data)
    strata = Strata.of(JudgedRows(design, none))
    counts = ScoreCounts.from_scores(data.scores, data.labeled)
    known = posterior_draws(check_estimator(None), counts, beta, rng)
    shares = np.concatenate((known, uniform_draws(counts, beta, len(known) // 20, rng)))
    found = Purity.of(shares, strata, rng)
    shares, purity = shares[found.possible], found.of_unlabeled[found.possible, 0]
    error = max(auc_pu_variance(counts), 0.0) ** 0.5
    observed = counts.auc_pu + error * rng.standard_normal(len(shares))
    gap = shares[:, 1] - shares[:, 0]
    values = {
        "alpha": shares[:, 0],
        "auc": (0.5 + (observed - 0.5) / gap).clip(0, 1),
        "precision": purity,
    }[figure]
    order = np.argsort(values)
    values, purity = values[order], purity[order]
    # Purities that the scores make likely, and chance for each of them.
    likely = rng.choice(purity, _OUTCOMES)
    chance = (np.arange(_OUTCOMES) + 0.5) / _OUTCOMES

    def narrow(n: int) -> bool:
        from scipy.stats import binom

        positive = binom.ppf(chance, n, likely)
        return float(np.mean([spread(values, purity, k, n, tails) for k in positive])) <= width

    most = int(strata.n_unlabeled[0])
    if most == 0 or not narrow(most):
        raise IdentifiabilityError(
            f"{{function}} cannot expect a width of {width:g} for {figure} even if all {most:,} "
            f"unlabeled rows with score >= {cut:.6g} are judged.\n"
            "Hint: a larger width, or a random sample, planned without scores"
        )
    return first(narrow, most)


def spread(values: FloatArray, purity: FloatArray, k: float, n: int, tails: list[float]) -> float:
    """Width of the interval of rising values after k of n verdicts."""
    log = log_binomial(k, n, purity)
    reached = np.cumsum(np.exp(log - log.max()))
    low, high = values[np.searchsorted(reached, np.array(tails) * reached[-1])]
    return float(high - low)


def _beta_width(n: int, share: float, tails: list[float]) -> float:
    """Width of the interval of alpha after as many positives as expected."""
    from scipy.special import betaincinv

    low, high = betaincinv(0.5 + share * n, 0.5 + (1 - share) * n, tails)
    return float(high - low)


def first(enough: Callable[[int], bool], most: int) -> int:
    """The smallest number that is enough, if larger ones are."""
    low, high = 0, 1
    while high < most and not enough(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _widest(guess: Any) -> float:
    """The expected alpha nearest to 1/2."""
    if guess is None:
        return 0.5
    pair = guess if valid.is_iterable(guess) and not isinstance(guess, (str, bytes)) else [guess]
    ends = [check_share("alpha_guess", each) for each in pair]
    if not 1 <= len(ends) <= 2:
        raise valid.bad_value("alpha_guess", "a number or two", f"{len(ends)} values")
    if ends[0] > ends[-1]:
        raise valid.bad_value("alpha_guess", "in rising order", valid.show(guess))
    return min(max(0.5, ends[0]), ends[-1])
