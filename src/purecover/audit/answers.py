r"""Posterior of alpha and beta given scores, judged rows, a past hit rate and ranges.

Pairs of alpha and beta by the scores alone are restricted to the ranges and weighed by the
verdicts: each pair, with a draw of how labels lie along the ranking, says which share of the rows
of every stratum is positive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from math import ceil
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from purecover import _validation as valid
from purecover._codec import plain_fields
from purecover._typing import ArrayLike, BoolArray, CountArray, FloatArray, IntArray, RandomState
from purecover._validation import Frozen, public
from purecover.audit.designs import JudgedRows, ScoredLabels
from purecover.counts import ScoreCounts, cut_of_top
from purecover.estimators.choice import (
    KnownBeta,
    check_estimator,
    full_name,
    with_beta,
    with_clean_labels,
)
from purecover.exceptions import ContradictionError
from purecover.intervals.ends import interval_ends
from purecover.intervals.interval import Interval, check_level
from purecover.intervals.replicates import draw_positives
from purecover.posterior.draws import Posterior, Verdicts, binomial_quantile
from purecover.posterior.knowledge import N_GROUPS, Knowledge, groups_with, middle_of
from purecover.posterior.ratio import SEED
from purecover.proportions import TOP, Basis, GivenProportions, MixtureProportions
from purecover.recovery.rates import rounded_down

N_RESAMPLES = 1000
"""Replicates of an estimator that draws none."""

ENOUGH = 1000
"""Pairs in a range that are enough; where fewer lie there, it is narrow, and pairs are spread
evenly over it."""

CONFLICT = 0.05
"""Verdicts that the scores make less likely than this contradict them."""

DISAGREE = 0.9
"""Strata that disagree with a larger probability are reported."""

_EDGE = 1e-9


class Strata(NamedTuple):
    """Numbers of rows in each stratum: all, judged, and judged positive."""

    n_unlabeled: IntArray
    n_labeled: IntArray
    judged: IntArray
    positive: IntArray
    labeled_judged: IntArray
    labeled_positive: IntArray
    cuts: tuple[float, ...] = ()
    """Where strata end, but for the last."""

    @classmethod
    def whole(cls, counts: ScoreCounts) -> Strata:
        """Count all rows, of which none is judged."""
        return cls(*(each[:1] for each in cls.above(counts, -np.inf)[:6]))  # type: ignore[arg-type]

    @classmethod
    def above(cls, counts: ScoreCounts, cut: float, positive: int = 0, judged: int = 0) -> Strata:
        """Count the rows on both sides of a cut; the judged ones are unlabeled and above it."""
        high = counts.thresholds >= cut
        n_unlabeled, n_labeled = (
            np.round([side[high].sum(), side[~high].sum()]).astype(np.int64)
            for side in (counts.unlabeled, counts.labeled)
        )
        found, none = np.array([[judged, 0], [positive, 0]]), np.zeros(2, dtype=np.int64)
        return cls(n_unlabeled, n_labeled, found[0], found[1], none, none, (cut,))

    def groups(self, counts: ScoreCounts) -> list[slice]:
        """Return the groups of each stratum, none of which lies across a cut."""
        reached = [int((counts.thresholds >= cut).sum()) for cut in self.cuts]
        edges = [0, *reached, counts.n_thresholds]
        return [slice(*pair) for pair in pairwise(edges)]

    def verdicts(self, groups: list[slice]) -> list[Verdicts]:
        """Return the verdicts in each stratum, whose groups are given."""
        found = []
        for s, where in enumerate(groups):
            found.append(Verdicts(where, int(self.judged[s]), int(self.positive[s])))
            n, right = int(self.labeled_judged[s]), int(self.labeled_positive[s])
            found.append(Verdicts(where, n, right, labeled=True))
        return found

    @classmethod
    def of(cls, judged: JudgedRows) -> Strata:
        """Count the rows of each stratum."""
        positive, n = judged.tally(labeled=False)
        labeled_positive, n_labeled = judged.tally(labeled=True)
        design = judged.design
        sizes = design.n_unlabeled, design.n_labeled
        return cls(*sizes, n, positive, n_labeled, labeled_positive, tuple(design.cuts))


class Outlook(NamedTuple):
    r"""How wide the interval of a figure is, and what answers about some rows would do to it.

    Let p be the share of positives among these rows. Its posterior mean and variance are those of
    a beta distribution worth :math:`m` answers. If p explains the share :math:`\rho^2` of the
    variance of the figure, the best linear estimate of the figure from n answers leaves the share
    :math:`1 - \rho^2 n / (n + m)` of its variance.
    """

    width: float
    explained: float
    worth: float
    n_left: int
    """Rows that can be judged."""

    @classmethod
    def of(cls, values: FloatArray, share: FloatArray, n_left: int, level: float) -> Outlook:
        """Of draws of the figure, with the share of positives among the rows in each of them."""
        low, high = interval_ends(values, level)
        mean, variance = share.mean(), max(share.var(), _EDGE**2)
        explained = np.cov(share, values)[0, 1] ** 2 / (variance * max(values.var(), _EDGE**2))
        worth = max(mean * (1 - mean) / variance - 1, 0.0)
        return cls(high - low, min(float(explained), 1.0), float(worth), n_left)

    def width_after(self, n: int) -> float:
        """Return how wide the interval is expected to be after so many answers."""
        left = 1 - self.explained * n / (n + self.worth) if n else 1.0
        return self.width * max(left, 0.0) ** 0.5

    def n_for(self, width: float) -> int | None:
        """How many answers make it so narrow; None if no number, or all rows, would not do."""
        if width >= self.width:
            return 0
        need = 1 - (width / self.width) ** 2
        if self.explained <= need:
            return None
        n = max(ceil(self.worth * need / (self.explained - need)), 1)
        return n if n <= self.n_left else None


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditPosterior(Frozen):
    """Alpha and beta from scores together with judged rows, a past hit rate or ranges.

    Attributes
    ----------
    proportions : MixtureProportions
        Medians of the posterior.
    intervals : mapping of str to Interval
        Of ``"alpha"``, ``"beta"`` and ``"delta"``, which is beta - alpha.
    from_scores : Interval
        Alpha by the scores alone.
    purity : tuple of Interval
        Share of positives among the unlabeled rows of each stratum, from the highest scores down;
        of all unlabeled rows if none was judged.
    n_positive : tuple of Interval
        Numbers of positives among them.
    tail_probability : float
        Probability, by the scores alone, of verdicts, hits or ranges at least as far off, on both
        sides.
    disagreement : float or None
        Probability that the strata differ by more than chance from what one alpha makes of them,
        which labels at random do not do; None where the judged unlabeled rows are of one stratum.
    easier : float or None
        Probability that, of the labeled rows, a larger share lies in the highest stratum than of
        the hidden positives; None in the same case.
    judged : JudgedRows or None
        The verdicts, if there are any.
    ranges : mapping of str to tuple of float
        Ranges that were given, by parameter.
    hits : tuple of int or None
        Positives, and rows followed up, if they were given.
    wider : str
        Why the AUC is less certain than by the scores alone; empty if it is not.
    """

    estimates_beta: ClassVar[bool] = True
    interval_method: ClassVar[str] = "posterior"

    proportions: MixtureProportions
    intervals: Mapping[str, Interval]
    from_scores: Interval
    purity: tuple[Interval, ...]
    n_positive: tuple[Interval, ...]
    tail_probability: float
    disagreement: float | None
    easier: float | None
    judged: JudgedRows | None
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    hits: tuple[int, int] | None = None
    wider: str = ""
    knowledge: Knowledge = field(repr=False)
    _groups: tuple[slice, ...] = field(repr=False)
    """The groups of each stratum."""

    @property
    def alpha(self) -> Interval:
        """The share of positives among the unlabeled."""
        return self.intervals["alpha"]

    @property
    def believed(self) -> MixtureProportions:
        """The proportions."""
        return self.proportions

    @property
    def conflict(self) -> bool:
        """Whether scores and judged rows contradict each other."""
        return self.tail_probability < CONFLICT

    @property
    def doubt(self) -> str:
        """Reason against a common posterior, as a sentence; empty if there is none."""
        if not self.conflict:
            return ""
        what = "what is given" if self.judged is None else "judged rows"
        chance = f"(p = {self.tail_probability:.2g})"
        return f"scores and {what} contradict each other {chance}"

    @property
    def unlike(self) -> str:
        """How hidden positives differ from labeled ones; empty if the strata fit one alpha."""
        if self.disagreement is None or self.easier is None or self.disagreement <= DISAGREE:
            return ""
        how = "lower" if self.easier > 0.5 else "higher"
        return (
            f"strata of the score do not fit one alpha (probability {self.disagreement:.2g}): "
            f"hidden positives score {how} than labeled ones"
        )

    @property
    def if_skipped(self) -> tuple[float, float] | None:
        """Alpha if all rows that judges skipped were negative, and if all were positive.

        None where no unlabeled row was skipped, or none judged.
        """
        if self.judged is None:
            return None
        strata, design = Strata.of(self.judged), self.judged.design
        here = ~design.labeled & (self.judged.verdicts < 0)
        skipped = np.bincount(design.stratum[here], minlength=strata.judged.size)
        if not skipped.any() or not strata.judged.any():
            return None
        low, high = (
            np.average(
                self._posterior.shares[:, 0], weights=(each.clip(_EDGE) ** skipped).prod(axis=1)
            )
            for each in (1 - self.purity_draws, self.purity_draws)
        )
        return float(low), float(high)

    @property
    def _posterior(self) -> Posterior:
        return self.knowledge.posterior()

    @property
    def purity_draws(self) -> FloatArray:
        """Share of positives among the unlabeled rows, by draw and stratum."""
        return np.column_stack([self._posterior.share_positive(each) for each in self._groups])

    def draws(self, n: int) -> FloatArray:
        """Draw alpha and beta from the posterior.

        Parameters
        ----------
        n : int
            Number of rows.

        Returns
        -------
        ndarray of shape (n, 2)
            The draws, the same ones every time.
        """
        return self.knowledge.posterior(n).shares

    def proportions_many(
        self, _counts: ScoreCounts, labeled: CountArray, _unlabeled: CountArray
    ) -> FloatArray:
        """Draw alpha and beta for replicates of the counts, one row each."""
        return self.draws(len(labeled))

    def figure(self, name: str) -> FloatArray:
        """Return draws of a figure: recall and precision are those of unlabeled rows on top."""
        return figure_of(name, self._posterior, self._groups[0])

    def interval(self, *, confidence_level: float) -> dict[str, Interval]:
        """Return the intervals of alpha, beta and delta, as an estimator does."""
        return _intervals(self._posterior.shares, confidence_level)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        if self.judged is None:
            return plain_fields(self, "conflict")
        design, counts = self.judged.design, Strata.of(self.judged)._asdict()
        del counts["cuts"]
        judged = {"cuts": design.cuts, "design": design.kind, "skipped": self.judged.n_skipped}
        return plain_fields(self, "conflict", judged=judged | counts)

    def __str__(self) -> str:
        lines = [] if self.judged is None else self._lines_of(self.judged)
        if self.hits is not None:
            lines.append("{:,} of {:,} rows followed up were positive".format(*self.hits))
        for name, (low, high) in self.ranges.items():
            lines.append(f"{name} lies between {low:g} and {high:g}")
        alone = _in_words(self.from_scores)
        lines.append(f"alpha {_in_words(self.alpha)}; by the scores alone {alone}")
        lines.append(f"beta  {_in_words(self.intervals['beta'])}")
        if self.if_skipped is not None:
            skipped = "alpha is {:.3f} if all rows that were skipped are negative, {:.3f} if all"
            lines.append(f"{skipped} are positive".format(*self.if_skipped))
        if self.wider:
            lines.append(self.wider)
        for each in filter(None, (self.doubt, self.unlike)):
            lines.append(
                f"{each}: labels did not go to positives at random, or "
                f"{'what is given is' if self.judged is None else 'verdicts are'} wrong"
            )
        return "\n".join(lines)

    def _lines_of(self, judged: JudgedRows) -> list[str]:
        strata, design, lines = Strata.of(judged), judged.design, []
        for s, (purity, count) in enumerate(zip(self.purity, self.n_positive, strict=True)):
            if not strata.judged[s]:
                continue
            where = design.where(s)
            found = f"{strata.positive[s]:,} of {strata.judged[s]:,} judged unlabeled rows"
            lines.append(f"{found} with {where} are positive")
            numbers = f"{count.estimate:,.0f} ({count.low:,.0f} to {count.high:,.0f})"
            every = f"  of all {strata.n_unlabeled[s]:,} there: {numbers}"
            lines.append(f"{every}, precision {_in_words(purity)}")
        if (n := strata.labeled_judged.sum()) > 0:
            k = strata.labeled_positive.sum()
            lines.append(f"{k:,} of {n:,} judged labeled rows are positive")
        return lines


def figure_of(name: str, drawn: Posterior, top: slice) -> FloatArray:
    """Return draws of a figure: recall and precision are those of the unlabeled in ``top``."""
    if name == "auc":
        return drawn.areas
    if name in ("alpha", "positives"):
        n_unlabeled = drawn.ratio.counts.n_unlabeled
        return np.asarray(drawn.shares[:, 0] * (n_unlabeled if name == "positives" else 1))
    on_top = drawn.share_positive(top)
    if name == "precision":
        return on_top
    flagged = drawn.unlabeled[:, top].sum(axis=1)
    return np.asarray(on_top * flagged / drawn.shares[:, 0].clip(_EDGE))


def _in_words(interval: Interval) -> str:
    return f"{interval.estimate:.3f} ({interval.low:.3f} to {interval.high:.3f})"


@public
def combine(
    judged: JudgedRows,
    scores: ArrayLike,
    labeled: ArrayLike,
    *,
    estimator: Any = None,
    beta: float | tuple[float, float] | None = None,
    negative_label: Any = None,
    confidence_level: float = 0.95,
    random_state: RandomState = 0,
) -> AuditPosterior:
    r"""Alpha and beta from judged rows and scores, in one posterior.

    Parameters
    ----------
    judged : JudgedRows
        The verdicts: ``draw(scores, labeled).answer(...)``, or ``JudgedRows.from_array(...)``.
    scores, labeled : array-like of shape (n,)
        The data that the rows were drawn from.
    estimator : PriorEstimator or str, optional
        What estimates alpha and beta from the scores; the default one if left out.
    beta : float or pair of floats, optional
        Share of positives among the labeled, or the range it lies in; 1 means clean labels.
    negative_label : object, optional
        The label of rows that are known to be negative, as in :func:`draw`.
    confidence_level : float, default=0.95
        Probability of the intervals.
    random_state : int, numpy.random.Generator or None, default=0
        Where randomness comes from.

    Returns
    -------
    AuditPosterior
        Proportions and intervals; pass it on as ``evaluate(..., proportions=...)``, whose
        intervals then include what is left open.

    Raises
    ------
    ContradictionError
        If no alpha and beta are possible after the verdicts.

    See Also
    --------
    draw : Which rows to judge.
    plan : How many.

    Notes
    -----
    Let :math:`r_i` be the ratio of the shares of labeled and of unlabeled rows in a group of
    scores. Where labels went to positives at random, the shares of positives among the unlabeled
    rows there and of negatives among the labeled ones are

    .. math::

        p_i = \frac{a (r_i - b)}{1 - a b}, \qquad w_i = \frac{b (1/r_i - a)}{1 - a b}, \qquad
        a = \frac{\alpha}{\beta}, \quad b = \frac{1-\beta}{1-\alpha}.

    A draw of alpha and beta from the posterior of the scores, with a draw of the ratios, gets the
    weight :math:`\kappa^k (1-\kappa)^{n-k} \lambda^h (1-\lambda)^{m-h}` if k of n judged unlabeled
    rows of a stratum and h of its m judged labeled rows are positive, with the means
    :math:`\kappa` of :math:`p_i` and :math:`\lambda` of :math:`1 - w_i` over the stratum. One pair
    in twenty is from anywhere that the scores allow, so that verdicts that contradict them win.

    With verdicts on unlabeled rows of two or more strata the log odds of :math:`p_i` are shifted in
    each by a normal :math:`\delta_s \sim N(0, \tau)`, with :math:`\tau = 0` (labels at random) or
    half-Cauchy of scale 0.7, with equal probabilities. Alpha is then the mean of the shifted
    :math:`p_i`, right whatever the labels are like if there are verdicts enough in each stratum,
    and the probability of :math:`\tau > 0` is the ``disagreement``.

    A report asks the same draws.

    The verdicts must be right: judges who take a share e of the negatives for positives make alpha
    too large by up to e. Rows without a verdict count as not drawn; if these are the doubtful ones,
    alpha is wrong.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(2.0).sample(500, 5000, alpha=0.3, random_state=0)
    >>> design = pu.audit.draw(sample.scores, sample.labeled, n=10)
    >>> judged = design.answer(sample.truth[design.rows])
    >>> both = pu.audit.combine(judged, sample.scores, sample.labeled)
    >>> both.alpha.width < both.from_scores.width, 0.3 in both.alpha
    (True, True)
    """
    hint = "draw(scores, labeled).answer(verdicts), or JudgedRows.from_array(..., design='random')"
    valid.check_instance("judged", judged, JudgedRows, hint)
    data = ScoredLabels.read(scores, labeled, negative_label)
    judged.check_data(data)
    given = GivenProportions(beta=beta, estimator=estimator).validated(
        can_estimate=True, can_vary=True
    )
    how: Any = {"confidence_level": confidence_level, "random_state": random_state}
    return posterior_of(data.counts, given, judged, **how)


def posterior_of(
    counts: ScoreCounts,
    given: GivenProportions,
    judged: JudgedRows | None = None,
    *,
    strata: Strata | None = None,
    confidence_level: float = 0.95,
    random_state: RandomState = 0,
) -> AuditPosterior:
    """Return the posterior of alpha and beta given counted scores and all that is known.

    ``given`` has ranges, a past hit rate, a number for beta, or nothing. Without judged rows the
    purities are those of ``strata``, by default of all rows.
    """
    from purecover.estimators.reference import ANYWHERE, with_anywhere

    level = check_level(confidence_level)
    valid.check_random_state(random_state)
    asked, beta = check_estimator(given.estimator), given.known_beta
    if judged is not None:
        strata = Strata.of(judged)
        if not strata.judged.any():
            hint = "fill in the column of verdicts, 'positive' in a drawn file, with yes or no"
            raise valid.bad_value("judged", "rows with a verdict on an unlabeled one", "none", hint)
    elif strata is None:
        strata = Strata.whole(counts)
    hits = None
    if given.hits is not None:
        hits = Strata.above(counts, cut_of_hits(counts, *given.hits, given.hits_from), *given.hits)
    parts = [strata] if hits is None else [strata, hits]
    alone = _LAST.knowledge(asked, counts, beta, [cut for each in parts for cut in each.cuts])
    weighed = alone
    if not hasattr(asked, "know"):
        # What estimators that draw nothing take as sure may be wrong: verdicts must be able to win.
        pool = with_anywhere(alone.pool, counts, beta, np.random.default_rng(SEED), 3 * ANYWHERE)
        weighed = replace(alone, pool=pool)
    # Strata of verdicts and rows that were followed up are asked apart, each with its own groups.
    places = [each.groups(alone.counts) for each in parts]
    verdicts = [
        verdict
        for each, groups in zip(parts, places, strict=True)
        for verdict in each.verdicts(groups)
    ]
    knowledge = _within_ranges(weighed, counts, given)
    if judged is not None or hits is not None:
        knowledge = replace(knowledge, verdicts=verdicts)
    drawn, known = knowledge.posterior(), alone.posterior()
    rng = np.random.default_rng(SEED)
    tails = [_tail_of_range(known, counts, given, name) for name in given.ranges]
    for each, groups in zip(parts, places, strict=True):
        if each.judged.any() or each.labeled_judged.any():
            tails.append(_tail(known, each, groups, rng))
    purity = [drawn.share_positive(each) for each in places[0]]
    # With the random numbers of a report, whose precision is that of these rows too.
    own = np.random.default_rng(SEED)
    positive = [
        found + draw_positives(max(float(n - judged), 0.0), share, 1.0, own)
        for found, judged, n, share in zip(
            strata.positive, strata.judged, strata.n_unlabeled, purity, strict=True
        )
    ]

    interval = partial(interval_of, level=level)
    origin = given.resolve(counts).origin if given.ways else full_name(asked)
    origin += "" if judged is None else " and audit"
    origin += "" if hits is None else " and hits"
    for name, (low, high) in given.ranges.items():
        word = ", beta between" if name == "beta" else f" and {name.replace('_', ' ')} of"
        to = "and" if name == "beta" else "to"
        origin += f"{word} {100 * low:.3g} {to} {100 * high:.3g} %"
    seen = {
        "judged": bool(strata.judged.any()),
        "judged-labeled": bool(strata.labeled_judged.any()),
        "hits": hits is not None,
    }
    basis = [Basis(what) for what, there in seen.items() if there]  # type: ignore[arg-type]
    basis += [Basis(name, low, high) for name, (low, high) in given.ranges.items()]  # type: ignore[arg-type]
    if beta is not None:
        basis.append(Basis("beta", beta, beta))
        origin += ", beta given"
    elif "beta" not in given.ranges and not strata.labeled_judged.any():
        origin += ", beta from the scores"
    disagreement = easier = None
    if np.count_nonzero(strata.judged) > 1:
        disagreement = float((drawn.spread > 0).mean())
        hidden = np.column_stack(purity) * strata.n_unlabeled
        on_top = hidden[:, 0] / np.maximum(hidden.sum(axis=1), _EDGE)
        easier = float((on_top < strata.n_labeled[0] / strata.n_labeled.sum()).mean())
    used = MixtureProportions(
        *middle_of(drawn.shares), origin, given.implied_scenario, tuple(basis)
    )
    intervals = _intervals(drawn.shares, level)
    from_scores, wider = interval(known.shares[:, 0]), ""
    if np.ptp(interval_ends(drawn.areas, level)) > np.ptp(interval_ends(known.areas, level)):
        wider = "The AUC is less certain than by the scores alone: " + (
            "alpha is larger, and the error of the observed AUC is divided by beta - alpha"
            if used.alpha > from_scores.estimate
            else "what is given is not what the scores let expect"
        )
    return AuditPosterior(
        proportions=used,
        intervals=intervals,
        from_scores=from_scores,
        purity=tuple(
            interval(number / max(n, 1))
            for number, n in zip(positive, strata.n_unlabeled.tolist(), strict=True)
        ),
        n_positive=tuple(map(interval, positive)),
        tail_probability=min(1.0, len(tails) * min(tails)) if tails else 1.0,
        disagreement=disagreement,
        easier=easier,
        judged=judged,
        ranges=given.ranges,
        hits=given.hits,
        wider=wider,
        knowledge=knowledge,
        _groups=tuple(places[0]),
    )


def interval_of(values: FloatArray, level: float) -> Interval:
    low, high = interval_ends(values, level)
    return Interval(
        estimate=float(np.median(values)),
        low=low,
        high=high,
        confidence_level=level,
        method="posterior quantiles",
        varied="scores and proportions",
    )


def _intervals(shares: FloatArray, level: float) -> dict[str, Interval]:
    """Return intervals of alpha, beta and beta - alpha."""
    alpha, beta = shares.T
    values = {"alpha": alpha, "beta": beta, "delta": beta - alpha}
    return {name: interval_of(each, level) for name, each in values.items()}


def that_say_something(given: GivenProportions, counts: ScoreCounts) -> GivenProportions:
    """Leave out the ranges that exclude nothing that would count without them, and empty hits.

    What says nothing changes nothing then, to the last digit.
    """
    dropped: dict[str, Any] = {}
    if given.hits is not None and given.hits[1] == 0:
        dropped = {"hits": None, "hits_from": None}
    if given.ranges and not given.ways:
        beta = given.known_beta
        pool = scores_knowledge(check_estimator(given.estimator), counts, beta).pool
        for name, inside in _inside(pool, counts, given).items():
            if inside.all():
                dropped |= {name: None}
        if "label_frequency" in dropped:
            dropped["scenario"] = given.implied_scenario
    return replace(given, **dropped)


def scores_knowledge(estimator: Any, counts: ScoreCounts, beta: float | None) -> Knowledge:
    """Return what the scores alone say, by an estimator; beta may be known.

    An estimator that draws none has replicates, each with an estimate of its own.
    """
    from purecover.estimators.reference import N_POOL
    from purecover.estimators.replicates import proportion_draws
    from purecover.intervals.resampling import resampler_for, thinned_to_draw

    with_clean_labels(estimator, beta)
    if hasattr(estimator, "know"):
        own: Knowledge = estimator.know(counts)
        return own if beta is None else replace(own, pool=with_beta(own.pool, beta))
    estimator.fit(counts)
    found = estimator if beta is None else KnownBeta(estimator, beta)
    rng = np.random.default_rng(SEED)
    draws = proportion_draws(found, resampler_for(counts), N_RESAMPLES, rng)
    n, draws = len(draws), draws[~np.isnan(draws[:, 0])]
    if 2 * len(draws) < n:
        raise ContradictionError(
            "{function} finds no estimate in most replicates of the scores.\n"
            "Hint: the default estimator always has one"
        )
    pool = draws[rng.integers(len(draws), size=N_POOL)]
    return Knowledge.of(thinned_to_draw(counts, N_GROUPS, None), pool)


class _Last:
    """The last answer: a judge asks about the same scores again after each row."""

    def __init__(self) -> None:
        self.kept: tuple[ScoreCounts, str, Knowledge] | None = None

    def knowledge(
        self, estimator: Any, counts: ScoreCounts, beta: float | None, cuts: list[float]
    ) -> Knowledge:
        """Return what the scores alone say, in groups that no cut divides."""
        asked, kept = f"{estimator!r} {beta} {cuts}", self.kept
        if kept is not None and kept[0] is counts and kept[1] == asked:
            return kept[2]
        found = scores_knowledge(estimator, counts, beta)
        if cuts:
            found = Knowledge.of(groups_with(counts, found.counts, cuts), found.pool)
        self.kept = counts, asked, found
        return found


_LAST = _Last()


def _inside(pool: FloatArray, counts: ScoreCounts, given: GivenProportions) -> dict[str, BoolArray]:
    """Return which pairs of alpha and beta lie in each range."""
    return {
        name: (values >= given.ranges[name][0]) & (values <= given.ranges[name][1])
        for name, values in given.implied(counts, pool).items()
    }


def _within_ranges(alone: Knowledge, counts: ScoreCounts, given: GivenProportions) -> Knowledge:
    """Restrict pairs of alpha and beta to the ranges."""
    if not given.ranges:
        return alone
    pool = alone.pool
    if given.ways:  # a number that alpha follows from, with a range of beta
        low, high = given.ranges["beta"]
        rng = np.random.default_rng(SEED)
        beta = pool[:, 1]
        if ((beta >= low) & (beta <= high)).sum() < ENOUGH:
            beta = rng.uniform(low, high, len(pool))
        pool = np.column_stack((given.alpha_at(counts, beta), beta))
    possible = (pool[:, 0] >= 0) & (pool[:, 0] < pool[:, 1])
    pool = np.where(possible[:, None], pool, (0.0, 1.0))
    allowed = np.logical_and.reduce([possible, *_inside(pool, counts, given).values()])
    if allowed.sum() < ENOUGH and not given.ways:
        more = _spread_over(counts, given, pool)
        pool = np.concatenate((pool[allowed], more))
        allowed = np.ones(len(pool), dtype=bool)
    if not allowed.any():
        _refuse_ranges(counts, given)
    return replace(alone, pool=pool, allowed=allowed)


def _spread_over(counts: ScoreCounts, given: GivenProportions, pool: FloatArray) -> FloatArray:
    """Return pairs in the ranges from anywhere that the scores allow."""
    from purecover.estimators.reference import uniform_draws

    rng = np.random.default_rng(SEED)
    pairs = uniform_draws(counts, given.known_beta, 2 * len(pool), rng)
    inside = np.logical_and.reduce(list(_inside(pairs, counts, given).values()))
    return pairs[inside]


def _refuse_ranges(counts: ScoreCounts, given: GivenProportions) -> NoReturn:
    """Say which values the scores allow: those that a report shows."""
    from purecover.estimators.inclusion import allowed_shares

    ends = allowed_shares(counts, 0.95, given.known_beta)
    (_, alpha), (low_beta, beta) = ends["alpha"], ends["beta"]
    corners = np.array([(0.0, beta), (0.0, low_beta), (alpha, beta)])
    said = [
        f"{name} between {values.min():.3g} and {rounded_down(values.max()):g}, not "
        f"between {given.ranges[name][0]:g} and {given.ranges[name][1]:g}"
        for name, values in given.implied(counts, corners).items()
    ]
    raise ContradictionError(
        "{function} finds no alpha and beta in the range: the scores allow "
        f"{', and '.join(said)}.\nHint: check the label column, and whether the range is of "
        "another population"
    )


def cut_of_hits(counts: ScoreCounts, _positive: int, followed: int, where: Any) -> float:
    """Return the score from which on rows were followed up."""
    if isinstance(where, float):
        if not counts.unlabeled[counts.thresholds >= where].sum() > 0:
            must = "a score that an unlabeled row reaches"
            raise valid.bad_value("hits_from", must, f"{where:g}")
        return where
    size = followed if where is None else int(where.removeprefix(TOP))
    if size > counts.n_unlabeled:
        must = f"of at most {counts.n_unlabeled:,.10g} rows, the unlabeled ones"
        raise valid.bad_value("hits" if where is None else "hits_from", must, f"{size:,}")
    return cut_of_top(counts, size)


def _tail_of_range(
    known: Posterior, counts: ScoreCounts, given: GivenProportions, name: str
) -> float:
    """Probability, by the scores alone, that a share lies as far off as its range."""
    low, high = given.ranges[name]
    values = given.implied(counts, known.shares).get(name)
    if values is None:
        return 1.0
    return 2 * float(min((values <= high).mean(), (values >= low).mean()))


def _tail(known: Posterior, strata: Strata, groups: list[slice], rng: np.random.Generator) -> float:
    """Probability of as many positives, or of as few, by the scores alone."""
    sides = []
    for positive, judged, share_of in (
        (strata.positive, strata.judged, known.share_positive),
        (strata.labeled_positive, strata.labeled_judged, known.share_right),
    ):
        if not judged.any():
            continue
        drawn = sum(
            binomial_quantile(rng.random(len(known.shares)), float(n), share_of(where))
            for n, where in zip(judged, groups, strict=True)
            if n
        )
        found = positive.sum()
        sides += [float((drawn <= found).mean()), float((drawn >= found).mean())]
    return min(1.0, len(sides) * min(sides))
