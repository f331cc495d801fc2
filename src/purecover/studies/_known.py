"""What is known of the twelve data sets of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from purecover._frozen import FrozenDict
from purecover.studies._encodings import (
    BANK_COLUMNS,
    MUSHROOM_CATEGORIES,
    AboveMean,
    Encoding,
    NotOneOf,
    OneOf,
    Rule,
    encode_bank,
    encode_mushroom,
    encode_numbers,
)

__all__ = ["DATASETS", "PaperDataset"]


@dataclass(frozen=True, kw_only=True)
class PaperDataset:
    """What is known of a data set of the paper.

    Attributes
    ----------
    name, title : str
        Its name here, and as printed.
    n_labeled : int
        Number of labeled examples in the paper's runs.
    n, n_positive, n_features : int
        Counts as printed: n, n1 and d of Table 1.
    n_columns : int
        Number of columns of the source beside the target.
    rule : callable
        Who is positive, from the original target.
    encode : callable
        From columns to features.
    columns : tuple of str
        Names of the columns, where the encoding goes by names.
    first_rows : int or None
        The paper used so many rows, from the start.
    only_classes : tuple of str
        The paper used rows of these classes; by default all.
    spellings : mapping of str to str
        Other spellings of classes in online copies.
    missing : str
        The category that stands for missing values.
    openml_ids : tuple of int
        Identifiers of copies in OpenML.
    uci_id : int or None
        Identifier in the UCI repository.
    reason : str
        Why the number of features differs from the paper's, where it does.
    digest : str or None
        SHA-256 of features and classes, as the published results were made with.
    """

    name: str
    title: str
    n_labeled: int
    n: int
    n_positive: int
    n_features: int
    n_columns: int
    rule: Rule
    encode: Encoding = encode_numbers
    columns: tuple[str, ...] = ()
    first_rows: int | None = None
    only_classes: tuple[str, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=FrozenDict)
    missing: str = ""
    openml_ids: tuple[int, ...] = ()
    uci_id: int | None = None
    reason: str = ""
    digest: str | None = None


_ALL = (
    PaperDataset(
        name="bank", title="Bank", n_labeled=1000, n=45_000, n_positive=5188, n_features=13,
        n_columns=16, rule=OneOf("yes"), encode=encode_bank, columns=BANK_COLUMNS,
        first_rows=45_000, spellings=FrozenDict({"1": "no", "2": "yes"}), missing="unknown",
        openml_ids=(1461,), uci_id=222,
        digest="71befdb58c63c70006ded96fb5a7b12e7cf418c9188226862ebae41a2d2fecba",
    ),
    PaperDataset(
        name="concrete", title="Concrete", n_labeled=100, n=1030, n_positive=490, n_features=8,
        n_columns=8, rule=AboveMean(), openml_ids=(4353, 44959), uci_id=165,
        digest="d84a9698e8cfd54380ee4ea07ac8d1b911ab1638f14c7f93049a844af2af3a75",
    ),
    PaperDataset(
        name="gas", title="Gas", n_labeled=1000, n=5574, n_positive=2565, n_features=127,
        n_columns=128, rule=OneOf("1"), only_classes=("1", "5"), openml_ids=(1476,), uci_id=224,
        reason="the source has 128, none of them constant or twice; the paper does not say which "
        "one was left out",
        digest="e4fca81b76b323ba8216317a61042cb2762d833cd340f8b666af8b8d508fbc72",
    ),
    PaperDataset(
        name="housing", title="Housing", n_labeled=100, n=506, n_positive=209, n_features=13,
        n_columns=13, rule=AboveMean(), openml_ids=(531,),
        digest="3fbb707b961c7d49dc71cf3958958dcd8e7ea267ffc85c8a4f4eabcf9ea48132",
    ),
    PaperDataset(
        name="landsat", title="Landsat", n_labeled=1000, n=6435, n_positive=1508, n_features=36,
        n_columns=36, rule=OneOf("7"), openml_ids=(294,), uci_id=146,
        digest="142e090898bf5df5eeca14933e18c40094b500294b5be2fac2be1c075e6592bb",
    ),
    PaperDataset(
        name="mushroom", title="Mushroom", n_labeled=1000, n=8124, n_positive=3916,
        n_features=126, n_columns=22, rule=OneOf("p"), encode=encode_mushroom,
        columns=tuple(MUSHROOM_CATEGORIES), missing="?", openml_ids=(24,), uci_id=73,
        digest="d93e624bf3048e54456c775943359aa2b3b6b5d849bfc03a077739512b658866",
    ),
    PaperDataset(
        name="pageblock", title="Pageblock", n_labeled=100, n=5473, n_positive=560, n_features=10,
        n_columns=10, rule=NotOneOf("1"), openml_ids=(30,), uci_id=78,
        digest="dbc8f140887165a822e41510a819f196620b89fa4e554f6824dce83531edd8bc",
    ),
    # {0, 1, 4} and {2, 4, 7} have as many members; the paper does not say, and these are natural.
    PaperDataset(
        name="pendigit", title="Pendigit", n_labeled=1000, n=10_992, n_positive=3430,
        n_features=16, n_columns=16, rule=OneOf("0", "1", "2"), openml_ids=(32,), uci_id=81,
        digest="6562e18d66731d26989f2a3a7567d29e1584f023969452096b2f79c527e6c3b9",
    ),
    PaperDataset(
        name="pima", title="Pima", n_labeled=100, n=768, n_positive=268, n_features=8,
        n_columns=8, rule=OneOf("1"), openml_ids=(37,),
        spellings=FrozenDict({
            "tested_positive": "1", "tested_negative": "0", "positive": "1", "negative": "0",
        }),
        digest="f8e401bdcbd79871c3b5750ea7c1f60258ab33892096bed1f6e19ade405026f8",
    ),
    PaperDataset(
        name="shuttle", title="Shuttle", n_labeled=1000, n=58_000, n_positive=8903, n_features=9,
        n_columns=9, rule=OneOf("4"), openml_ids=(40685,), uci_id=148,
        digest="6264d337fd29a9d83fb0ad03939fc154450d3776d7f9b3e9d354ea40f4832d00",
    ),
    PaperDataset(
        name="spambase", title="Spambase", n_labeled=1000, n=4601, n_positive=1813, n_features=57,
        n_columns=57, rule=OneOf("1"), openml_ids=(44,), uci_id=94,
        digest="e6dc2760960cd4b46911855c47fc06d510ca3ec8f55127825465fea136e90a5e",
    ),
    PaperDataset(
        name="wine", title="Wine", n_labeled=1000, n=6497, n_positive=4113, n_features=11,
        n_columns=11, rule=AboveMean(), openml_ids=(287,), uci_id=186,
        digest="608f0251e52a462105d390f075cd74075d0d8a7a71b11ac1f34c2bbaae9f8c00",
    ),
)  # fmt: skip
DATASETS: Mapping[str, PaperDataset] = FrozenDict({each.name: each for each in _ALL})
"""The data sets by name."""
