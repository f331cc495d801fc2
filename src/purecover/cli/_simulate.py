"""``purecover simulate``."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from purecover import simulate as worlds
from purecover._validation import show
from purecover.cli._messages import CommandError, note, say
from purecover.cli._options import DASH
from purecover.cli._output import check_writable, print_json, write_atomically
from purecover.recovery.auc import auc_to_pu

__all__ = ["run_simulate"]

MAX_ROWS = 10**9
_CHUNK = 1 << 15

# Which parameters each world takes, and how the library calls them.
_PARAMETERS = {
    "binormal": {"separation": "separation", "positive_sd": "positive_sd"},
    "laplace": {"separation": "separation"},
    "beta": {"positive": "positive", "negative": "negative"},
    "nonconcave": {},
    "histogram": {"positive": "positive_mass", "negative": "negative_mass", "edges": "edges"},
}


def run_simulate(
    world: str,
    *,
    parameters: Mapping[str, Any],
    alpha: float | None,
    beta: float,
    labeled: int | None,
    unlabeled: int | None,
    scenario: str,
    size: int | None,
    prior: float | None,
    label_frequency: float | None,
    seed: int,
    out: str | None,
    json: bool,
    quiet: bool,
) -> int:
    """Draw, write, tell the truth."""
    to_stdout = out is None or out == DASH
    if json and to_stdout:
        raise CommandError("--json needs --out, as both would go to standard output.")
    if out is not None and not to_stdout:
        check_writable("--out", out)
    place = _world(world, parameters)
    rows = {"labeled": labeled, "unlabeled": unlabeled, "size": size}
    for option, number in rows.items():
        if number is not None and number > MAX_ROWS:
            raise CommandError(f"--{option} must be at most {MAX_ROWS:,}, got {number:,}.")
    if scenario == "censoring":
        _refuse(
            "--scenario censoring", {"alpha": alpha, "labeled": labeled, "unlabeled": unlabeled}
        )
        if prior is None or label_frequency is None:
            raise CommandError("--scenario censoring needs --prior and --label-frequency.")
        sample = place.sample_censored(
            11_000 if size is None else size,
            prior=prior,
            label_frequency=label_frequency,
            beta=beta,
            random_state=seed,
        )
    else:
        _refuse(
            "--scenario case-control",
            {"size": size, "prior": prior, "label-frequency": label_frequency},
        )
        if alpha is None:
            raise CommandError("give --alpha, the share of positives among the unlabeled.")
        sample = place.sample(
            1_000 if labeled is None else labeled,
            10_000 if unlabeled is None else unlabeled,
            alpha=alpha,
            beta=beta,
            random_state=seed,
        )
    truth = _truth(sample, sample.proportions.alpha if prior is None else prior)
    if out is None or to_stdout:
        for part in _csv_parts(sample):
            sys.stdout.write(part)
    else:
        with write_atomically("--out", out) as file:
            if out.endswith(".gz"):
                # No name and no time inside, so that equal samples make equal files.
                with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as archive:
                    _write_parts(archive.write, sample)
            else:
                _write_parts(file.write, sample)
    if json:
        print_json(truth)
    elif not quiet:
        sys.stdout.flush()
        say(_describe(truth))
    if not to_stdout:
        note(f"sample written to {out}", quiet=quiet)
    return 0


def _world(name: str, given: Mapping[str, Any]) -> worlds.World:
    takes = _PARAMETERS[name]
    arguments: dict[str, Any] = {}
    for option, value in given.items():
        if value is None:
            continue
        if option not in takes:
            flag = "--" + option.replace("_", "-")
            known = ", ".join("--" + p.replace("_", "-") for p in takes) or "no parameters"
            raise CommandError(f"the {name} world does not take {flag}; it takes {known}.")
        arguments[takes[option]] = _numbers(option, value) if isinstance(value, str) else value
    if name == "histogram" and not {"positive_mass", "negative_mass"} <= set(arguments):
        raise CommandError(
            "the histogram world needs --positive and --negative, the mass of each bin.\n"
            "Hint: for example --positive 0.1,0.3,0.6 --negative 0.6,0.3,0.1"
        )
    family: Callable[..., worlds.World] = getattr(worlds, name)
    return family(**arguments)


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise CommandError(
            f"--{option} must be numbers with commas between them, such as 5,2, got {show(text)}."
        ) from None


def _refuse(because: str, given: Mapping[str, Any]) -> None:
    for option, value in given.items():
        if value is not None:
            raise CommandError(f"--{option} has no meaning with {because}.")


def _csv_parts(sample: worlds.Sample) -> Iterator[str]:
    yield "score,labeled,truth\n"
    for start in range(0, len(sample), _CHUNK):
        part = slice(start, start + _CHUNK)
        rows = zip(
            sample.scores[part].tolist(),
            sample.labeled[part].astype(int).tolist(),
            sample.truth[part].astype(int).tolist(),
            strict=True,
        )
        yield "".join(f"{score!r},{label},{truth}\n" for score, label, truth in rows)


def _write_parts(write: Callable[[bytes], object], sample: worlds.Sample) -> None:
    for part in _csv_parts(sample):
        write(part.encode())


def _truth(sample: worlds.Sample, prior: float) -> dict[str, Any]:
    """Every figure that is known without looking at the scores."""
    world, proportions = sample.world, sample.proportions
    n_labeled = int(sample.labeled.sum())
    return {
        "world": world.name,
        "parameters": dict(world.parameters),
        "n_labeled": n_labeled,
        "n_unlabeled": len(sample) - n_labeled,
        "proportions": proportions.to_dict(),
        "realized_alpha": sample.realized_alpha,
        "realized_beta": sample.realized_beta,
        "prior": prior,
        "auc": world.auc,
        "auc_from": world.auc_from,
        "auc_pu": auc_to_pu(world.auc, proportions),
        "auc_pr": world.auc_pr(prior) if 0 < prior < 1 else None,
        "is_concave": world.is_concave,
    }


def _describe(truth: Mapping[str, Any]) -> str:
    proportions = truth["proportions"]
    given = ", ".join(f"{k}={v}" for k, v in truth["parameters"].items())
    lines = [
        (
            f"{truth['world']}({given}): {truth['n_labeled']:,} labeled, "
            f"{truth['n_unlabeled']:,} unlabeled, {proportions['scenario']}, "
            f"alpha={proportions['alpha']:.6g}, beta={proportions['beta']:.6g}"
        ),
        (
            f"true AUC {truth['auc']:.6f} ({truth['auc_from']}); "
            f"observed AUC to expect {truth['auc_pu']:.6f}"
        ),
    ]
    if truth["auc_pr"] is not None:
        lines.append(f"true AUC-PR {truth['auc_pr']:.6f} at prior {truth['prior']:.6g}")
    return "\n".join(lines)
