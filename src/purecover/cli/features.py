"""Columns of a file as features: which they are, what their cells hold, and models of them."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover._codec import picked
from purecover._typing import BoolArray, FloatArray
from purecover._validation import show
from purecover.cli import files
from purecover.cli.options import FeatureOptions, TableOptions
from purecover.cli.output import CommandError, Steps, csv_text, in_words, note
from purecover.cli.rows import Rows, read_rows
from purecover.counts import ScoreCounts

if TYPE_CHECKING:
    from purecover.models.cross_fit import UnseenScores
    from purecover.report.results import PUReport


def read_feature_rows(
    file: str,
    data: TableOptions,
    given: FeatureOptions,
    *,
    truth: str | None = None,
    group: str | None = None,
) -> tuple[Features, Rows]:
    """Read the file, settle what its labels mean and what each other column is."""
    source = files.name_of(file)
    choice = Choice()

    def choose(available: list[str], taken: dict[str, str]) -> tuple[str, ...]:
        nonlocal choice
        choice = choose_features(source, available, taken, given)
        return choice.names

    try:
        rows = read_rows(file, data, truth=truth, group=group, scored=False, cells=choose)
    except CommandError as error:
        # Where there are no scores, labels cannot have been taken for them.
        said = str(error)
        if not data.scores:
            said = re.sub(r"were scores and labeled swapped\?.*", "is that the right column?", said)
        raise CommandError(said) from error
    return make_features(source, rows, data.decimal, choice), rows


def evaluate_features(
    features: Features, rows: Rows, given: FeatureOptions, settings: dict[str, Any], steps: Steps
) -> tuple[PUReport, FloatArray]:
    """What `evaluate_model` says of a model of the features, and the scores of the rows."""
    from purecover.report.pipeline import report_on_model

    model, X = make_model(given, features, settings["random_state"])
    prior_estimator = settings.pop("estimator")
    training, estimating, resampling = map(steps, ("Training", "Estimating alpha", "Resampling"))
    with in_words(_WORDS):
        return report_on_model(
            model,
            X,
            rows.label_column,
            rows.companions,
            {"cv": given.folds, "n_jobs": given.jobs},
            prior_estimator,
            settings | {"progress": resampling},
            view=standardized(features),
            training=training,
            estimating=estimating,
        )


def make_scores(
    features: Features, rows: Rows, given: FeatureOptions, *, seed: int, progress: Any
) -> UnseenScores:
    """Scores of rows by models that have not seen them; if none is named, the mean of three."""
    from purecover.models.best_scorer import BY_MEAN_RANK, consensus_scores
    from purecover.models.cross_fit import UnseenScores, unseen_scores
    from purecover.models.tables import read_examples

    known = {name: rows.companions[name] for name in ("groups", "negative_label")}
    with in_words(_WORDS):
        if given.model is None:
            examples = read_examples(standardized(features), rows.label_column, **known)
            ranks: Any = consensus_scores(
                examples, cv=given.folds, seed=seed, n_jobs=given.jobs, progress=progress
            )
            if ranks is None:
                raise CommandError(
                    "the three classifiers that make scores cannot be trained on these features.\n"
                    "Hint: gather more labeled rows, or name one, such as --model logistic."
                )
            return UnseenScores(ranks, BY_MEAN_RANK)
        model, X = make_model(given, features, seed)
        return unseen_scores(
            model,
            read_examples(X, rows.label_column, **known),
            cv=given.folds,
            random_state=seed,
            n_jobs=given.jobs,
            progress=progress,
        )


_WORDS = {"estimator": "--model", "prior_estimator": "--estimator"}
"""What goes wrong in training is about the model here."""


# -- which columns, by name -----------------------------------------------------------------------

# Names of one letter tell nothing: y may well be a coordinate.
_TELLTALE = {
    "scores": tuple(name for name in files.OBVIOUS["score"] if len(name) > 1),
    "labels": tuple(name for name in files.OBVIOUS["labeled"] if len(name) > 1),
    "true classes": (
        "truth", "true_class", "true_classes", "true_label", "true_labels", "y_true",
        "ground_truth", "groundtruth", "positive",
    ),
    "strata of scores": ("stratum", "stratum_size"),
}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """Columns to be looked at, and how they came to be chosen.

    Attributes
    ----------
    names : tuple of str
        Columns to be looked at.
    listed : bool
        Whether ``--features`` named them.
    unwanted : tuple of str
        What ``--drop`` named.
    set_aside : dict of str to str
        Columns left out for their name, and what it says they hold.
    """

    names: tuple[str, ...] = ()
    listed: bool = False
    unwanted: tuple[str, ...] = ()
    set_aside: dict[str, str] = field(default_factory=dict)

    def how_to_leave_out(self, names: Sequence[str]) -> str:
        """What to do about columns that had better not be used."""
        if self.listed:
            return f"take {'it' if len(names) == 1 else 'them'} out of --features"
        value = join_names([*self.unwanted, *names])
        # A shell passes a leading dash on, and it would be taken for another option.
        return f"use --drop={value}" if value.startswith("-") else f"use --drop {value}"


def split_names(text: str) -> list[str]:
    """Names with commas between them, each once; a quoted name may hold commas itself."""
    try:
        words = next(csv.reader([text], skipinitialspace=True, strict=True), []) or [""]
    except csv.Error:  # a quote that is part of a name
        words = text.split(",")
    return list(dict.fromkeys(word.strip() for word in words))


def join_names(names: Sequence[str]) -> str:
    """What ``split_names`` takes apart again, ready to be pasted into a shell."""
    return shlex.quote(csv_text(names, []).rstrip("\n"))


def choose_features(
    source: str, available: Sequence[str], taken: Mapping[str, str], given: FeatureOptions
) -> Choice:
    """Columns to be looked at; ``taken`` are those with another role."""
    roles = {column: role for role, column in taken.items()}
    if given.features is not None:
        listed = _find(source, "--features", given.features, available)
        for name in listed:
            if name in roles:
                raise CommandError(f"--features names column {name!r}, which is --{roles[name]}.")
        return Choice(tuple(listed), listed=True)
    unwanted = [] if given.drop is None else _find(source, "--drop", given.drop, available)
    twice = next((name for name in available if available.count(name) > 1), None)
    if twice is not None:
        raise CommandError(
            f"{source} has {available.count(twice)} columns named {twice!r}.\n"
            "Hint: rename them, or name the columns to use with --features."
        )
    rest = [name for name in available if name not in roles and name not in unwanted]
    telling = {name: what for name in rest if (what := _told_by(name)) is not None}
    names = tuple(name for name in rest if name not in telling)
    return Choice(names, unwanted=tuple(unwanted), set_aside=telling)


def _find(source: str, option: str, text: str, available: Sequence[str]) -> list[str]:
    names, quotes = split_names(text), ""
    if any("," in column for column in available):
        quotes = f". Quote a name that holds a comma: {option} {join_names(['a,b', 'c'])}"
    for name in names:
        files.require_column(source, name, available, f"asked for by {option}", quotes)
    return names


def _told_by(name: str) -> str | None:
    """What a column holds that is no feature, if its name says so."""
    plain = re.sub(r"[\s_-]+", "_", name.strip().casefold())
    return next((what for what, names in _TELLTALE.items() if plain in names), None)


# -- cells as numbers, with care for those that nearly are ----------------------------------------

NEARLY_ALL = 0.9
"""A column with numbers in this share of its cells was meant to hold numbers."""

_MARKS = frozenset(("?", "-", "--", ".", "none", "missing"))
# Two signs that may stand before decimals, and what each is called.
_SIGNS = {".": "point", ",": "comma"}
_THOUSANDS = {
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?"),
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"),
}
_MAY_BE_NUMBER = re.compile(r"\s*[+-]?(?:[\d.,]|inf)", re.IGNORECASE)
_MOST_EXAMPLES = 3


@dataclass(frozen=True)
class NumberCells:
    """What a column is if it is read as numbers.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        NaN where there is no number.
    marks : dict of str to int
        Signs for missing cells that stand among numbers, such as a question mark.
    n_numbers, n_cells : int
        Rows with a number, and all rows but blank ones.
    examples : str
        The first few texts, and their rows.
    """

    values: FloatArray
    n_numbers: int
    n_cells: int
    marks: dict[str, int] = field(default_factory=dict)
    examples: str = ""


def read_numbers(
    source: str, name: str, words: files.Words, decimal: str, avoid: str
) -> NumberCells:
    """Read a column as numbers; complain if the other decimal sign or none would do better.

    ``avoid`` tells how to leave the column out.
    """
    if decimal == ".":
        # Nearly all columns of numbers, at a fraction of the time.
        with suppress(ValueError):
            values = np.fromiter(map(float, words.values), dtype=np.float64)
            if not np.isinf(values).any() and "_" not in "".join(words.values):
                return NumberCells(values[words.codes], words.codes.size, words.codes.size)
    counts = np.bincount(words.codes, minlength=len(words.values))
    blank = np.array([files.is_missing(value) for value in words.values], dtype=bool)
    mark = np.array([value.strip().casefold() in _MARKS for value in words.values], dtype=bool)
    numbers, fine = _parse(words.values, decimal)
    text = ~(fine | blank | mark)
    n_numbers = int(counts[fine].sum())
    if n_numbers == 0:
        text |= mark  # a sign for what is missing only where numbers stand beside it
    n_texts = int(counts[text].sum())
    n_cells = n_numbers + n_texts
    if n_texts:
        other = "," if decimal == "." else "."
        rest = _parse(words.values, other)[1] & ~(blank | mark)
        odd = [words.values[i] for i in np.flatnonzero(text)]
        n_other = int(counts[rest].sum())
        thousands = all(_THOUSANDS[other].fullmatch(value.strip()) for value in odd)
        if thousands or (n_other > n_numbers and n_other >= NEARLY_ALL * n_cells):
            raise _wrong_sign(source, name, odd, other, avoid, thousands=thousands)
    elif np.isinf(numbers[fine]).any():
        raise CommandError(
            f"{source} has an infinite number in column {show(name)}.\n"
            "Hint: blank cells may stand for what is not known."
        )
    marked: dict[str, int] = {}
    for i in np.flatnonzero(mark) if not n_texts else ():
        sign = words.values[i].strip()
        marked[sign] = marked.get(sign, 0) + int(counts[i])
    return NumberCells(
        numbers[words.codes],
        n_numbers=n_numbers,
        n_cells=n_cells,
        marks=marked,
        examples=_examples(words, text) if n_texts else "",
    )


def _parse(values: tuple[str, ...], decimal: str) -> tuple[FloatArray, BoolArray]:
    """Each distinct value as a number, and whether it is one; an infinite one is, too."""
    numbers = np.full(len(values), np.nan)
    fine = np.zeros(len(values), dtype=bool)
    for i, value in enumerate(values):
        if not _MAY_BE_NUMBER.match(value):
            continue  # long before an exception would tell
        number, why = files.parse_number(value, decimal)
        if why is None or (why == "is not finite" and not np.isnan(number)):
            numbers[i], fine[i] = number, True
    return numbers, fine


def _wrong_sign(
    source: str, name: str, odd: list[str], sign: str, avoid: str, *, thousands: bool
) -> CommandError:
    example = next(value for value in odd if sign in value)
    has = f"{source} has numbers with a {_SIGNS[sign]} in column {show(name)}, such as"
    change = "add --decimal ," if sign == "," else "leave --decimal out"
    hint = f"if that is a decimal {_SIGNS[sign]}, {change}"
    if thousands:
        hint += "; if it stands between thousands, take it out of the file"
    return CommandError(f"{has} {show(example)}.\nHint: {hint}; or {avoid}.")


def _examples(words: files.Words, text: BoolArray) -> str:
    rows = np.flatnonzero(text[words.codes])
    shown = ", ".join(
        f"{show(words.values[words.codes[row]])} in row {row + 1:,}"
        for row in rows[:_MOST_EXAMPLES].tolist()
    )
    return shown + (", ..." if rows.size > _MOST_EXAMPLES else "")


# -- what each column is --------------------------------------------------------------------------

MOST_VALUES = 30
"""A text column of more values than this is no feature."""

_LEAST_ROWS = 20
_OWN_SCORES = ("auto", "networks")


@dataclass(frozen=True)
class Features:
    """A matrix, and what became of each column of the file.

    Attributes
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
        Numbers, or codes of texts; NaN where a cell is blank. Numeric columns come first.
    numeric : tuple of str
        Columns of numbers.
    encoded : dict of str to int
        Columns of texts, with the number of values.
    dropped : dict of str to str
        Columns that are no features, and why.
    blank_cells : dict of str to int
        Columns with blank cells, and how many.
    possible_identifiers : tuple of str
        Columns in use that may be identifiers.
    choice : Choice
        How the columns were chosen.
    missing_marks : dict of str to dict of str to int
        Columns of numbers where a sign such as a question mark was read as a blank cell, and
        how often.
    nearly_numeric : dict of str to str
        Columns taken for texts though nearly all cells are numbers, and what the others hold.
    possible_leaks : dict of str to float
        Columns that alone tell labeled from unlabeled rows, and their AUC.
    """

    matrix: FloatArray
    numeric: tuple[str, ...]
    encoded: dict[str, int]
    dropped: dict[str, str]
    blank_cells: dict[str, int]
    possible_identifiers: tuple[str, ...]
    choice: Choice
    missing_marks: dict[str, dict[str, int]]
    nearly_numeric: dict[str, str]
    possible_leaks: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        names = ("numeric", "encoded", "dropped", "blank_cells", "missing_marks")
        found = picked(self, *names, "possible_identifiers", "possible_leaks")
        return found | {"set_aside": self.choice.set_aside}

    def say(self, *, quiet: bool, marked: bool = True) -> None:
        """Tell which columns are features, and what was done to them.

        Filled cells are ``marked`` where a column says which they are.
        """
        for line in (*self._notes(marked), *(f"warning: {text}" for text in self._warnings())):
            note(line, quiet=quiet)

    def _notes(self, marked: bool) -> Iterator[str]:
        parts = []
        if self.numeric:
            parts.append(f"numbers {files.list_columns(self.numeric)}")
        if self.encoded:
            parts.append(f"texts {files.list_columns(list(self.encoded))}, a column for each value")
        yield f"features: {'; '.join(parts)}"
        if self.dropped:
            yield f"not used: {_explained(self.dropped)}"
        if self.blank_cells:
            done = []
            if any(name in self.blank_cells for name in self.numeric):
                done.append("numbers get the median" + (", and a column says where" * marked))
            if any(name in self.blank_cells for name in self.encoded):
                done.append("of texts, blank is a value of its own")
            yield f"blank cells: {_explained(self.blank_cells)}; {'; '.join(done)}"
        for name, signs in self.missing_marks.items():
            yield f"column {show(name)} holds numbers, and {_explained(signs)} read as blank"
        for name, examples in self.nearly_numeric.items():
            yield (
                f"column {show(name)} is taken for texts, though nearly all cells are numbers, "
                f"because of {examples} of the data"
            )

    def _warnings(self) -> Iterator[str]:
        for name, what in self.choice.set_aside.items():
            truth = f" (--truth {join_names([name])} compares with them)"
            yield (
                f"column {show(name)} is not used, since its name says that it holds {what}"
                f"{truth * (what == 'true classes')}; if it is a feature, name all features with "
                "--features"
            )
        suspects = self.possible_identifiers
        if suspects:
            many = len(suspects) > 1
            yield (
                f"column{'s' * many} {files.list_columns(suspects)} hold{'s' * (not many)} a "
                "different whole number in every row; if "
                f"{'they are identifiers' if many else 'it is an identifier'}, "
                f"{self.choice.how_to_leave_out(suspects)}"
            )
        for name, auc in self.possible_leaks.items():
            yield (
                f"column {show(name)} alone tells labeled from unlabeled rows (AUC {auc:.4g}): the "
                "label may have found its way into it, and the figures then mean nothing; if so, "
                f"{self.choice.how_to_leave_out([name])}"
            )


def _explained(found: Mapping[str, str | int]) -> str:
    """Names, and in parentheses what there is to say of each."""
    said = {n: what if isinstance(what, str) else f"{what:,}" for n, what in found.items()}
    return ", ".join(f"{show(name)} ({what})" for name, what in said.items())


def make_features(source: str, rows: Rows, decimal: str, choice: Choice) -> Features:
    """Settle what each column is; labels only tell which column says too much."""
    numbers: dict[str, FloatArray] = {}
    texts: dict[str, FloatArray] = {}
    encoded: dict[str, int] = {}
    dropped = {name: f"{what}, by its name" for name, what in choice.set_aside.items()}
    marks: dict[str, dict[str, int]] = {}
    nearly: dict[str, str] = {}
    for name, words in rows.cells.items():
        said = [value for value in words.values if not files.is_missing(value)]
        blank = len(said) < len(words.values)
        avoid = choice.how_to_leave_out([name])
        if not said:
            dropped[name] = "blank everywhere"
            continue
        if len(said) == 1 and not blank:
            dropped[name] = "one value only"
            continue
        cells = read_numbers(source, name, words, decimal, avoid)
        if cells.n_numbers == cells.n_cells:
            if _counts_rows(cells.values):
                dropped[name] = "row numbers"
            else:
                numbers[name] = cells.values
                marks |= {name: cells.marks} if cells.marks else {}
            continue
        nearly_numeric = cells.n_numbers >= NEARLY_ALL * cells.n_cells
        different = len(said) == words.codes.size
        if different or len(said) > MOST_VALUES:
            if nearly_numeric:
                raise _not_quite_numbers(source, name, cells, avoid)
            dropped[name] = _text_of(said, cells, different=different)
        else:
            texts[name] = _codes(words)
            encoded[name] = len(said)
            if nearly_numeric:
                nearly[name] = cells.examples
    if not numbers and not texts:
        raise _no_features(source, dropped, choice)
    matrix = np.column_stack([*numbers.values(), *texts.values()])
    names = (*numbers, *texts)
    missing = np.isnan(matrix).sum(axis=0).tolist()
    return Features(
        matrix=matrix,
        numeric=tuple(numbers),
        encoded=encoded,
        dropped=dropped,
        blank_cells={n: m for n, m in zip(names, missing, strict=True) if m},
        possible_identifiers=tuple(
            name for name, values in numbers.items() if _may_identify(values)
        ),
        choice=choice,
        missing_marks=marks,
        nearly_numeric=nearly,
        possible_leaks=find_leaks(matrix, names, rows.labeled, rows.negative),
    )


def _not_quite_numbers(source: str, name: str, cells: NumberCells, avoid: str) -> CommandError:
    n_texts = cells.n_cells - cells.n_numbers
    them = "that cell" if n_texts == 1 else "those cells"
    return CommandError(
        f"{source} has numbers in column {show(name)}, but not in {n_texts:,} of "
        f"{cells.n_cells:,} cells ({cells.examples} of the data).\n"
        f"Hint: correct or blank {them}, or {avoid}."
    )


def _no_features(source: str, dropped: Mapping[str, str], choice: Choice) -> CommandError:
    hint = ""
    if choice.set_aside:
        named = join_names(list(choice.set_aside)[:1])
        hint = f"\nHint: if that is a feature all the same, use --features {named}"
    return CommandError(
        f"{source} has no column to be used as a feature"
        + (f": {_explained(dropped)}." if dropped else " beside the labels.")
        + hint
    )


def _text_of(said: Sequence[str], cells: NumberCells, *, different: bool) -> str:
    if not cells.n_numbers:
        if different:
            return "a different text in every row"
        return f"text of {len(said):,} values such as {show(said[0])}"
    return (
        f"text of {len(said):,} values such as {cells.examples}; {cells.n_numbers:,} of "
        f"{cells.n_cells:,} cells are numbers"
    )


def _codes(words: files.Words) -> FloatArray:
    code = np.array([np.nan if files.is_missing(v) else i for i, v in enumerate(words.values)])
    return code[words.codes]


def _counts_rows(values: FloatArray) -> bool:
    return values.size >= _LEAST_ROWS and bool(np.all(np.diff(values) == 1))


def _may_identify(values: FloatArray) -> bool:
    whole = bool(np.all(values == np.round(values)))  # not with a NaN
    return whole and values.size >= _LEAST_ROWS and np.unique(values).size == values.size


# -- models ---------------------------------------------------------------------------------------


def make_model(given: FeatureOptions, features: Features, seed: int) -> tuple[Any, Any]:
    """A model, and the rows it takes.

    Texts and blanks are dealt with inside the model, so that a fold knows nothing of the rows it
    scores. A model that holds rows back itself gets them ready-made: no label was looked at.
    """
    from sklearn.pipeline import make_pipeline

    from purecover.models.tables import small_seed

    before = _preparation(features, scale=given.model == "logistic")
    model: Any = _model(given.model, small_seed(seed), given.folds, given.jobs)
    if before is None:
        return model, features.matrix
    if given.model in _OWN_SCORES:
        return model, before.fit_transform(features.matrix)
    return make_pipeline(before, model), features.matrix


def standardized(features: Features) -> FloatArray:
    """Numbers in units of their spread, a column for each text, blanks filled in.

    No column says where the blanks were: one that is nearly constant misleads who looks at
    distances or densities.
    """
    matrix = _preparation(features, scale=True, marked=False).fit_transform(features.matrix)
    return np.asarray(matrix, dtype=np.float64)


def _model(name: str, seed: int, folds: int, jobs: int | None) -> Any:
    if name == "auto":
        from purecover.models.best_scorer import BestScorer

        return BestScorer(cv=folds, random_state=seed, n_jobs=jobs)
    if name == "networks":
        from purecover_paper.networks import BaggedNetworks

        return BaggedNetworks(random_state=seed, n_jobs=jobs)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=seed)
    if name == "forest":
        from sklearn.ensemble import RandomForestClassifier

        # Leaves of several rows: pure ones would put most scores at 0.
        return RandomForestClassifier(300, min_samples_leaf=5, random_state=seed)
    if name == "nearest":
        from purecover.models.best_scorer import NearestLabeled

        return NearestLabeled(n_jobs=jobs)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _preparation(features: Features, *, scale: bool, marked: bool = True) -> Any:
    """What stands before the model; None if nothing has to."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    n_numeric, n_all = len(features.numeric), features.matrix.shape[1]
    if not (scale or features.encoded or features.blank_cells):
        return None
    steps: list[Any] = []
    if any(name in features.blank_cells for name in features.numeric):
        steps.append(
            SimpleImputer(strategy="median", add_indicator=marked, keep_empty_features=True)
        )
    if scale:
        steps.append(StandardScaler())
    numbers = make_pipeline(*steps) if steps else "passthrough"
    texts = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [
        ("numbers", numbers, list(range(n_numeric))),
        ("texts", texts, list(range(n_numeric, n_all))),
    ]
    return ColumnTransformer([part for part in parts if part[2]])


# -- features that tell labeled from unlabeled rows all alone -------------------------------------

LEAST_AUC = 0.99
"""What a feature alone may not reach: unlabeled positives look like labeled ones."""

_FEW_VALUES = 30
_LEAST_OF_EACH = 10


def find_leaks(
    matrix: FloatArray, names: Sequence[str], labeled: BoolArray, negative: BoolArray | None
) -> dict[str, float]:
    """Columns that rank labeled above unlabeled rows, or below, almost without fault.

    Each with its AUC. A column of few values may rank them in any order, since a model may;
    blank cells are a value of their own, or stand below or above all others.
    """
    rows = np.ones(labeled.size, dtype=bool) if negative is None else ~negative
    labeled = labeled[rows]
    if min(labeled.sum(), (~labeled).sum()) < _LEAST_OF_EACH:
        return {}
    found = {name: _auc(matrix[rows, j], labeled) for j, name in enumerate(names)}
    return {name: auc for name, auc in found.items() if auc >= LEAST_AUC}


def _auc(values: FloatArray, labeled: BoolArray) -> float:
    distinct, codes = np.unique(values, return_inverse=True)  # one NaN, the last
    if distinct.size <= _FEW_VALUES:
        shares = np.bincount(codes, weights=labeled) / np.bincount(codes)
        return ScoreCounts.from_scores(shares[codes], labeled).auc_pu
    ranks = codes.astype(np.float64)
    low = np.where(np.isnan(values), -1.0, ranks)
    areas = [ScoreCounts.from_scores(scores, labeled).auc_pu for scores in (ranks, low)]
    return max(max(area, 1 - area) for area in areas)
