"""One grammar for complaints: which parameter of which function, what it must be, what it got."""

from __future__ import annotations

import inspect
import pickle
import re
from importlib import resources

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from tests.public_names import public_names
from tests.strategies import Unfriendly
from tests.test_displays import CASES as DISPLAYS

import purecover as pu
from purecover import _progress, exceptions
from purecover._validation import bad_value, check_integer, check_real, public, require, show

COUNTS = pu.ScoreCounts.from_scores([5, 4, 3, 2, 1, 0], [1, 1, 0, 1, 0, 0])
PROPORTIONS = pu.MixtureProportions(0.2, 0.9)
BOTH = {"counts": COUNTS, "proportions": PROPORTIONS}
PROBABLE = {
    "counts": pu.ScoreCounts.from_scores([0.9, 0.8, 0.6, 0.4, 0.2, 0.1], [1, 1, 0, 1, 0, 0]),
    "proportions": PROPORTIONS,
}
ROWS = {"scores": [5, 4, 3, 2, 1, 0], "labeled": [1, 1, 0, 1, 0, 0]}
JUDGED = pu.audit.draw(**ROWS, n=2, design="random").answer([True, False])
CONTEXT = pu.checks.CheckContext(**BOTH, roc=pu.recover_roc(**BOTH))
COMPARISON = pu.compare_priors(COUNTS, estimators=["bbe"], n_resamples=0)
REPORT = pu.evaluate(COUNTS, proportions=PROPORTIONS, n_resamples=0)
TWO_SCORES = {
    "data": {"one": ROWS["scores"], "other": [5, 3, 4, 2, 1, 0]},
    "labeled": ROWS["labeled"],
    "alpha": 0.2,
}
SCORED = pu.compare_scores(**TWO_SCORES, n_resamples=0)
FOUND = pu.intervals.evidence_thresholds(**BOTH, n_resamples=5, random_state=0)
MODEL = {
    "estimator": LogisticRegression(),
    "X": [[5.0], [4.0], [3.0], [2.0], [1.0], [0.0]] * 2,
    "labeled": [1, 1, 0, 1, 0, 0] * 2,
    "cv": 2,
}

# For each public function, arguments that it takes.
VALID = {
    "auc_from_pu": {"auc": 0.6, "proportions": PROPORTIONS},
    "auc_identification_interval": {"auc": 0.6, "unlabeled_inclusion": 0.2},
    "auc_interval": BOTH,
    "auc_pu": {"counts": COUNTS},
    "auc_pu_variance": {"counts": COUNTS},
    "auc_to_pu": {"auc": 0.6, "proportions": PROPORTIONS},
    "binning_bounds": BOTH,
    "bootstrap": {**BOTH, "n_resamples": 5, "random_state": 0},
    "calibration_test": PROBABLE,
    "curve_band": {**PROBABLE, "curve": "decision", "n_resamples": 5, "random_state": 0},
    "choose_threshold": {**BOTH, "criterion": "recall", "value": 0.5},
    "clean_test": ROWS,
    "combine": {"judged": JUDGED, **ROWS, "beta": 1.0},
    "compare_priors": {**ROWS, "estimators": ["bbe"], "n_resamples": 0},
    "compare_scores": {**TWO_SCORES, "n_resamples": 5},
    "correct_posterior": {
        "posterior_pu": [0.2, 0.3],
        "labeled_share": 0.3,
        "proportions": PROPORTIONS,
    },
    "cross_fit_scores": MODEL,
    "error_rates": {**ROWS, "n_resamples": 5},
    "evidence_constant": {"prior": 0.1},
    "evidence_page": {"found": FOUND},
    "evidence_thresholds": {**BOTH, "n_resamples": 5, "random_state": 0},
    "evaluate": {**ROWS, "alpha": 0.2, "n_resamples": 5},
    "evaluate_many": {
        "data": {"s": ROWS["scores"], "y": ROWS["labeled"]},
        "labeled": "y",
        "alpha": 0.2,
        "min_rows": 2,
        "n_resamples": 5,
    },
    "evaluate_model": {**MODEL, "alpha": 0.2, "n_resamples": 5},
    "group_resampler": {**ROWS, "groups": [1, 1, 2, 2, 3, 3]},
    "inclusion_bound": ROWS,
    "list_checks": {},
    "load_example": {},
    "make_pu_scorer": {"metric": "roc_auc", "alpha": 0.2},
    "observe_rates": {"tpr": 0.5, "fpr": 0.2, "proportions": PROPORTIONS},
    "plan": {"width": 0.3},
    "posterior_band": {"labeled_share": 0.2, "proportions": PROPORTIONS},
    "prior_estimators": {},
    "pu_roc_curve": {"counts": COUNTS},
    "recover_auc": {**BOTH, "clip": False},
    "recover_bounds": {"counts": COUNTS, "alpha_range": (0.1, 0.3)},
    "recover_confusion": {**BOTH, "threshold": 2.0},
    "recover_metric_curves": BOTH,
    "recover_calibration": PROBABLE,
    "recover_decision_curve": PROBABLE,
    "recover_hidden": {**BOTH, "theta": 0.6},
    "judge": {"frame": ROWS, "score": "scores", "labeled": "labeled", "threshold": 1.0},
    "judge_hidden": {"counts": COUNTS, "cuts": 2.0, "n_positive": [2, 1], "n_audited": [3, 3]},
    "recover_mean": {**BOTH, "f": [1.0, 0.5, 0.2, 0.1, 0.0, 0.3]},
    "recover_metrics": BOTH,
    "recover_pr": BOTH,
    "recover_rates": {"tpr_pu": 0.5, "fpr_pu": 0.2, "proportions": PROPORTIONS},
    "recover_roc": BOTH,
    "register_prior_estimator": {"name": "my-own"},
    "run_checks": {"context": CONTEXT},
    "scan_files": {"paths": str(resources.files("purecover") / "data" / "example_scores.csv")},
    "scar_test": {
        "X": [[5.0], [4.0], [3.0], [2.0], [1.0], [0.0]] * 40,
        "labeled": [1, 1, 0, 1, 0, 0] * 40,
        "scores": [5.0, 4.0, 3.0, 2.0, 1.0, 0.0] * 40,
        "alpha": 0.2,
        "n_permutations": 20,
    },
    "draw": {**ROWS, "n": 1, "design": "random"},
    "sensitivity": {"counts": COUNTS, "metric": "precision", "alphas": [0.1], "threshold": 2.0},
    "simulate.beta": {},
    "simulate.binormal": {},
    "simulate.histogram": {"positive_mass": [0.2, 0.8], "negative_mass": [0.8, 0.2]},
    "simulate.laplace": {},
    "tipping_theta": {**BOTH, "metric": "auc", "at_least": 0.7},
    "count_by_two_sources": {
        "first": [1, 1, 0, 1, 0, 0],
        "second": [1, 0, 1, 0, 0, 0],
        "scores": [6, 5, 4, 3, 2, 1],
    },
    "compare_label_kinds": {
        "kinds": ["a", "a", "b", "b"],
        "labeled": [1, 0, 1, 0],
        "found": [0, 1, 0, 0],
        "strata": [0, 0, 0, 0],
    },
    "compare_label_dates": {**ROWS, "dates": [3, 1, 2, 2, 0, 0]},
    "ScoreCounts.from_scores": ROWS,
    "ScoreCounts.from_frame": {"frame": ROWS, "score": "scores", "labeled": "labeled"},
    "ScoreCounts.from_counts": {"thresholds": [2, 1], "labeled": [1, 0], "unlabeled": [1, 1]},
    "ScoreCounts.from_dict": {"data": COUNTS.to_dict()},
    "PUReport.from_dict": {"data": REPORT.to_dict()},
    "PUReport.from_json": {"text": REPORT.to_json()},
    "ScoreComparison.from_dict": {"data": SCORED.to_dict(counts=True)},
    "ScoreComparison.from_json": {"text": SCORED.to_json(counts=True)},
    "ScoreMonitor": {"alpha": 0.2},
    "Settings": {},
    "MixtureProportions": {"alpha": 0.2},
    "MixtureProportions.from_case_control": {"prior": 0.2},
    "MixtureProportions.from_censoring": {"counts": COUNTS, "prior": 0.6},
    "MixtureProportions.from_inclusions": {"unlabeled_inclusion": 0.2},
    "PriorsDisplay": {"comparison": COMPARISON},
    "EvidenceDisplay": {"evidence": FOUND},
    "CalibrationDisplay": {"curve": pu.recovery.recover_calibration(**PROBABLE)},
    "DecisionCurveDisplay": {"curve": pu.recovery.recover_decision_curve(**PROBABLE)},
    **{case.cls.__name__: {case.parameter: case.result} for case in DISPLAYS.values()},
}

# What no parameter takes, unless WRONG or FREE says otherwise.
NEVER = {
    "an object": object(),
    "a word": "nonsense",
    "nan": float("nan"),
    "a complex number": 1j,
    "a bad array": np.array([np.nan, 2.0]),
    "a function": len,
}
WRONG = {
    "metrics": {"an object": object(), "a number": 3, "a word": "nonsense", "words": ["nonsense"]},
    "data": {"an object": object(), "a word": "nonsense", "a dict": {"a": 1}},
    "n_resamples": {**NEVER, "a negative": -1, "a float": 2.5, "a truth value": True},
    "progress": {"an object": object(), "a word": "nonsense", "a number": 3},
    "random_state": {**NEVER, "a negative": -1, "a float": 2.5},
    "top_k": {**NEVER, "zero": 0, "more than all": 10**9, "a float": 2.5},
    "alpha": {**NEVER, "a negative": -0.1, "above 1": 1.1, "a truth value": True},
    "beta": {**NEVER, "a negative": -0.1, "above 1": 1.1, "nothing": None},
    "prior": {**NEVER, "a negative": -0.1, "above 1": 1.1},
    "auc": {**NEVER, "a negative": -0.1, "above 1": 1.1, "huge": 10**400, "nothing": None},
    "confidence_level": {**NEVER, "zero": 0, "one": 1, "percent": 95, "nothing": None},
    "max_fpr": {**NEVER, "zero": 0, "above 1": 1.1},
    "labeled_share": {**NEVER, "zero": 0, "one": 1},
    "f_beta": {**NEVER, "a negative": -1},
    "cost_fn": {**NEVER, "a negative": -1},
    "cost_fp": {**NEVER, "a negative": -1},
    "threshold": {**NEVER, "infinite": float("inf")},
    "counts": {**NEVER, "scores": [1.0, 2.0]},
    "proportions": {**NEVER, "a pair": (0.2, 0.9)},
    "scores": {**NEVER, "nothing": None, "empty": [], "wide": np.zeros((6, 2))},
    "labeled": {**NEVER, "too short": [1], "constant": [1] * 6, "three": [1, 0, 2] * 2},
    "sample_weight": {**NEVER, "a negative": [-1] * 6, "too short": [1], "zero": [0] * 6},
    "groups": {"an object": object(), "a word": "nonsense", "too short": [1, 2], "one": [1] * 6},
    "truth": {**NEVER, "too short": [1, 0], "three values": [1, 0, 2] * 2},
    "tpr_pu": {**NEVER, "a negative": -0.1, "above 1": [0.5, 1.1]},
    "posterior_pu": {**NEVER, "a negative": -0.1, "above 1": [0.5, 1.1]},
}  # fmt: skip

# Parameters that take anything, or whose wrong values belong to the tests of their class.
FREE = {
    "MixtureProportions.from_censoring.labeled_share": "given beside counts, another complaint",
    "MixtureProportions.from_censoring.label_frequency": "given beside a prior, another complaint",
    "evaluate.score": "given beside an array, which the complaint is then about",
    "evidence_page.path": "NEVER holds a string, which it takes",
    "evidence_page.title": "as above",
    "judge.file": "as above",
    "judge.judge": "as above",
    "make_pu_scorer.positive_label": "not to be judged before there are data",
    "Settings.positive_label": "as above",
    "Settings.negative_label": "as above",
    "Settings.estimator": "found by its name when it is needed",
}
# Given beside alpha, another complaint.
BESIDE_ALPHA = {"prior", "label_frequency", "proportions"}
# Anything true or false will do, or any string, or is for the test of a display.
FREE_EVERYWHERE = {
    "clip", "curves", "concavity_guard", "name", "band", "mark",
    "choice", "against", "origin",
}  # fmt: skip


# Not to be known before there are data.
LATER = {
    "make_pu_scorer-top_k-more than all",
    "Settings-top_k-more than all",
    "evaluate_many-data-a dict",  # which lacks the column of labels, and that is said
}
# Names of worlds keep their namespace: `beta` alone would mean a share.
NAMES = {
    name if name.startswith("simulate.") else name.rpartition(".")[2]: value
    for name, value in public_names().items()
}


def find(name):
    if name in NAMES:
        return NAMES[name]
    thing, _, rest = name.partition(".")
    return getattr(NAMES[thing], rest)


def wrong_arguments(name):
    """Parameter, what is wrong with the value, and the value."""
    free = FREE_EVERYWHERE | (BESIDE_ALPHA if "alpha" in VALID[name] else set())
    for parameter, declared in inspect.signature(find(name)).parameters.items():
        if parameter in free or f"{name}.{parameter}" in FREE:
            continue
        for what, value in WRONG.get(parameter, NEVER).items():
            unsaid = value is None and declared.default is None
            if not unsaid and f"{name}-{parameter}-{what}" not in LATER:
                yield parameter, what, value


PUBLIC = (
    set(NAMES)
    | set(VALID)
    | {name.partition(".")[2] for name in VALID if name.startswith("simulate.")}
    | {"MixtureProportions.prior"}
)


def test_every_public_function_is_tried():
    functions = {
        name
        for name, value in NAMES.items()
        if inspect.isfunction(value) or name.endswith("Display")
    }
    # `parameter` declares what estimators check, and is tried with each of them.
    assert functions - {"parameter"} <= set(VALID)


def may_take_long(name):
    """Whether a function counts rows or repeats something."""
    parameters = inspect.signature(find(name)).parameters.keys()
    return bool(parameters & {"scores", "frame", "data", "progress", "n_resamples"}) and not (
        name.endswith((".from_dict", "Display", "Page")) or name in QUICK
    )


QUICK = {"ScoreMonitor", "Settings", "compare_label_dates", "count_by_two_sources",
         "group_resampler", "judge"}  # fmt: skip
"""Nothing is computed yet, or a fourth of a second on a million rows."""


@pytest.mark.parametrize("name", list(filter(may_take_long, VALID)))
def test_what_may_take_long_shows_a_bar(name, monkeypatch):
    shown = []

    class AtOnce:
        def __init__(self, _, call):
            self.start, self.cancel, self.join = call, bool, bool

    monkeypatch.setattr(_progress, "_watched", lambda: True)
    monkeypatch.setattr(_progress, "Timer", AtOnce)
    monkeypatch.setattr(_progress._Bar, "open", lambda bar: shown.append("open"))
    monkeypatch.setattr(_progress._Bar, "__call__", lambda bar, *of: shown.append(of))
    find(name)(**VALID[name])
    assert shown
    silent = {"progress": False, "settings": pu.Settings(progress=False)}
    silent = {n: v for n, v in silent.items() if n in inspect.signature(find(name)).parameters}
    if silent:
        assert {type(each) for each in shown} >= {tuple}  # and says how far it is
        shown.clear()
        find(name)(**VALID[name], **silent)
        assert not shown


@pytest.mark.parametrize("name", VALID)
def test_wrong_arguments_are_named(name):
    assert find(name)(**VALID[name]) is not None
    failures = []
    for parameter, what, value in wrong_arguments(name):
        complaint_of = said(find(name), {**VALID[name], parameter: value})
        if not follows_the_grammar(complaint_of, parameter):
            failures.append(f"{parameter}, {what}: {complaint_of}")
    assert not failures, "\n".join(failures)


def test_arguments_beyond_those_by_position_are_named():
    for name in VALID:
        parameters = inspect.signature(find(name)).parameters
        if not parameters.keys() & {"scores", "counts", "data", "frame", "labeled"}:
            continue
        n_taken = sum(each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters.values())
        with pytest.raises(exceptions.InvalidTypeError) as caught:
            find(name)(*[None] * (n_taken + 1))
        assert str(caught.value).startswith(f"{name}() takes ")
        assert f"got {n_taken + 1} arguments.\nHint: " in str(caught.value)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_names_of_columns_by_position_lead_to_the_call_that_works(make):
    rows = {"a": ROWS["scores"], "b": TWO_SCORES["data"]["other"], "y": ROWS["labeled"]}
    frame = make(rows)
    for call, scores in (
        (pu.evaluate, ["a"]),
        (pu.compare_scores, ["a", "b"]),
        (pu.evaluate_many, ["a", "b"]),
        (pu.compare_priors, ["a"]),
        (pu.audit.plan, ["a"]),
        (pu.recover_auc, ["a"]),
        (pu.ScoreCounts.from_scores, ["a"]),
        (pu.ScoreCounts.from_frame, ["a"]),
    ):
        with pytest.raises(exceptions.InvalidTypeError) as caught:
            call(frame, *scores, "y")
        written = re.search(r"([\w.]+)\(frame, (.*)\)", str(caught.value))
        more = {"alpha": 0.2, "n_resamples": 0} if written[1] in dir(pu) else {}
        more |= {"min_rows": 2} if call is pu.evaluate_many else {}
        assert eval(f"pu.{written[1]}(frame, {written[2]}, **more)", globals() | locals())  # noqa: S307


def said(function, arguments):
    """The message of the error, or what else happened."""
    try:
        found = function(**arguments)
    except exceptions.PurecoverError as error:
        built_in = isinstance(error, (ValueError, TypeError))
        return str(error) if built_in else f"no ValueError or TypeError, but {error!r}"
    return f"no complaint, but {show(found)}"


def follows_the_grammar(message, parameter):
    found = re.match(rf"(?s)The '{parameter}' parameter of ([\w.]+) must be .+, got .+", message)
    sentence, _, hint = message.partition("\n")
    return (
        found is not None
        # The function itself, or the public one it hands the argument to.
        and found.group(1) in PUBLIC
        and sentence.endswith(".")
        and (not hint or hint.startswith("Hint: "))
    )


def test_complaint():
    error = bad_value("x", "small", "9")
    error.function = "f"
    assert str(error) == r"The 'x' parameter of f must be small, got 9."
    assert str(bad_value("x", "small", "9", "halve it")).endswith("got 9.\nHint: halve it")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own


class Made:
    """As estimators are: what it is made with is checked when it is used."""

    def __init__(self, size: int) -> None:
        self.size = size

    @public
    def use(self, x: float) -> float:
        check_integer("size", self.size, low=1)
        return check_real("x", x)

    @classmethod
    @public
    def read(cls, data: float) -> float:
        return check_real("size", data)


def test_an_error_names_the_public_function_that_it_leaves() -> None:
    @public
    def inner(x: float) -> float:
        return check_real("x", x)

    @public
    def outer(x: float) -> float:
        return inner(x)

    @public
    def other(y: float) -> float:
        return inner(y)

    for call, name in (
        (lambda: outer("a"), "outer"),  # its own parameter, handed on
        (lambda: other("a"), "inner"),  # has none of that name
        (lambda: Made(1).use("a"), "Made.use"),
        (lambda: Made(0).use(1), "Made"),
        (lambda: Made.read("a"), "Made.read"),
    ):
        with pytest.raises(exceptions.PurecoverError, match=f"parameter of {name} must"):
            call()


def test_shown_values_are_short_and_safe():
    assert show("a") == "'a'"
    assert show("a\n b") == "'a\\n b'"
    assert len(show(np.arange(10**6))) <= 80
    assert len(show("x" * 1000)) == 80
    assert show(Unfriendly()) == "an object of type Unfriendly"
    assert show(10**5000) == "an object of type int"  # too long for Python to print


def test_missing_packages_say_which_extra_brings_them():
    with pytest.raises(
        exceptions.MissingDependencyError,
        match=r"^purecover needs the package 'no_such.*\nHint: pip install 'purecover\[plot\]'$",
    ):
        require("no_such_package.part", extra="plot")


def test_each_error_is_a_built_in_one_too():
    pairs = {
        exceptions.InvalidInputError: ValueError,
        exceptions.IdentifiabilityError: ValueError,
        exceptions.ContradictionError: exceptions.IdentifiabilityError,
        exceptions.InvalidTypeError: TypeError,
        exceptions.MissingDependencyError: ImportError,
        exceptions.PurecoverWarning: UserWarning,
        exceptions.RecoveryWarning: exceptions.PurecoverWarning,
    }
    for ours, built_in in pairs.items():
        assert issubclass(ours, built_in)
        if issubclass(ours, Exception) and not issubclass(ours, Warning):
            assert issubclass(ours, exceptions.PurecoverError)
    assert {e.__name__ for e in pairs} | {"PurecoverError"} == set(exceptions.__all__)
    for name in exceptions.__all__:
        assert name in exceptions.__doc__
