"""From options and a file to features and labels, and from those to scores of unseen rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from purecover._validation import show
from purecover.cli._columns import Request, Table, choose_columns
from purecover.cli._data import NUMBER_ROLES, Rows, read_labels, read_truth, split_blanks
from purecover.cli._feature_names import Choice, choose_features, split_names
from purecover.cli._features import Features, make_features, make_model
from purecover.cli._files import Progress, name_of, read_table
from purecover.cli._messages import CommandError, in_options, rename
from purecover.cli._options import DASH, DataOptions, Model
from purecover.exceptions import PurecoverError
from purecover.models._folds import make_splits
from purecover.models._table import read_examples
from purecover.models._unseen import UnseenScores, unseen_scores

__all__ = ["FeatureRows", "check_feature_options", "make_scores", "read_feature_rows"]

_FEATURE = "feature "
# How the library calls what goes wrong in training, and how the command line does.
_WORDS = {"cv": "--folds", "estimator": "--model", "groups": "--group"}


@dataclass(frozen=True)
class FeatureRows:
    """What the file holds: features, and the rest, with scores only if a column was named."""

    features: Features
    rows: Rows
    table: Table


def check_feature_options(features: str | None, drop: str | None, folds: int) -> None:
    """Complain before the file is read rather than after."""
    if features is not None and drop is not None:
        raise CommandError("give --features or --drop, not both.")
    if folds < 2:
        raise CommandError(f"--folds must be a whole number of at least 2, got {folds}.")


def read_feature_rows(
    file: str,
    data: DataOptions,
    *,
    function: str,
    features: str | None,
    drop: str | None,
    truth: str | None = None,
    group: str | None = None,
    progress: Progress | None = None,
) -> FeatureRows:
    """Read the file, settle what its labels mean and what each other column is."""
    source = name_of(file)
    wanted = {"labeled": data.labeled}
    wanted |= {
        role: column
        for role, column in (
            ("score", data.score),
            ("weight", data.weight),
            ("truth", truth),
            ("group", group),
        )
        if column is not None
    }
    wanted = {role: "-" if column == DASH else column for role, column in wanted.items()}
    used: dict[str, str] = {}
    choice = Choice()

    def request(available: list[str]) -> Request:
        nonlocal choice
        used.update(choose_columns(source, available, wanted))
        choice = choose_features(source, available, used, features=features, drop=drop)
        # As words, since only the cells tell which columns hold numbers.
        cells = {f"{_FEATURE}{name}": name for name in choice.names}
        blanks = {*cells, *(["labeled"] if data.missing_is_unlabeled else [])}
        numbers = {role: column for role, column in used.items() if role in NUMBER_ROLES}
        words = {role: column for role, column in used.items() if role not in NUMBER_ROLES}
        return Request(numbers, {**words, **cells}, frozenset(blanks), data.decimal)

    listed = [] if features is None else split_names(features)
    table = read_table(
        file,
        request,
        file_format=data.format,
        delimiter=data.delimiter,
        encoding=data.encoding,
        asked=frozenset([*listed, *filter(None, wanted.values())]),
        progress=progress,
    )
    what = f"column {show(used['labeled'])} of {source}, taken for --labeled,"
    words, blank = split_blanks(table.words["labeled"])
    try:
        labeled, negative = read_labels(function, what, words, data, with_blanks=bool(blank.any()))
    except CommandError as error:
        # Where there are no scores, labels cannot have been taken for them.
        said = str(error)
        if "score" not in used:
            said = re.sub(r"were scores and labeled swapped\?.*", "is that the right column?", said)
        raise CommandError(said) from error
    rows = Rows(
        scores=table.numbers.get("score", np.empty(0)),
        labeled=labeled,
        negative=negative,
        weights=table.numbers.get("weight"),
        truth=read_truth(source, used["truth"], table.words["truth"], data) if truth else None,
        groups=table.words["group"].codes if group else None,
        columns=used,
        blank_labels=int(blank.sum()) if data.missing_is_unlabeled else None,
    )
    cells = {name: table.words[f"{_FEATURE}{name}"] for name in choice.names}
    made = make_features(source, cells, data.decimal, choice, labeled, negative)
    return FeatureRows(made, rows, table)


def make_scores(
    function: str,
    read: FeatureRows,
    *,
    model: Model,
    folds: int,
    jobs: int | None,
    seed: int,
    progress: Any,
) -> UnseenScores:
    """Scores of rows by models that have not seen them."""
    rows = read.rows
    classifier, X = make_model(model, read.features, seed=seed, folds=folds, jobs=jobs)
    try:
        examples = read_examples(
            function, X, rows.label_column, groups=rows.groups, negative_label=rows.negative_label
        )
        if model == "auto":  # which would take folds that cannot be for a fault of its candidates
            make_splits(function, examples, folds, seed)
        return unseen_scores(
            function,
            classifier,
            examples,
            cv=folds,
            random_state=seed,
            n_jobs=jobs,
            progress=progress,
        )
    except PurecoverError as error:
        raise CommandError(in_options(rename(str(error), _WORDS))) from error
