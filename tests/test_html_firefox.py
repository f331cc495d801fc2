"""The report page in Firefox: the same numbers as in Python, and no complaint."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.firefox import Firefox, firefox_program

from purecover import MixtureProportions, ScoreCounts, evaluate, recover_metrics, simulate
from purecover.html import render_report
from purecover.html.payload import make_payload

MOVE = """(async () => {
  const input = document.getElementById("alpha-number");
  input.value = ALPHA;
  input.dispatchEvent(new Event("input"));
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  await frame();
  const row = document.querySelector("#metrics ~ .scroll tr[data-metric=auc_pr]");
  return row.querySelector("[data-column=recovered]").dataset.value;
})()"""


@pytest.mark.firefox
def test_firefox_shows_the_same_numbers(tmp_path: Path) -> None:
    pytest.importorskip(
        "websocket", reason="websocket-client is missing: install requirements/dev.txt"
    )
    program = firefox_program()
    if program is None:
        pytest.skip("no program called firefox-esr; on Debian: apt-get install firefox-esr")
    sample = simulate.binormal(1.5).sample(300, 3000, alpha=0.25, random_state=0)
    report = evaluate(sample.scores, sample.labeled, alpha=0.25, n_resamples=20, random_state=0)
    file = tmp_path / "page.html"
    file.write_text(render_report(report), encoding="utf-8")
    counts = ScoreCounts.from_dict(make_payload(report)["counts"])
    with Firefox(program, tmp_path / "profile") as firefox:
        firefox.open(file.as_uri())
        assert firefox.evaluate("document.documentElement.dataset.settled") == "0"
        assert firefox.evaluate("document.querySelectorAll('figure svg.plot').length") == 6
        for alpha in (0.1, 0.35):
            found = firefox.evaluate(MOVE.replace("ALPHA", str(alpha)))
            expected = recover_metrics(
                counts, MixtureProportions(alpha, 1.0), threshold=report.metrics.threshold
            )
            assert float(found) == pytest.approx(expected["auc_pr"], abs=1e-6)
        size = "document.querySelector('figure[data-chart=roc] svg').getBoundingClientRect().height"
        assert firefox.evaluate(size) > 300
        assert firefox.complaints == []
