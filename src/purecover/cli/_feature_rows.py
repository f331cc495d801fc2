"""From options and a file to features and labels, and from those to scores of unseen rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from purecover.cli._columns import Request, Table, choose_columns
from purecover.cli._data import NUMBER_ROLES, Rows, asked_columns, make_rows, read_columns
from purecover.cli._feature_names import Choice, choose_features, split_names
from purecover.cli._features import Features, make_features, make_model
from purecover.cli._files import Progress, name_of
from purecover.cli._messages import CommandError, in_options, rename
from purecover.cli._options import Model, TableOptions
from purecover.exceptions import PurecoverError
from purecover.models.cross_fit import UnseenScores, make_splits, unseen_scores
from purecover.models.tables import read_examples

__all__ = ["FeatureOptions", "FeatureRows", "make_scores", "read_feature_rows"]

_FEATURE = "feature "
# How the library calls what goes wrong in training, and how the command line does.
_WORDS = {"cv": "--folds", "estimator": "--model", "groups": "--group"}


@dataclass(frozen=True, kw_only=True)
class FeatureOptions:
    """Which columns are features, and what makes scores of them."""

    features: str | None
    drop: str | None
    model: Model | None
    folds: int
    jobs: int | None

    @property
    def wanted(self) -> bool:
        """Whether any column was said to be a feature."""
        return self.features is not None or self.drop is not None

    def check(self) -> None:
        """Complain before the file is read rather than after."""
        if self.features is not None and self.drop is not None:
            raise CommandError("give --features or --drop, not both.")
        if self.folds < 2:
            raise CommandError(f"--folds must be a whole number of at least 2, got {self.folds}.")


@dataclass(frozen=True)
class FeatureRows:
    """What the file holds: features, and the rest, with scores only if a column was named."""

    features: Features
    rows: Rows
    table: Table


def read_feature_rows(
    file: str,
    data: TableOptions,
    given: FeatureOptions,
    *,
    score: str | None = None,
    truth: str | None = None,
    group: str | None = None,
    progress: Progress | None = None,
) -> FeatureRows:
    """Read the file, settle what its labels mean and what each other column is."""
    source = name_of(file)
    wanted = asked_columns(
        {"labeled": data.labeled},
        {"score": score, "weight": data.weight, "truth": truth, "group": group},
    )
    used: dict[str, str] = {}
    choice = Choice()

    def request(available: list[str]) -> Request:
        nonlocal choice
        used.update(choose_columns(source, available, wanted))
        choice = choose_features(source, available, used, features=given.features, drop=given.drop)
        # As words, since only the cells tell which columns hold numbers.
        cells = {f"{_FEATURE}{name}": name for name in choice.names}
        blanks = {*cells, *(["labeled"] if data.missing_is_unlabeled else [])}
        numbers = {role: column for role, column in used.items() if role in NUMBER_ROLES}
        words = {role: column for role, column in used.items() if role not in NUMBER_ROLES}
        return Request(numbers, {**words, **cells}, frozenset(blanks), data.decimal)

    listed = [] if given.features is None else split_names(given.features)
    table = read_columns(file, request, data, asked=[*listed, *wanted.values()], progress=progress)
    try:
        rows = make_rows(source, table, used, data)
    except CommandError as error:
        # Where there are no scores, labels cannot have been taken for them.
        said = str(error)
        if "score" not in used:
            said = re.sub(r"were scores and labeled swapped\?.*", "is that the right column?", said)
        raise CommandError(said) from error
    cells = {name: table.words[f"{_FEATURE}{name}"] for name in choice.names}
    made = make_features(source, cells, data.decimal, choice, rows.labeled, rows.negative)
    return FeatureRows(made, rows, table)


def make_scores(
    read: FeatureRows,
    given: FeatureOptions,
    *,
    default: Model,
    seed: int,
    progress: Any,
) -> UnseenScores:
    """Scores of rows by models that have not seen them; the default is for who named no model."""
    rows = read.rows
    model, folds, jobs = given.model or default, given.folds, given.jobs
    classifier, X = make_model(model, read.features, seed=seed, folds=folds, jobs=jobs)
    try:
        examples = read_examples(
            X, rows.label_column, groups=rows.groups, negative_label=rows.negative_label
        )
        if model == "auto":  # which would take folds that cannot be for a fault of its candidates
            make_splits(examples, folds, seed)
        return unseen_scores(
            classifier,
            examples,
            cv=folds,
            random_state=seed,
            n_jobs=jobs,
            progress=progress,
        )
    except PurecoverError as error:
        raise CommandError(in_options(rename(str(error), _WORDS))) from error
