"""The scorer that tells labeled from unlabeled best, chosen by scores of rows it has not seen."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import purecover as pu
from purecover.exceptions import InvalidInputError, InvalidTypeError, PurecoverWarning
from purecover.intervals.paired import rowwise_auc
from purecover.models.best_scorer import _as_numbers, consensus_scores, default_candidates
from purecover.models.tables import read_examples

LINE = LogisticRegression()


class Broken(ClassifierMixin, BaseEstimator):
    """A classifier that cannot be fitted."""

    def fit(self, X: Any, y: Any) -> Any:  # noqa: ARG002
        raise RuntimeError("no luck today")

    def predict_proba(self, X: Any) -> Any:
        raise NotImplementedError


def ring(seed: int, n: int = 900) -> tuple[np.ndarray, np.ndarray]:
    """Positives on a ring around the origin, half of them labeled."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    truth = np.abs(np.hypot(*X.T) - 1.2) < 0.3
    return X, truth & (rng.random(n) < 0.5)


def line(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Positives on one side of a line, half of them labeled."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    truth = X[:, 0] + X[:, 1] + rng.normal(size=n) > 0.5
    return X, truth & (rng.random(n) < 0.5)


def quick(seed: int = 0) -> dict[str, Any]:
    """Unlike kinds of models, simplest first."""
    return {
        "logistic": LINE,
        "networks": pu.models.BaggedNetworks(40, stratify=True, device="cpu", random_state=seed),
        "boosting": HistGradientBoostingClassifier(max_iter=30, random_state=seed),
        "forest": RandomForestClassifier(30, min_samples_leaf=5, random_state=seed),
    }


# -- which one --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["best", "parsimonious"])
def test_a_ring_is_not_for_a_line(rule: Any) -> None:
    X, labeled = ring(0)
    scorer = pu.models.BestScorer(quick(), rule=rule, random_state=0).fit(X, labeled)
    assert scorer.best_name_ in ("networks", "boosting", "forest")
    results = scorer.results_
    assert results["logistic"].auc_pu < 0.6
    assert results[scorer.best_name_].auc_pu > 0.75
    assert results["logistic"].gain < -5 * results["logistic"].gain_error
    if rule == "best":
        assert results[scorer.best_name_].auc_pu == max(r.auc_pu for r in results.values())


@pytest.mark.parametrize("seed", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 2))])
def test_a_line_with_few_rows_is_for_the_simplest(seed: int) -> None:
    X, labeled = line(seed, 150)
    scorer = pu.models.BestScorer(quick(), rule="parsimonious", random_state=0).fit(X, labeled)
    assert scorer.best_name_ == "logistic"


def test_parsimony_depends_on_order_and_level() -> None:
    X, labeled = line(1)
    one, two = LogisticRegression(C=1e-3), KNeighborsClassifier(25)
    first = pu.models.BestScorer({"a": one, "b": two}, rule="parsimonious", random_state=0)
    second = pu.models.BestScorer({"b": two, "a": one}, rule="parsimonious", random_state=0)
    assert first.fit(X, labeled).best_name_ == "a"
    gain, error = first.results_["b"].gain, first.results_["b"].gain_error
    assert abs(gain) < error  # neither is better beyond doubt, so that the order decides
    assert second.fit(X, labeled).best_name_ == "b"
    # At a level of one half every gain counts, and the rule is that of the best.
    for scorer in (first, second):
        scorer.set_params(confidence_level=0.5).fit(X, labeled)
        assert scorer.best_name_ == ("b" if gain > 0 else "a")


def test_default_candidates() -> None:
    """Which they are; the tests below fit them."""
    X, _ = line(2, 60)
    candidates, left_out = default_candidates(X, 7, n_jobs=2)
    assert list(candidates) == ["logistic", "networks", "boosting", "forest"]
    assert candidates["networks"].stratify
    assert candidates["networks"].n_jobs == candidates["forest"].n_jobs == 2
    assert {candidates[name].random_state for name in list(candidates)[1:]} == {7}
    assert list(default_candidates(csr_matrix(X), 7)[0]) == ["logistic", "networks", "forest"]
    assert left_out == {}


# -- scores -----------------------------------------------------------------------------------


def test_scores_are_those_of_rows_not_seen() -> None:
    """A tree knows each row by heart; that must not show."""
    rng = np.random.default_rng(4)
    X, labeled = rng.normal(size=(1000, 4)), rng.random(1000) < 0.4
    tree = DecisionTreeClassifier(random_state=0)
    scorer = pu.models.BestScorer({"tree": tree}, random_state=0).fit(X, labeled)
    assert abs(scorer.results_["tree"].auc_pu - 0.5) < 0.06
    assert rowwise_auc(scorer.predict_proba(X)[:, 1], labeled).auc_pu == 1


def test_networks_are_judged_by_their_own_out_of_bag_scores() -> None:
    X, labeled = line(6)
    networks = pu.models.BaggedNetworks(40, device="cpu", random_state=0)
    scorer = pu.models.BestScorer({"networks": networks}).fit(X, labeled)
    own = clone(networks).fit(X, labeled).oob_score_samples_
    np.testing.assert_array_equal(scorer.oob_score_samples_, own)


def test_ranks_of_the_candidates_serve_to_estimate_alpha(monkeypatch) -> None:
    """They are about those of the same classifiers trained for it, and none is trained again."""
    X, labeled = ring(2)
    examples = read_examples(X, labeled)
    best = pu.models.BestScorer(cv=3, random_state=0).fit(X, labeled)
    anew = consensus_scores(examples, cv=3, seed=0)
    monkeypatch.setattr("purecover.models.cross_fit.cross_fit", None)
    found = consensus_scores(examples, cv=3, seed=0, model=best)
    assert np.corrcoef(found, anew)[0, 1] > 0.95
    areas = [rowwise_auc(scores, labeled).auc_pu for scores in (found, anew)]
    assert areas[0] == pytest.approx(areas[1], abs=0.005)


def test_folds_that_cannot_be_are_no_fault_of_the_candidates() -> None:
    X, labeled = line(19, 100)
    for cv, message in (
        (StratifiedKFold(80), "cannot split"),
        ([(np.arange(50), np.arange(50, 100))], "some rows 0 and others 1 times"),
        ([3], "a list of .train, test. rows"),
    ):
        with pytest.raises((InvalidInputError, InvalidTypeError), match=message) as caught:
            pu.models.BestScorer({"line": LINE}, cv=cv).fit(X, labeled)
        assert str(caught.value).startswith("The 'cv' parameter of BestScorer must be")


def test_groups_are_kept_together() -> None:
    """Each row four times: without groups a neighbor gives its label away."""
    rng = np.random.default_rng(7)
    X, labeled = rng.normal(size=(300, 4)), rng.random(300) < 0.4
    X, labeled, groups = np.repeat(X, 4, axis=0), np.repeat(labeled, 4), np.repeat(range(300), 4)
    candidates = {"neighbor": KNeighborsClassifier(1), "line": LINE}
    apart = pu.models.BestScorer(candidates, random_state=0).fit(X, labeled)
    together = pu.models.BestScorer(candidates, random_state=0).fit(X, labeled, groups=groups)
    assert apart.results_["neighbor"].auc_pu > 0.95
    assert together.results_["neighbor"].auc_pu < 0.6
    # Four copies tell no more than one.
    ratio = together.results_["line"].standard_error / apart.results_["line"].standard_error
    assert ratio == pytest.approx(2, abs=0.3)


# -- DeLong -----------------------------------------------------------------------------------


def test_areas_and_their_errors() -> None:
    rng = np.random.default_rng(8)
    labeled = np.arange(300) < 100
    one = np.round(rng.normal(size=300) + labeled, 1)
    two = np.round(one + rng.normal(size=300), 1)
    areas = [rowwise_auc(scores, labeled) for scores in (one, two)]
    for scores, area in zip((one, two), areas, strict=True):
        counts = pu.ScoreCounts.from_scores(scores, labeled)
        assert area.auc_pu == pytest.approx(pu.recovery.auc_pu(counts))
        assert area.error() ** 2 == pytest.approx(pu.recovery.auc_pu_variance(counts))
    # A slow twin: all pairs, and the variance of their means over rows.
    above = [
        (s[labeled][:, None] > s[~labeled]) + 0.5 * (s[labeled][:, None] == s[~labeled])
        for s in (one, two)
    ]
    d = above[0] - above[1]
    variance = d.mean(axis=1).var(ddof=1) / 100 + d.mean(axis=0).var(ddof=1) / 200
    gain, error = areas[0].gain_over(areas[1])
    assert gain == pytest.approx(d.mean())
    assert error == pytest.approx(np.sqrt(variance))
    # Rows in groups of their own are rows.
    assert areas[0].error(np.arange(300)) == pytest.approx(areas[0].error(), rel=0.01)
    assert areas[0].gain_over(areas[0]) == (0, 0)


# -- candidates that fail ---------------------------------------------------------------------


def test_a_missing_date_is_missing() -> None:
    pd = pytest.importorskip("pandas")
    dates = pd.to_datetime(["2020-01-01", None, "2021-06-01"])
    made = _as_numbers(pd.DataFrame({"when": dates, "x": [1.0, 2.0, 3.0]}))
    assert np.isnan(made).tolist() == [[False, False], [True, False], [False, False]]
    assert made[0, 0] < made[2, 0]


def test_a_broken_candidate_is_left_out() -> None:
    X, labeled = line(10)
    with pytest.warns(PurecoverWarning, match="leaves out the candidate 'broken'.*no luck today"):
        scorer = pu.models.BestScorer({"broken": Broken(), "line": LINE}).fit(X, labeled)
    assert scorer.best_name_ == "line"
    row = scorer.results_["broken"]
    assert row.error == "RuntimeError: no luck today"
    assert np.isnan(row.auc_pu)


def test_all_candidates_broken() -> None:
    X, labeled = line(11)
    with pytest.raises(
        InvalidInputError, match=r"(?s)no candidate.*one: .*no luck.*two: "
    ) as caught:
        pu.models.BestScorer({"one": Broken(), "two": Broken()}).fit(X, labeled)
    assert "BestScorer.fit" in str(caught.value)


# -- scikit-learn -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "scorer",
    [
        pu.models.BestScorer({"line": LINE, "neighbors": KNeighborsClassifier(3)}, cv=3),
        pu.models.NearestLabeled(),
    ],
    ids=lambda scorer: type(scorer).__name__,
)
def test_scikit_learn_conventions(scorer: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = check_estimator(scorer, on_fail=None)
    failed = {c["check_name"]: c["exception"] for c in checks if c["status"] == "failed"}
    assert failed == {}
    assert sum(c["status"] == "passed" for c in checks) > 45


@pytest.mark.parametrize(("no", "yes"), [(False, True), (-1, 1), ("unlabeled", "case")])
@pytest.mark.parametrize("model", [LINE, KNeighborsClassifier(9)], ids=["line", "neighbors"])
def test_classes(model: Any, no: Any, yes: Any) -> None:
    X, labeled = line(12)
    scorer = pu.models.BestScorer({"one": model}, random_state=0).fit(X, np.where(labeled, yes, no))
    expected = clone(model).fit(X, labeled)
    column = scorer.classes_.tolist().index(yes)
    assert scorer.labeled_class_ == yes
    np.testing.assert_array_equal(
        scorer.predict_proba(X)[:, column], expected.predict_proba(X)[:, 1]
    )
    np.testing.assert_array_equal(scorer.predict(X) == yes, expected.predict(X))
    np.testing.assert_array_equal(
        scorer.decision_function(X) > 0, scorer.predict(X) == scorer.classes_[1]
    )


def test_a_winner_without_probabilities() -> None:
    X, labeled = line(13)
    scorer = pu.models.BestScorer({"svm": LinearSVC()}, random_state=0)
    assert not hasattr(scorer, "predict_proba")
    scorer.fit(X, labeled)
    assert not hasattr(scorer, "predict_proba")
    expected = scorer.best_estimator_.decision_function(X)
    np.testing.assert_array_equal(scorer.decision_function(X), expected)
    assert hasattr(pu.models.BestScorer(), "predict_proba")


# -- complaints -------------------------------------------------------------------------------


def test_wrong_data() -> None:
    X, labeled = line(17, 100)
    scorer = pu.models.BestScorer({"line": LINE})
    for data, message in (
        ((X, None), "requires y"),
        ((X, labeled[:-1]), "as long as X has rows"),
        ((X, np.zeros(100)), "got one class"),
        ((X[:, 0], labeled), "Reshape your data"),
    ):
        with pytest.raises((InvalidInputError, InvalidTypeError), match=message):
            scorer.fit(*data)
    with pytest.raises(InvalidInputError, match="as long as X has rows"):
        scorer.fit(X, labeled, groups=[1, 2])
    with pytest.raises(NotFittedError):
        scorer.predict(X)
    with pytest.raises(ValueError, match="5 features"):
        scorer.fit(X, labeled).predict(X[:, :2])


@pytest.mark.slow
def test_networks_are_left_out_of_wide_sparse_tables() -> None:
    X, labeled = line(2, 60)
    wide = hstack([csr_matrix(X), csr_matrix((60, 600))]).tocsr()
    scorer = pu.models.BestScorer(random_state=0, cv=2).fit(wide, labeled)
    assert list(scorer.results_) == ["logistic", "forest", "networks"]
    assert "605 sparse columns" in (scorer.results_["networks"].error or "")
    assert scorer.best_name_ in ("logistic", "forest")
    assert scorer.frame()["error"][2].startswith("left out: ")


def test_tables_copies_and_pickles() -> None:
    pytest.importorskip("polars")
    X, labeled = line(14)
    candidates = {"line": LINE, "neighbors": KNeighborsClassifier(25)}
    scorer = pu.models.BestScorer(candidates, random_state=0).fit(X, labeled)
    table = scorer.frame()
    assert table["name"].tolist() == list(candidates)
    assert table["chosen"].sum() == 1
    assert (table["gain"] <= 0).all()
    assert (table["seconds"] > 0).all()
    assert scorer.frame("polars").shape == (2, 8)
    again = pickle.loads(pickle.dumps(scorer))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.decision_function(X), scorer.decision_function(X))
    assert again.results_ == scorer.results_
    with pytest.raises(TypeError, match="read-only"):
        scorer.results_["line"] = None
    fresh = clone(scorer).set_params(rule="parsimonious")
    assert fresh.fit(X, labeled).best_name_ == "line"


# -- distance to the labeled alone ------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_distance_to_the_nearest_labeled(k: int, sparse: bool) -> None:
    X, labeled = line(3)
    new = line(4)[0]
    units = np.array([1, 1000, 1e-6, 1, 0])  # the last column says nothing
    model = pu.models.NearestLabeled(k).fit(csr_matrix(X * units) if sparse else X * units, labeled)
    far = np.sort(mahalanobis(X[:, :4], labeled, new[:, :4]))[:, :k].mean(axis=1)
    np.testing.assert_allclose(model.score_samples(new * units), -far, rtol=1e-6)


def mahalanobis(X: Any, labeled: Any, new: Any) -> Any:
    """Distances of new rows to all labeled ones."""
    z = StandardScaler().fit(X)
    kept = z.transform(X[labeled])
    inverse = np.linalg.inv(LedoitWolf().fit(kept).covariance_)
    apart = z.transform(new)[:, None] - kept
    return np.sqrt(np.einsum("ijk,kl,ijl->ij", apart, inverse, apart))


@pytest.mark.parametrize(("no", "yes"), [(0, 1), ("unlabeled", "case")])
def test_as_near_as_labeled_rows_are(no: Any, yes: Any) -> None:
    X, labeled = line(3)
    model = pu.models.NearestLabeled().fit(X, np.where(labeled, yes, no))
    said = model.predict(X[~labeled] + 100)
    assert set(said.tolist()) == {no}
    others = np.sort(mahalanobis(X, labeled, X[labeled]))[:, 1]
    near = mahalanobis(X, labeled, X[~labeled]).min(axis=1)
    expected = near < np.quantile(others, 0.95)
    np.testing.assert_array_equal(model.predict(X[~labeled]) == yes, expected)


def test_positives_close_together_give_a_purer_top() -> None:
    rng = np.random.default_rng(1)
    labeled = np.arange(4000) < 800
    positive = labeled | (rng.random(4000) < 0.3)
    X = rng.normal(size=(4000, 10)) * np.where(positive, 0.5, 1.0)[:, None]
    best = {}
    for model in (LINE, pu.models.NearestLabeled()):
        scores = pu.cross_fit_scores(model, X, labeled, random_state=0)
        top = np.argsort(-np.where(labeled, -np.inf, scores))[:100]
        best[type(model).__name__] = positive[top].mean()
    assert best["NearestLabeled"] > 0.95
    assert best["LogisticRegression"] < 0.5


def test_labeled_rows_that_are_all_alike() -> None:
    X = np.array([[1.0, 2.0]] * 30 + [[1.0, 2.5]] * 30 + [[4.0, -3.0]] * 40)
    scores = pu.cross_fit_scores(pu.models.NearestLabeled(), X, np.arange(100) < 30, random_state=0)
    assert min(scores[:30]) > max(scores[30:60])
    assert min(scores[30:60]) > max(scores[60:])


def test_as_many_neighbors_as_labeled_rows() -> None:
    X, labeled = line(0, 60)
    n = int(labeled.sum())
    with pytest.raises(InvalidInputError, match=f"less than the number of labeled rows, {n}"):
        pu.models.NearestLabeled(n).fit(X, labeled)
    with pytest.raises(InvalidInputError, match="'n_neighbors' parameter of NearestLabeled"):
        pu.models.NearestLabeled(0).fit(X, labeled)
    with pytest.raises(InvalidInputError, match="at most 5,000 columns, got 5,001"):
        pu.models.NearestLabeled().fit(np.zeros((60, 5001)), labeled)
