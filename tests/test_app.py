"""The local page: what it accepts, what it refuses, and that nothing of it stays."""

from __future__ import annotations

import csv
import gzip
import html
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

pytest.importorskip("starlette.testclient", exc_type=Exception)

from starlette.testclient import TestClient
from tests.app_server import EXAMPLE, TOKEN, folders, running, send, start, wait_for

from purecover import simulate
from purecover.app.jobs import FIELDS, FORM, ReportRequest
from purecover.app.server import HEADERS, Site
from purecover.app.store import plain_name
from purecover.cli import main, output
from purecover.cli.options import in_options
from purecover.cli.output import option
from purecover.exceptions import InvalidInputError

QUICK = {"alpha": 0.4048, "n_resamples": 0}
GOOD = EXAMPLE.read_bytes()


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[TestClient, Site]]:
    """One server with real workers for all tests of this module that change none of its limits."""
    with running(max_upload=3_000_000) as pair:
        yield pair


@pytest.fixture
def client(server: tuple[TestClient, Site]) -> TestClient:
    return server[0]


@pytest.fixture
def site(server: tuple[TestClient, Site]) -> Site:
    return server[1]


def test_a_csv_becomes_the_report_of_the_command_line(
    client: TestClient, site: Site, tmp_path: Path, monkeypatch, capsys
) -> None:
    sent = send(client, GOOD, "my scores.csv")
    assert sent.status_code == 201
    about = sent.json()
    assert [column["name"] for column in about["columns"]] == ["score", "labeled", "truth"]
    assert all(column["numbers"] for column in about["columns"])
    assert about["guess"] == {"score": "score", "labeled": "labeled", "truth": "truth"}
    assert about["rows"][0] == ["-3.169665", "0", "0"]
    assert about["size"] == len(GOOD)

    job = wait_for(client, start(client, about["file"], truth="truth", **QUICK))
    assert (job["state"], job["error"]) == ("done", "")
    page = client.get(f"/api/jobs/{job['job']}/report.html")
    data = client.get(f"/api/jobs/{job['job']}/report.json")

    monkeypatch.chdir(tmp_path)
    Path("my scores.csv").write_bytes(GOOD)
    words = ["--score=score", "--labeled=labeled", "--truth=truth", "--alpha=0.4048"]
    given = ["evaluate", "my scores.csv", *words, "--n-resamples=0", "--json", "--html=report.html"]
    assert main(given) == 0
    assert data.text == capsys.readouterr().out
    assert page.text == Path("report.html").read_text(encoding="utf-8")
    # The data went with the work; the report is all that is kept.
    kept = {path.name for path in (site.api.store.root / job["job"]).iterdir()}
    assert kept == {"report.html", "report.json"}


def test_the_example_is_one_click_away(client: TestClient) -> None:
    assert client.get(f"/static/data/{EXAMPLE.name}").content == EXAMPLE.read_bytes()


def test_a_judge_sees_neither_score_nor_label(client: TestClient) -> None:
    table = GOOD.decode().splitlines()
    data = "\n".join(
        ["score,labeled,text", *(f"{line[:-1]}t{i}" for i, line in enumerate(table[1:]))]
    )
    file = send(client, data.encode()).json()["file"]
    path, asked = f"/api/files/{file}/answers", {"score": "score", "labeled": "labeled"}
    assert client.get(path).status_code == 404
    first = client.post(path, json=asked).json()
    assert all(row["cells"] == [["text", f"t{row['row']}"]] for row in first["rows"])
    rows = [row["row"] for row in first["rows"]]
    answers = list(zip(rows, ["yes", "yes", "skip", "no"], strict=False))
    then = client.post(path, json={**asked, "answers": answers}).json()
    assert (then["yes"], then["no"], then["skip"]) == (2, 1, 1)
    assert [row["row"] for row in then["rows"]][:6] == rows[4:]
    assert then["high"] - then["low"] < first["high"] - first["low"]
    other = client.post(path, json={**asked, "judge": "ben", "answers": [(rows[0], "no")]}).json()
    assert any("disagree" in remark for remark in other["remarks"])
    assert client.post(path, json={**asked, "answers": [(10**8, "yes")]}).status_code == 422
    saved = list(csv.DictReader(client.get(path).text.splitlines()))
    assert [row["positive"] for row in saved] == ["yes", "yes", "skip", "no", "no"]
    job = wait_for(client, start(client, file, judged=True, n_resamples=0))
    report = client.get(f"/api/jobs/{job['job']}/report.json").json()
    assert (job["state"], "audit" in report["proportions"]["origin"]) == ("done", True)
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


def test_known_negatives_are_not_asked_about(client: TestClient) -> None:
    rows = simulate.binormal(2.0).sample(60, 300, alpha=0.3, random_state=0)
    labels = [-1 if i % 2 and not label else int(label) for i, label in enumerate(rows.labeled)]
    lines = (f"{score},{label}\n" for score, label in zip(rows.scores, labels, strict=True))
    file = send(client, f"score,labeled\n{''.join(lines)}".encode()).json()["file"]
    asked = {"score": "score", "labeled": "labeled", "negative_label": "-1"}
    found = client.post(f"/api/files/{file}/answers", json=asked).json()["rows"]
    assert {labels[row["row"]] for row in found} == {0}
    answers = [(row["row"], "yes") for row in found[:5]]
    client.post(f"/api/files/{file}/answers", json={**asked, "answers": answers})
    how = {"negative_label": "-1", "judged": True, "n_resamples": 0}
    job = wait_for(client, start(client, file, **how))
    assert (job["state"], job["error"]) == ("done", "")


def test_hostile_names_come_back_as_they_are(client: TestClient) -> None:
    names = ["<script>alert(1)</script>", "\"'>", "\u202eabc", "x" * 10_000]
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    rows = "\n".join(f"{i},{i % 2},{i},{i}" for i in range(20))
    about = send(client, f"{quoted}\n{rows}\n".encode(), "<b>.csv").json()
    assert [column["name"] for column in about["columns"]] == names
    assert about["name"] == "_b_.csv"
    asked = {"score": [names[3]], "labeled": names[1], "alpha": 0.1, "n_resamples": 0}
    job = wait_for(client, start(client, about["file"], **asked))
    assert job["state"] == "done", job["error"]


def test_several_columns_of_scores_are_compared(client: TestClient) -> None:
    sample = simulate.binormal(1.5).sample(60, 300, alpha=0.25, random_state=0)
    rows = "".join(
        f"{score},{-score if i % 3 == 0 else score},{int(label)}\n"
        for i, (score, label) in enumerate(zip(sample.scores, sample.labeled, strict=True))
    )
    file = send(client, f"good,worse,labeled\n{rows}".encode()).json()["file"]
    asked = {"score": ["good", "worse"], "alpha": 0.25, "n_resamples": 50}
    job = wait_for(client, start(client, file, **asked))
    assert (job["state"], job["error"], job["score"]) == ("done", "", ["good", "worse"])
    document = client.get(f"/api/jobs/{job['job']}/report.json").json()
    assert document["scores"] == ["good", "worse"]
    page = client.get(f"/api/jobs/{job['job']}/report.html").text
    assert "worse" in page


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", GOOD)
    return file.getvalue()


BAD = {
    "empty": (b"", "is empty"),
    "binary": (bytes(range(256)) * 50, "binary data"),
    "zip": (zipped(), "zip archive"),
    "numbers only": (b"1,2\n3,4\n", "instead of column names"),
    "cut gzip": (gzip.compress(GOOD)[:-400], "damaged gzip"),
    "cut parquet": (b"PAR1" + bytes(100), "cannot be read as Parquet"),
    "bad json": (b'{"score": 1,', "Malformed JSON"),
    "not utf-8": (b"score,labeled\n\xff\xfe\xfa,1\n" * 3, "not utf-8"),
    "gzip bomb of lines": (gzip.compress(b"0.5,1\n" * 1_000_000), "unpacks to more than"),
    "gzip bomb of zeros": (gzip.compress(bytes(30_000_000)), "unpacks to more than"),
    "no table": (b"<!doctype html>\n<p>Hello.</p>\n", "has one column, '<!doctype html>'"),
    "too many columns": (",".join(f"c{i}" for i in range(2000)).encode() + b"\n1", "2,000 columns"),
}


def test_a_parquet_bomb_is_refused_by_its_footer(client: TestClient, tmp_path: Path) -> None:
    """Equal cells take no room in the file: neither bytes nor rows may be more than the limit."""
    file = str(tmp_path / "bomb.parquet")
    for cell in ("repeat('x', 3000)", "0.5"):
        duckdb.sql(
            f"COPY (SELECT {cell} AS score, 1 AS labeled FROM range(400000)) TO '{file}' "  # noqa: S608
            "(FORMAT parquet, COMPRESSION zstd)"
        )
        content = Path(file).read_bytes()
        assert len(content) < 1_000_000
        for name, sent in (("b.parquet", content), ("b.parquet.gz", gzip.compress(content))):
            answer = send(client, sent, name)
            assert answer.status_code == 422
            assert "the limit is 3,000,000 bytes" in answer.json()["error"]


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_a_reason(client: TestClient, site: Site, case: str) -> None:
    content, says = BAD[case]
    before = folders(site)
    answer = send(client, content, "data")
    assert answer.status_code == 422
    assert says in answer.json()["error"]
    assert folders(site) == before


@pytest.mark.parametrize(
    ("content", "fields", "says"),
    [
        (GOOD, {"labeled": "nothing"}, "no column named 'nothing', asked for by “Labeled”"),
        (GOOD, {"score": ["truth"], "truth": "score"}, "asked for by “True class”"),
        (b"score,labeled\n0.5,1\nhigh,0\n", {}, "bad cell in column 'score'"),
        (b'score,labeled\n0.5,1\n"0.1,0\n', {}, "unterminated quote"),
        (b"score,labeled\n0.5,1\n0.1,\n", {}, "“Blank labels are unlabeled”"),
        (GOOD, {"estimator": "magic"}, "“Estimator”"),
        (GOOD, {"alpha": 0.9, "beta": 0.5}, "alpha"),
    ],
)
def test_a_report_that_cannot_be_made_says_why(
    client: TestClient, content: bytes, fields: dict[str, Any], says: str
) -> None:
    file = send(client, content).json()["file"]
    job = wait_for(client, start(client, file, **({"n_resamples": 0} | fields)))
    assert job["state"] == "failed"
    assert says in job["error"]
    assert "--" not in re.sub(r"'[^']*'", "", job["error"])
    assert client.get(f"/api/jobs/{job['job']}/report.html").status_code == 409


def test_every_option_of_the_form_has_a_field() -> None:
    parts = {"file", "judged", "hits", "hits_from"}  # of which the form asks in several fields
    assert set(ReportRequest.__struct_fields__) - parts <= set(FIELDS)


def test_the_page_shows_the_labels_that_messages_name(client: TestClient) -> None:
    page = client.get("/").text
    for field, label in FORM.items():
        tag = re.search(rf'(?:for|id)="{field}">\s*([^<]*)</label>', page)
        assert tag is not None, field
        assert tag[1] == label
    assert "{{" not in page


def test_complaints_are_about_fields_of_the_form() -> None:
    error = InvalidInputError(parameter="n_resamples", must="whole", got="--score", hint="see it")
    in_shell = "--n-resamples must be whole, got --score.\nHint: see it"
    assert (in_options(error), option("score")) == (in_shell, "--score")
    token = output.FIELDS.set(FIELDS)
    try:
        on_page = in_shell.replace("--n-resamples", "“Resamples”")
        assert (in_options(error), option("score")) == (on_page, "“Score”")
    finally:
        output.FIELDS.reset(token)


def test_too_large_without_a_length(client: TestClient, site: Site) -> None:
    taken = 0

    def parts() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield b"0.5,1\n" * 10_000

    before = folders(site)
    answer = client.post("/api/files", params={"name": "a.csv"}, content=parts())
    assert answer.status_code == 413
    assert "content-length" not in answer.request.headers
    assert folders(site) == before


def test_a_body_of_json_is_limited_too(client: TestClient) -> None:
    answer = client.post("/api/jobs", json={"file": "x" * 1_100_000})
    assert answer.status_code == 413


STRANGERS = {
    "no token": (401, {"Authorization": ""}),
    "wrong token": (401, {"Authorization": "Bearer wrong"}),
    "wrong kind": (401, {"Authorization": f"Basic {TOKEN}"}),
    "foreign host": (400, {"Host": "evil.example"}),
    "foreign host, our port": (400, {"Host": "evil.example:8765"}),
    "user in the host": (400, {"Host": "127.0.0.1@evil.example"}),
    "host after a user": (400, {"Host": "evil.example@127.0.0.1"}),
    "host before a path": (400, {"Host": "127.0.0.1/evil.example"}),
    "host that starts like ours": (400, {"Host": "127.0.0.1.evil.example"}),
    "no host": (400, {"Host": ""}),
    "foreign origin": (403, {"Origin": "https://evil.example"}),
    "other port": (403, {"Origin": "http://127.0.0.1:9999"}),
    "no origin": (403, {"Origin": "null"}),
    "cross site": (403, {"Sec-Fetch-Site": "cross-site"}),
    "same site": (403, {"Sec-Fetch-Site": "same-site"}),
}


@pytest.mark.parametrize("case", STRANGERS)
@pytest.mark.parametrize("path", ["/api/jobs", "/api/files", "/nowhere"])
def test_strangers_are_refused(client: TestClient, case: str, path: str) -> None:
    status, headers = STRANGERS[case]
    method = "POST" if path == "/api/files" else "GET"
    answer = client.request(method, path, headers=headers)
    assert answer.status_code == status
    for name in HEADERS:
        assert name in answer.headers


def test_the_page_is_the_same_for_everyone_and_holds_no_secret(client: TestClient) -> None:
    # A file of ours leads the browser there, which browsers call another site.
    strange = {"Authorization": "", "Sec-Fetch-Site": "cross-site"}
    pages = [client.get("/", headers=headers) for headers in ({}, strange)]
    assert [page.status_code for page in pages] == [200, 200]
    assert pages[0].text == pages[1].text
    assert TOKEN not in pages[0].text
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:1", "[::1]:8765", "127.0.0.1"])
def test_names_of_this_machine_are_welcome(client: TestClient, host: str) -> None:
    headers = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    assert client.get("/api/jobs", headers=headers).status_code == 200


def test_no_cookie_is_set_and_none_opens_anything(client: TestClient) -> None:
    """Browsers send cookies to every port of a machine; replayed, they would be a key."""
    for path in ("/", "/static/app.js", "/api/jobs"):
        assert "set-cookie" not in client.get(path).headers
    for name in ("session", "token", "Authorization"):
        headers = {"Authorization": "", "Cookie": f"{name}={TOKEN}"}
        assert client.get("/api/jobs", headers=headers).status_code == 401
    asked = {"headers": {"Authorization": ""}, "params": {"token": TOKEN, "key": TOKEN}}
    assert client.get("/api/jobs", **asked).status_code == 401


def test_the_key_of_a_report_opens_this_report_alone(client: TestClient) -> None:
    """Links carry no header."""
    file = send(client, EXAMPLE.read_bytes()).json()["file"]
    job, other = (wait_for(client, start(client, file, **QUICK)) for _ in range(2))
    nobody = {"Authorization": ""}
    path = f"/api/jobs/{job['job']}"
    for key, status in ((job["key"], 200), (other["key"], 401), ("", 401), ("ж", 401)):
        answer = client.get(f"{path}/report.html", headers=nobody, params={"key": key})
        assert answer.status_code == status
    key = {"key": job["key"]}
    for closed in (path, "/api/jobs", f"/api/files/{file}", "/api/jobs/nothing/report.html"):
        assert client.get(closed, headers=nobody, params=key).status_code == 401
    assert client.delete(path, headers=nobody, params=key).status_code == 401


def test_every_answer_has_the_headers(client: TestClient) -> None:
    file = send(client, EXAMPLE.read_bytes()).json()["file"]
    job = wait_for(client, start(client, file, **QUICK))["job"]
    for path in ("/", "/static/app.js", "/api/jobs", "/nowhere", f"/api/jobs/{job}"):
        headers = client.get(path).headers
        assert {name: headers.get(name) for name in HEADERS} == HEADERS
    assert client.put("/api/jobs").status_code == 405
    assert set(client.put("/api/jobs").headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
    report = client.get(f"/api/jobs/{job}/report.html")
    policy = report.headers["content-security-policy"]
    # The page's own policy, and no rights of this site: not even a script of it could ask us.
    assert "content=\"default-src 'none'; script-src 'sha256-" in html.unescape(report.text)
    assert "sandbox allow-scripts allow-downloads allow-modals" in policy
    assert "allow-same-origin" not in policy
    assert "frame-ancestors 'none'" in policy
    others = set(HEADERS) - {"Content-Security-Policy"}
    assert {name: report.headers[name] for name in others} == {n: HEADERS[n] for n in others}


def test_a_report_can_be_downloaded(client: TestClient) -> None:
    file = send(client, GOOD, "run 7.csv").json()["file"]
    job = wait_for(client, start(client, file, **QUICK))["job"]
    shown = client.get(f"/api/jobs/{job}/report.json")
    saved = client.get(f"/api/jobs/{job}/report.json", params={"download": "1"})
    assert shown.headers["content-disposition"].startswith("inline")
    assert saved.headers["content-disposition"].startswith("attachment")
    assert "run%207-report.json" in saved.headers["content-disposition"]
    assert json.loads(saved.text) == json.loads(shown.text)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b'{"file": "x"}', 422),
        (b'{"file": NaN, "score": ["a"], "labeled": "b"}', 400),
        (b'{"file": "FILE", "score": [], "labeled": "b"}', 422),
        (b'{"file": "FILE", "score": ["a", "a"], "labeled": "b"}', 422),
        (b'{"file": "FILE", "score": ["a"], "labeled": "b", "html": "/etc/passwd"}', 422),
        (b'{"file": "FILE", "score": ["\\ud800"], "labeled": "b"}', 400),
        (b'{"file": "FILE", "score": ["a"], "labeled": "b"}', 404),
        (b"[" * 100_000, 422),
    ],
)
def test_a_bad_request_is_refused(client: TestClient, body: bytes, status: int) -> None:
    content = body.replace(b"FILE", b"a" * 32)
    headers = {"Content-Type": "application/json"}
    answer = client.post("/api/jobs", content=content, headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert client.post("/api/jobs", content=content).status_code == 415


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("scores.csv", "scores.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\scores.csv", "scores.csv"),
        ("..", "data"),
        ("", "data"),
        ("Report.JSON", "data_Report.JSON"),
        ("a\x00b\n</script>.csv", "script_.csv"),
        ("\u202egnp.csv", "_gnp.csv"),
    ],
)
def test_plain_names(given: str, plain: str) -> None:
    assert plain_name(given) == plain
