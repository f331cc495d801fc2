"""``purecover simulate`` and ``purecover example``: data to try the other commands on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import purecover as pu
import purecover.cli.options as opt
from purecover.cli import output
from purecover.cli.output import STDIO, CommandError

if TYPE_CHECKING:
    from purecover.simulate import Sample, World

EXAMPLE = "example_scores.csv"
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


def example(
    *,
    out: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """Write scores to try the other commands on: example_scores.csv.

    1,797 hand-written digits, 300 of the odd ones labeled. The columns are score, labeled and
    truth; 40.48 % of the unlabeled are odd.

    Parameters
    ----------
    out
        CSV file to write; - for standard output; example_scores.csv by default.
    quiet
        Do not say where it was written.
    """
    from purecover.example import example_csv

    content = example_csv()
    if out == STDIO:
        sys.stdout.write(content.decode())
        return 0
    path = EXAMPLE if out is None else out
    output.check_writable("--out", path)
    # A name nobody asked for must not cost anybody a file.
    if out is None and Path(path).is_file() and Path(path).read_bytes() != content:
        raise CommandError(
            f"{path} is here already and holds something else.\n"
            "Hint: --out writes the example under another name."
        )
    with output.write_atomically("--out", path) as file:
        file.write(content)
    output.note(f"example written to {path}: columns score, labeled and truth", quiet=quiet)
    return 0


class WorldOptions(opt.Options, group=opt.WORLD):
    """Parameters of worlds.

    Parameters
    ----------
    separation
        Distance between the classes (binormal, laplace).
    positive_sd
        Standard deviation of the positives (binormal).
    positive
        Two shapes (beta) or the mass of each bin (histogram) of the positives, such as 5,2.
    negative
        The same of the negatives.
    edges
        Bin edges (histogram), one more than bins; equal bins on [0, 1] by default.
    """

    separation: opt.Number | None = None
    positive_sd: opt.Number | None = None
    positive: opt.Text = None
    negative: opt.Text = None
    edges: opt.Text = None


def simulate(
    world: opt.WorldName,
    /,
    *,
    parameters: WorldOptions = WorldOptions(),
    alpha: Annotated[opt.Share | None, Parameter(group=opt.SAMPLE)] = None,
    beta: Annotated[opt.Share, Parameter(group=opt.SAMPLE)] = 1.0,
    labeled: Annotated[opt.Positive | None, Parameter(group=opt.SAMPLE)] = None,
    unlabeled: Annotated[opt.Positive | None, Parameter(group=opt.SAMPLE)] = None,
    scenario: Annotated[opt.Scenario, Parameter(group=opt.SAMPLE)] = "case-control",
    size: Annotated[opt.Positive | None, Parameter(group=opt.SAMPLE)] = None,
    prior: Annotated[opt.Share | None, Parameter(group=opt.SAMPLE)] = None,
    label_frequency: Annotated[opt.Share | None, Parameter(group=opt.SAMPLE)] = None,
    seed: Annotated[opt.Whole, Parameter(group=opt.SAMPLE)] = 0,
    out: Annotated[opt.Text, Parameter(group=opt.OUTPUT)] = None,
    json: Annotated[opt.Flag, Parameter(group=opt.OUTPUT)] = False,
    quiet: Annotated[opt.Quiet, Parameter(group=opt.OUTPUT)] = False,
) -> int:
    """Draw scores from a WORLD whose true performance is known.

    The columns are score, labeled and truth. The true figures go to standard error, or with
    --json to standard output.

    Parameters
    ----------
    world
        binormal, beta, laplace, nonconcave or histogram.
    alpha
        Share of positives among the unlabeled (case-control).
    beta
        Share of positives among the labeled.
    labeled
        Number of labeled rows (case-control); 1000 by default.
    unlabeled
        Number of unlabeled rows (case-control); 10000 by default.
    scenario
        case-control: labeled and unlabeled drawn apart. censoring: one sample, some of whose
        positives get labeled.
    size
        Number of rows (censoring); 11000 by default.
    prior
        Share of positives (censoring).
    label_frequency
        Probability that a positive gets labeled (censoring).
    seed
        Seed of the draw.
    out
        CSV file to write, gzipped if it ends in .gz; standard output by default.
    json
        Print the true figures as one JSON document; needs --out.
    quiet
        Do not print the true figures.
    """
    path = None if out == STDIO else out
    if json and path is None:
        raise CommandError("--json needs --out, as both would go to standard output.")
    if path is not None:
        output.check_writable("--out", path)
    place = _world(world, vars(parameters))
    for option, number in {"labeled": labeled, "unlabeled": unlabeled, "size": size}.items():
        if number is not None and number > MAX_ROWS:
            raise CommandError(f"--{option} must be at most {MAX_ROWS:,}, got {number:,}.")
    because = f"has no meaning with --scenario {scenario}."
    if scenario == "censoring":
        output.refuse(because, alpha=alpha, labeled=labeled, unlabeled=unlabeled)
        if prior is None or label_frequency is None:
            raise CommandError("--scenario censoring needs --prior and --label-frequency.")
        sample = place.sample_censored(
            size or 11_000,
            prior=prior,
            label_frequency=label_frequency,
            beta=beta,
            random_state=seed,
        )
    else:
        output.refuse(because, size=size, prior=prior, label_frequency=label_frequency)
        if alpha is None:
            raise CommandError("give --alpha, the share of positives among the unlabeled.")
        sample = place.sample(
            labeled or 1_000,
            unlabeled or 10_000,
            alpha=alpha,
            beta=beta,
            random_state=seed,
        )
    truth = _truth(sample, sample.proportions.alpha if prior is None else prior)
    if path is None:
        for part in _csv_parts(sample):
            sys.stdout.write(part.decode())
    else:
        with output.write_atomically("--out", path, packs=True) as file:
            file.writelines(_csv_parts(sample))
    if json:
        output.print_json(truth)
    elif not quiet:
        sys.stdout.flush()
        output.say(_describe(truth))
    if path is not None:
        output.note(f"sample written to {path}", quiet=quiet)
    return 0


def _world(name: str, given: Mapping[str, Any]) -> World:
    takes = _PARAMETERS[name]
    arguments: dict[str, Any] = {}
    for option, value in given.items():
        if value is None:
            continue
        if option not in takes:
            flag = "--" + option.replace("_", "-")
            known = ", ".join("--" + p.replace("_", "-") for p in takes) or "no parameters"
            raise CommandError(f"the {name} world does not take {flag}; it takes {known}.")
        is_list = isinstance(value, str)
        arguments[takes[option]] = opt.numbers(f"--{option}", value) if is_list else value
    if name == "histogram" and not {"positive_mass", "negative_mass"} <= set(arguments):
        raise CommandError(
            "the histogram world needs --positive and --negative, the mass of each bin.\n"
            "Hint: for example --positive 0.1,0.3,0.6 --negative 0.6,0.3,0.1"
        )
    family: Callable[..., World] = getattr(pu.simulate, name)
    return family(**arguments)


def _csv_parts(sample: Sample) -> Iterator[bytes]:
    yield b"score,labeled,truth\n"
    columns = (sample.scores, sample.labeled.astype(int), sample.truth.astype(int))
    for start in range(0, len(sample), _CHUNK):
        part = slice(start, start + _CHUNK)
        rows = zip(*(column[part].tolist() for column in columns), strict=True)
        yield "".join(f"{score!r},{label},{truth}\n" for score, label, truth in rows).encode()


def _truth(sample: Sample, prior: float) -> dict[str, Any]:
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
        "auc_pu": pu.recovery.auc_to_pu(world.auc, proportions),
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
