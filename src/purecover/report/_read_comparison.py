"""A comparison from plain data: what `ScoreComparison.from_dict` and `from_json` read.

Reports are read with their counts, differences as they were written. The rows themselves stand in
no document, so that differences from another baseline cannot be found again.
"""

from __future__ import annotations

from purecover.intervals._interval import Interval
from purecover.report._comparison import SCHEMA, ScoreComparison
from purecover.report._fields import Fields, Source
from purecover.report._json import SCHEMA as REPORT
from purecover.report._read_json import opened, parse, read_interval, read_report
from purecover.report._report import PUReport

__all__ = ["read_comparison", "read_comparison_text"]

_WHAT = "a comparison"


def read_comparison_text(function: str, text: object) -> ScoreComparison:
    """The comparison in a JSON text."""
    must = "the text of a comparison, as ScoreComparison.to_json writes it"
    data = parse(function, text, must)
    return _comparison(opened(Source(function, "text", _WHAT), data, must, SCHEMA))


def read_comparison(function: str, data: object) -> ScoreComparison:
    """The comparison in plain data."""
    must = "a comparison of purecover as plain data, as ScoreComparison.to_dict makes it"
    return _comparison(opened(Source(function, "data", _WHAT), data, must, SCHEMA))


def _comparison(document: Fields) -> ScoreComparison:
    reports = _reports(document)
    first = next(iter(reports))
    metrics = tuple(reports[first].metrics)
    seed, origin = document["random_state"], document["estimated_from"]
    differences, better = document.fields("differences"), document.fields("better")
    baseline = document.choice("baseline", reports)
    others = [name for name in reports if name != baseline]
    return ScoreComparison(
        reports=reports,
        baseline=baseline,
        differences={m: _gaps(differences.fields(m), others) for m in metrics},
        # Without replicates there are no shares at all.
        better={
            m: {name: better.fields(m).number_or_nan(name) for name in others}
            for m in metrics
            if m in better
        },
        estimated_from=None if origin is None else document.choice("estimated_from", reports),
        confidence_level=document.number("confidence_level", low=0, high=1),
        simultaneous=document.flag("simultaneous"),
        n_resamples=document.whole("n_resamples"),
        random_state=None if seed is None else document.whole("random_state"),
        _rows=None,
    )


def _reports(document: Fields) -> dict[str, PUReport]:
    names, found = document.items("scores"), document.fields("reports")
    if len(names) < 2 or not all(isinstance(name, str) for name in names):
        raise document.wrong("scores", "a list of two names or more")
    reports = {}
    for name in names:
        fields = found.fields(name)
        if fields["schema"] != REPORT:
            raise fields.wrong("schema", repr(REPORT))
        reports[name] = read_report(fields)
    return reports


def _gaps(found: Fields, others: list[str]) -> dict[str, Interval]:
    return {name: read_interval(found.fields(name)) for name in others}
