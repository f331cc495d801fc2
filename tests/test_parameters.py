"""Parameters that are declared once: what help, Python and type checkers see of them."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, Unpack

import pytest

import purecover as pu
from purecover._parameters import DECLARED, Parameters, described, parameter
from purecover._validation import public
from purecover.exceptions import InvalidInputError, InvalidTypeError
from purecover.proportions import GivenProportions, ProportionKeywords
from purecover.recovery.metrics import MetricKeywords, RecoveryOptions, ThresholdKeywords
from purecover.report.settings import Rarely, ReportSettings, gathered, spread

GROUPS: list[tuple[type, type[Parameters]]] = [
    (ProportionKeywords, GivenProportions),
    (MetricKeywords, RecoveryOptions),
]


@pytest.mark.parametrize(("keywords", "group"), GROUPS)
def test_keywords_and_group_have_the_same_names_and_types(
    keywords: type, group: type[Parameters]
) -> None:
    types = {name: each.__forward_arg__ for name, each in keywords.__annotations__.items()}
    declared = {each.name: each.type for each in dataclasses.fields(group)}  # type: ignore[arg-type]
    assert types == declared


@pytest.mark.parametrize("name", DECLARED)
def test_a_default_passes_its_check_and_the_text_is_a_sentence(name: str) -> None:
    declared = DECLARED[name]
    assert declared.checked(name, declared.default) == declared.default
    assert declared.text.endswith(".")
    assert f"{name} : {declared.kind}, " in declared.entry(name)


@public
def sample(scores: object, *, own: int = 1, **options: Unpack[ThresholdKeywords]) -> Any:  # noqa: ARG001
    """A function.

    Parameters
    ----------
    scores : object
        Scores.
    own : int, default=1
        Its own.
    **options

    Returns
    -------
    object
    """
    return RecoveryOptions.among(options).validated()


def test_the_docstring_has_their_texts() -> None:
    text = inspect.getdoc(sample)
    assert text is not None
    assert "options" not in text
    assert "\ncost_fn : float, default=1.0\n    Cost of a missed positive in ``cost``.\n" in text
    assert 'target : {"population", "deployment", "pooled"} or float, default="population"' in text
    assert text.endswith("Returns\n-------\nobject")
    assert described("no options here", [], ["cost_fn"]) == "no options here"
    assert described("cost_fn, cost_fp", ["cost_fn"]) == "cost_fn, cost_fp"


def test_values_arrive_in_their_plain_form_and_defaults_stand_for_the_rest() -> None:
    found = sample(0, cost_fn=2)
    assert type(found.cost_fn) is float
    assert found == RecoveryOptions(cost_fn=2.0)


def test_a_keyword_that_is_none_of_them_is_refused() -> None:
    wanted = r"^sample\(\) got an unexpected keyword argument 'wide'\.$"
    with pytest.raises(TypeError, match=wanted):
        sample(0, wide=0.1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"'cots_fn'\.\nHint: did you mean 'cost_fn'\?"):
        sample(0, cots_fn=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("call", [pu.evaluate, pu.evaluate_model, pu.compare_scores])
def test_a_keyword_of_the_settings_is_shown_its_place(call: Any) -> None:
    for name, hint in (("top_k", "top_k=5"), ("topk", "top_k=..."), ("repairs", "repair=...")):
        with pytest.raises(TypeError) as caught:
            call([2, 1], [1, 0], **{name: 5})
        assert str(caught.value).endswith(f"\nHint: did you mean settings=Settings({hint})?")


def test_evaluate_writes_out_what_is_declared_for_all() -> None:
    shown = inspect.signature(pu.evaluate).parameters
    assert len(shown) <= 24
    fields = {each.name: each for group in (GivenProportions, ReportSettings, Rarely)
              for each in dataclasses.fields(group)}  # fmt: skip
    written = fields.keys() & shown.keys()
    assert written == fields.keys() - {each.name for each in dataclasses.fields(pu.Settings)}
    for name in written:
        assert shown[name].default == fields[name].default
        assert shown[name].annotation == fields[name].type
        assert f"\n{DECLARED[name].entry(name)}\n" in str(inspect.getdoc(pu.evaluate))


def test_settings_say_the_same_wherever_they_stand() -> None:
    given = {"top_k": 2, "review": 9}
    assert ReportSettings.among(spread(gathered(given))) == ReportSettings(top_k=2, review=9)
    assert gathered({"alpha": 0.2}) == {"alpha": 0.2}


def test_an_error_of_a_setting_names_the_settings() -> None:
    settings = pu.Settings(top_k=3)
    with pytest.raises(InvalidInputError, match="'top_k' parameter of Settings must be at most"):
        pu.evaluate([3, 2, 1], [1, 0, 0], alpha=0.1, settings=settings)


def test_a_name_is_declared_once() -> None:
    with pytest.raises(TypeError, match="declared before: cost_fn"):

        class Again(Parameters):
            cost_fn: float = parameter(2.0, "float", "Another.")


def test_a_wish_for_the_look_of_a_picture_is_told_where_to_go() -> None:
    counts = pu.ScoreCounts.from_counts([2, 1], [3, 1], [1, 3])
    display = pu.RecoveredRocDisplay
    for draw, given in (
        (display.from_predictions, (counts,)),
        (display.from_estimator, (None, [[0.0]], [1])),
    ):
        with pytest.raises(InvalidTypeError) as caught:
            draw(*given, alpha=0.2, color="red")  # type: ignore[operator]
        assert str(caught.value) == (
            f"RecoveredRocDisplay.{draw.__name__}() got an unexpected keyword argument 'color'.\n"
            "Hint: for the look of what is drawn pass curve_kwargs={'color': 'red'}"
        )
