"""The saved form of a report and of a comparison.

Within one version of a schema fields may be added, with what is meant where they are absent; one
that changes its meaning or goes away makes a new version.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from purecover._typing import AreaRule, FloatArray, OrNan, Repair
from purecover.checks.base import CheckResult
from purecover.counts import ScoreCounts
from purecover.estimators.estimate import PriorEstimate
from purecover.intervals.interval import Interval, Varied
from purecover.proportions import MixtureProportions
from purecover.recovery.bounds import BinningBounds
from purecover.recovery.metrics import RecoveredConfusion
from purecover.report.prices import Price

Share = Annotated[float, Meta(ge=0, le=1)]
Level = Annotated[float, Meta(gt=0, lt=1)]
Whole = Annotated[int, Meta(ge=0)]
Mass = Annotated[float, Meta(ge=0)]
Pair = tuple[float, float]


class SavedOptions(Struct, kw_only=True):
    """Parameters that some metrics take.

    Attributes
    ----------
    f_beta : float
        Weight of recall in f_beta.
    cost_fn : float
        Cost of a missed positive.
    cost_fp : float
        Cost of a false alarm.
    max_fpr : float
        Range of partial_auc.
    top_k : int or None
        How many of the highest unlabeled scores precision_at_k and recall_at_k look at.
    probabilities : bool
        Whether scores are probabilities of the true class, which have metrics of their own.
    threshold_probability : float
        Probability from which on net_benefit flags.
    """

    f_beta: float
    cost_fn: float
    cost_fp: float
    max_fpr: float
    top_k: int | None
    probabilities: bool = False
    threshold_probability: float = 0.5


class SavedMetrics(Struct, kw_only=True):
    """All metrics by name, null where undefined.

    Attributes
    ----------
    threshold : float
        Where threshold metrics are taken: positive is a score of at least this.
    prior : float
        Share of positives in the population that precision and the like are for.
    repair : str
        The repair of the rates.
    recovered : dict
        Against the true classes.
    observed : dict
        As if every unlabeled row were negative.
    """

    threshold: float
    prior: Share
    repair: Repair
    recovered: dict[str, OrNan]
    observed: dict[str, OrNan]


class SavedEnds(Struct):
    """Both ends of a band at each x.

    Attributes
    ----------
    low, high : list
        Lower and upper end; null where undefined.
    """

    low: FloatArray
    high: FloatArray


class SavedBand(Struct):
    """Bands around a curve.

    Attributes
    ----------
    x : list
        False-positive rate (ROC) or recall (precision-recall).
    estimate : list
        The curve itself; null where undefined.
    pointwise : object
        The level holds at each x.
    simultaneous : object
        The level holds for the whole curve at once.
    """

    x: FloatArray
    estimate: FloatArray
    pointwise: SavedEnds
    simultaneous: SavedEnds


class SavedBootstrap(Struct, kw_only=True):
    """Saved form of the bootstrap replicates.

    Attributes
    ----------
    n_resamples : int
        How many there were.
    n_rejected : int
        Draws left out because they allow no estimate.
    confidence_level : float
        Nominal coverage of intervals and bands.
    method : str
        How they were drawn.
    varied : str
        What was taken as uncertain.
    optimism : list or None
        What the observed true- and false-positive rate at the threshold owe to its choice on the
        same data, subtracted from all metrics there; null for a threshold that was given.
    roc_band : object
        Bands of the ROC curve.
    pr_band : object
        Bands of the precision-recall curve.
    """

    n_resamples: Whole
    n_rejected: Whole
    confidence_level: Level
    method: str
    varied: Varied
    roc_band: SavedBand
    pr_band: SavedBand
    optimism: Pair | None = None


class SavedTrueRoc(Struct):
    """The true ROC curve.

    Attributes
    ----------
    fpr, tpr : list
        False-positive and true-positive rates.
    thresholds : list
        The scores at which they are taken; the first is null: nothing reaches it.
    """

    fpr: FloatArray
    tpr: FloatArray
    thresholds: FloatArray


class SavedTruth(Struct, kw_only=True):
    """True metrics, if the truth was given.

    Attributes
    ----------
    alpha, beta : float
        True shares of positives among the unlabeled and the labeled.
    prior : float
        True prior of the target.
    metrics : dict
        True values of the metrics; null where undefined.
    roc : object
        The true ROC curve; null if counts were left out.
    """

    alpha: Share
    beta: Share
    prior: Share
    metrics: dict[str, OrNan]
    roc: SavedTrueRoc | None


class SavedReport(Struct, kw_only=True):
    """Document that PUReport.to_json writes and PUReport.from_json reads.

    Attributes
    ----------
    schema : str
        Name and version of this schema.
    version : str
        Version of purecover that wrote the document.
    n_labeled : float
        Labeled rows, or the sum of their weights.
    n_unlabeled : float
        Unlabeled rows, or the sum of their weights.
    n_negative : float
        Known negatives, or the sum of their weights.
    n_thresholds : int
        Distinct scores, or bins of neighboring ones where there is a field binning.
    scores_from : str or None
        How the scores were made, if purecover made them.
    proportions : object
        Alpha and beta as used.
    estimation : object or None
        How alpha and beta were estimated; null if they were given.
    auc : float or None
        The recovered AUC: the direct value, clipped to [0, 1]; null where contradicted is true.
    auc_direct : float
        The direct value before clipping.
    infeasible : bool
        Whether it leaves [0, 1], and no interval of an estimate allows less: alpha and beta do not
        fit the scores.
    contradicted : bool
        Whether it does so by more than chance explains. All that depends on alpha and beta is null
        then: areas, recovered metrics, bands and expected numbers.
    auc_pu : float
        The observed AUC, labeled against unlabeled.
    auc_repaired : float or None
        Area under the repaired ROC curve; null where contradicted is true.
    repair : str
        The repair of the ROC curve.
    repair_requested : str
        The repair asked for; differs from repair if a concave curve was asked for and the data
        are not concave.
    repair_pr : str
        The repair of the precision-recall curve.
    area : str
        How the area under the precision-recall curve is taken.
    threshold_chosen : bool
        Whether the caller named the threshold; the best Youden index otherwise.
    options : object
        Parameters that some metrics take.
    random_state : int or None
        The seed; null if there was none.
    metrics : object
        All metrics, recovered and observed.
    confusion : object
        Expected numbers among the unlabeled at the threshold.
    intervals : dict
        Intervals by metric, and of alpha and beta where they are uncertain.
    checks : list
        All numbered checks, with a finding or without.
    review : int or None
        How many unlabeled rows the threshold was to flag; null if the caller did not say.
    prices : list
        What the interval of the AUC would be with more knowledge, where alpha is estimated.
    hardly_known : list
        Metrics, and numbers of confusion, whose intervals are too wide for a value: text and pages
        show a dash.
    at_least : dict
        Values that metrics of all positives should have at least, if the caller named some.
    bootstrap : object or None
        What is kept of the replicates; null if there were none.
    truth : object or None
        True metrics; null if the truth was not given.
    counts : object or None
        The counted scores, from which curves are made; null if they were left out.
    binning : object
        Bounds of areas of the exact scores, where an engine counted them in bins; absent
        otherwise.
    source : object
        Where the command line read the data.
    checksum : str
        SHA-256 of all other fields as JSON with sorted keys and no blanks; absent in what 0.1.0
        wrote, and in plain data.
    """

    schema: Literal["purecover.report/1"]
    version: str
    n_labeled: Mass
    n_unlabeled: Mass
    n_negative: Mass
    n_thresholds: Whole
    scores_from: str | None
    proportions: MixtureProportions
    estimation: PriorEstimate | None
    auc: Share | None
    auc_direct: float
    infeasible: bool
    auc_pu: Share
    auc_repaired: float | None
    repair: Repair
    repair_requested: Repair
    repair_pr: Repair
    area: AreaRule
    threshold_chosen: bool
    options: SavedOptions
    random_state: Whole | None
    metrics: SavedMetrics
    confusion: RecoveredConfusion
    intervals: dict[str, Interval]
    checks: tuple[CheckResult, ...]
    bootstrap: SavedBootstrap | None
    truth: SavedTruth | None
    counts: ScoreCounts | None
    review: Whole | None = None
    prices: tuple[Price, ...] = ()
    hardly_known: tuple[str, ...] = ()
    at_least: dict[str, Share] = {}
    contradicted: bool = False
    binning: BinningBounds | UnsetType = UNSET
    source: dict[str, Any] | UnsetType = UNSET
    checksum: str | UnsetType = UNSET


class SavedComparison(Struct, kw_only=True):
    """Document that ScoreComparison.to_json writes and ScoreComparison.from_json reads.

    Attributes
    ----------
    schema : str
        Name and version of this schema.
    version : str
        Version of purecover that wrote the document.
    scores : list
        Names of the scores, in order.
    baseline : str
        The score that the others are compared with.
    estimated_from : str or None
        The score that alpha and beta were estimated from; null if they were given.
    confidence_level : float
        Nominal coverage of each interval.
    simultaneous : bool
        Whether the intervals of the differences in one metric hold all at once.
    n_resamples : int
        Number of replicates.
    random_state : int or None
        The seed; null if there was none.
    proportions : object
        Alpha and beta, the same for all.
    differences : dict
        By metric and score: the recovered value minus that of the baseline.
    better : dict
        By metric and score: the share of replicates in which it is better than the baseline.
    reports : dict
        The report of each score.
    checksum : str
        SHA-256 of all other fields as JSON with sorted keys and no blanks; absent in what 0.1.0
        wrote, and in plain data.
    """

    schema: Literal["purecover.comparison/1"]
    version: str
    scores: Annotated[list[str], Meta(min_length=2)]
    baseline: str
    estimated_from: str | None
    confidence_level: Level
    simultaneous: bool
    n_resamples: Whole
    random_state: Whole | None
    proportions: MixtureProportions
    differences: dict[str, dict[str, Interval]]
    better: dict[str, dict[str, OrNan]]
    reports: dict[str, SavedReport]
    checksum: str | UnsetType = UNSET
