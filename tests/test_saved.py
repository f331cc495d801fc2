"""Documents that version 0.1.0 wrote are read by every later one.

``tests/saved`` holds them with the text that the same results printed then: a report with an
estimate, replicates and the truth; one of weighted counts in bins with known negatives; a
comparison of two scores; and the state of a monitor whose first partitions have left its window.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import purecover as pu
from purecover._codec import checksum, read_sealed, replacing
from purecover.estimators.reference import KIND

SAVED = Path(__file__).parent / "saved"
READERS = {
    "report": pu.PUReport.from_json,
    "report-weighted": pu.PUReport.from_json,
    "comparison": pu.report.ScoreComparison.from_json,
}


def old(name: str) -> bytes:
    return gzip.decompress((SAVED / f"{name}-0.1.0.json.gz").read_bytes())


def printed(name: str) -> str:
    return (SAVED / f"{name}-0.1.0.txt").read_text(encoding="utf-8").rstrip("\n")


@pytest.mark.parametrize("name", READERS)
def test_saved_results_are_read(name: str) -> None:
    text = old(name)
    result: Any = READERS[name](text)
    was, now = json.loads(text), result.to_dict(counts=True)
    # Later versions use other words; figures with four digits are those of then.
    then = re.findall(r"  (-?\d\.\d{4})", printed(name))
    numbers = re.findall(r"-?\d+\.\d+", json.dumps(now))
    assert then
    assert set(then) <= {f"{float(number):.4f}" for number in numbers}
    assert now["schema"] == was["schema"]
    # The command line adds where the data came from, and curves are made again when asked for.
    assert set(was) - set(now) <= {"source", "roc", "pr"}
    assert str(READERS[name](result.to_json(counts=True))) == str(result)


@pytest.mark.parametrize("name", ["report", "report-weighted"])
def test_saved_reports_satisfy_the_schema(name: str) -> None:
    jsonschema.validate(json.loads(old(name)), pu.PUReport.json_schema())


def test_results_of_versions_with_fewer_or_more_metrics_are_read() -> None:
    """Metrics that joined the registry, and metrics that only a later version knows."""
    sample = pu.simulate.binormal(1.5).sample(20, 60, alpha=0.25, random_state=0)
    scores = {"one": sample.scores, "other": -sample.scores}
    how: Any = {"alpha": 0.25, "n_resamples": 10, "random_state": 0}
    now = pu.compare_scores(scores, sample.labeled, truth=sample.truth, **how)
    many = pu.evaluate_many({**scores, "y": sample.labeled}, "y", keep=True, **how)
    others = ("precision", "normalized_auc_pr", "lee_liu")

    def changed(text: str, ending: str) -> Any:
        """The document without these metrics, or with others of longer names in addition."""

        def renewed(part: Any) -> Any:
            if isinstance(part, list):
                return [renewed(each) for each in part]
            if not isinstance(part, dict):
                return part
            found = {key: renewed(each) for key, each in part.items()}
            if ending:
                return found | {f"{key}{ending}": found[key] for key in others if key in found}
            return {key: each for key, each in found.items() if key not in others}

        return renewed({key: each for key, each in json.loads(text).items() if key != "checksum"})

    for ending in ("", "_of_later"):
        document = changed(now.to_json(counts=True), ending)
        assert ("precision_of_later" in document["differences"]) == bool(ending)
        assert ("precision" in document["differences"]) == bool(ending)
        again = pu.report.ScoreComparison.from_dict(document)
        for name, found in now.differences.items():
            gap = again.differences[name]["other"]
            assert gap.estimate == pytest.approx(found["other"].estimate, nan_ok=True)
            assert np.isnan(gap.low) or name not in others or ending
        assert pu.report.ScoreComparison.from_json(again.to_json(counts=True)).to_dict() == (
            again.to_dict()
        )
        assert "Precision" in str(again)
        assert again.to_html()
        if ending:
            assert again.to_dict() == now.to_dict()
        for report in (now.reports["other"], *many.reports.values()):
            read = pu.PUReport.from_dict(changed(report.to_json(), ending))
            assert dict(read.metrics) == pytest.approx(dict(report.metrics), nan_ok=True)


def test_a_monitor_of_an_earlier_form_is_refused() -> None:
    with pytest.raises(pu.exceptions.InvalidInputError, match="with the version of purecover"):
        pu.monitoring.ScoreMonitor.load(SAVED / "monitor-0.1.0.json")


def test_a_document_that_was_changed_is_refused() -> None:
    """Reports and comparisons carry a checksum; what 0.1.0 wrote had none."""
    sample = pu.simulate.binormal(1.5).sample(20, 60, alpha=0.25, random_state=0)
    report = pu.evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0)
    text = report.to_json(indent=None).encode()
    document = json.loads(text)
    rng = np.random.default_rng(0)
    for place in rng.integers(0, 8 * len(text), 100).tolist():
        flipped = bytearray(text)
        flipped[place // 8] ^= 1 << place % 8
        try:
            again = pu.PUReport.from_json(bytes(flipped))
        except pu.exceptions.PurecoverError:
            continue
        assert again.to_dict() == report.to_dict()  # such as 1e-5 written 1E-5
    for change in ({"auc": 0.99}, {"checksum": None}, {"checksum": "sha256:0"}):
        with pytest.raises(pu.exceptions.InvalidInputError, match="does not fit its checksum"):
            pu.PUReport.from_json(json.dumps(document | change))
    assert pu.PUReport.from_dict(document).auc == report.auc


@pytest.fixture(scope="module")
def estimated_document() -> dict[str, object]:
    example = pu.load_example()
    report = pu.evaluate(example.scores[::4], example.labeled[::4], n_resamples=5)
    document = report.to_dict()
    again = pu.PUReport.from_json(json.dumps(document | {"checksum": checksum(document)}))
    assert again.to_dict() == document
    return document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("n_unlabeled", 1e9),
        ("n_labeled", 0),
        ("auc", 0.5),
        ("auc_direct", 7.0),
        ("auc_repaired", 7.0),
        ("metrics.recovered.precision", 1.5),
        ("metrics.recovered.precision", 0.5),
        ("confusion.fp", 7.0),
        ("metrics.observed.recall", -1.0),
        ("intervals.roc_auc.confidence_level", -1.0),
        ("intervals.roc_auc.low", 2.0),
        ("estimation.delta_pure", -0.5),
        ("estimation.intervals.alpha.confidence_level", 1.0),
    ],
)
def test_a_right_checksum_does_not_make_a_report(
    estimated_document: dict[str, object], path: str, value: float
) -> None:
    document = json.loads(json.dumps(estimated_document))
    *folders, name = path.split(".")
    place = document
    for folder in folders:
        place = place[folder]
    place[name] = value
    text = json.dumps(document | {"checksum": checksum(document)})
    with pytest.raises(pu.exceptions.InvalidInputError, match=re.escape(path)):
        pu.PUReport.from_json(text)


def test_a_document_as_deep_as_python_goes_is_refused() -> None:
    sample = pu.simulate.binormal(1.5).sample(20, 60, alpha=0.25, random_state=0)
    document = pu.evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=0).to_dict()
    again = pu.PUReport.from_json(json.dumps(document | {"checksum": checksum(document)}))
    assert again.to_dict() == document
    deep: list[object] = []
    for _ in range(2 * sys.getrecursionlimit()):
        deep = [deep]
    with pytest.raises(pu.exceptions.InvalidInputError, match="report of purecover"):
        pu.PUReport.from_dict(document | {"source": {"file": deep}})


def test_a_collection_that_was_changed_is_refused() -> None:
    whole = (files("purecover") / "data" / "reference.npz").read_bytes()
    right = read_sealed(KIND, io.BytesIO(whole))
    assert right
    rng = np.random.default_rng(0)
    for place in rng.integers(0, 8 * len(whole), 60).tolist():
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        try:
            found = read_sealed(KIND, io.BytesIO(flipped))
        except pu.exceptions.InvalidInputError:
            continue
        # Bits of an archive that nobody reads, such as the time of a file.
        assert all(np.array_equal(found[name], array) for name, array in right.items())
    with pytest.raises(pu.exceptions.InvalidInputError, match="does not fit its checksum"):
        read_sealed("purecover.reference/1", io.BytesIO(whole))


def test_new_files_have_the_permissions_of_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is not read: that takes setting it, for all threads of the process."""
    old = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", lambda _: pytest.fail("changed for all threads"))
        for mode in (0o640, 0o600):
            with replacing(tmp_path / "a") as file:
                file.write(b"x")
            assert (tmp_path / "a").stat().st_mode & 0o777 == mode
            (tmp_path / "a").chmod(0o600)
    finally:
        monkeypatch.undo()
        os.umask(old)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    for name in ("link", "pipe"):
        with replacing(tmp_path / name) as file:
            file.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "pipe").is_fifo()
    assert os.read(reader, 9) == (tmp_path / "a").read_bytes() == b"x"
    os.close(reader)
