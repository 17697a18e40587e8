"""The paper's datasets: where each is to be had, how it is read, and the schema its numbers are computed under."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deptriad.data.attribute import Attribute
from deptriad.data.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from deptriad.analysis.prior import Prior


Binning = Literal["quantile", "width"]
"""Bins of equal counts or of equal width: the paper says only that numbers were binned."""


class Missing(ValueError):
    """A dataset that is not in the folder."""


@dataclass(frozen=True)
class Dataset:
    """A dataset of the paper.

    Parameters
    ----------
    name
        As items call it.
    file
        Its name in the data folder.
    paper
        Which of the paper's datasets it stands for, and how it differs.
    origin, licence
        Where a user gets the original, and under which terms.
    convert
        How to make the file of the original.
    rows
        How many records it has; ``deptriad datasets --data`` tells another number.
    sha256
        Of the file as used here; Parquet written by another program has another, so a difference is told and no error.
    prepare
        From the file's frame, a way of binning and a number of bins to the records and the schema that items use.
    """

    name: str
    file: str
    paper: str
    origin: str
    licence: str
    convert: str
    rows: int
    sha256: str
    prepare: Callable[[pd.DataFrame, Binning, int], tuple[pd.DataFrame, Schema]]


@dataclass(frozen=True)
class Library:
    """The datasets of a folder.

    Parameters
    ----------
    folder
        Where the files are; None where there are none.
    """

    folder: Path | None = None

    @cached_property
    def _read(self) -> dict[tuple[str, str, int], tuple[pd.DataFrame, Schema]]:
        return {}

    @cached_property
    def _priors(self) -> dict[tuple[str, str, int, int | None], Prior]:
        return {}

    @cached_property
    def _sums(self) -> dict[str, str]:
        return {}

    def has(self, name: str) -> bool:
        """Whether a dataset is there."""
        return self.folder is not None and (self.folder / DATASETS[name].file).is_file()

    def path(self, name: str) -> Path:
        """The file of a dataset."""
        if self.folder is None or not self.has(name):
            raise Missing(f"there is no {self.described([name])}")
        return self.folder / DATASETS[name].file

    def described(self, names: Sequence[str]) -> str:
        """Files that are missing, and how to get them."""
        which = ", ".join(DATASETS[name].file for name in names)
        where = "with --data" if self.folder is None else f"in {self.folder}"
        return f"{which} {where} ('deptriad datasets' says where to get it)"

    def fingerprint(self, name: str) -> str:
        """SHA-256 of a dataset's file."""
        if name not in self._sums:
            self._sums[name] = sha256(self.path(name).read_bytes()).hexdigest()
        return self._sums[name]

    def count(self, name: str) -> int:
        """How many records a dataset's file has, without reading them."""
        from pyarrow.parquet import read_metadata

        return int(read_metadata(self.path(name)).num_rows)

    def records(
        self, name: str, binning: Binning = "quantile", bins: int = 10
    ) -> tuple[pd.DataFrame, Schema]:
        """The records of a dataset and their schema; read once for each way of binning."""
        import pandas as pd

        key = (name, binning, bins)
        if key not in self._read:
            frame = pd.read_parquet(self.path(name))
            self._read[key] = DATASETS[name].prepare(frame, binning, bins)
        return self._read[key]

    def prior(
        self,
        name: str,
        rows: Any = None,
        binning: Binning = "quantile",
        bins: int = 10,
        **options: Any,
    ) -> Prior:
        """The prior of a dataset, or of some of its records."""
        from deptriad.analysis.prior import Prior

        frame, schema = self.records(name, binning, bins)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of thin values: samples are small here
            return Prior.from_data(frame if rows is None else frame.iloc[rows], schema, **options)

    def sample_prior(
        self, name: str, binning: Binning = "quantile", bins: int = 10, most: int | None = None
    ) -> Prior:
        """The prior of a dataset, or of so many of its records, always the same ones; made once."""
        key = (name, binning, bins, most)
        if key not in self._priors:
            count = len(self.records(name, binning, bins)[0])
            rows = None
            if most is not None and count > most:
                rows = np.sort(np.random.default_rng(0).choice(count, most, replace=False))
            self._priors[key] = self.prior(name, rows, binning, bins)
        return self._priors[key]


# --- how each is read ---------------------------------------------------------------------------------------------


def _inferred(
    frame: pd.DataFrame, binning: Binning, bins: int, leave_out: Sequence[str] = ()
) -> tuple[pd.DataFrame, Schema]:
    """All columns but some, with values as they are, and bins where a number has more than 50."""
    kept = frame.drop(columns=list(leave_out))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return kept, Schema.infer(kept, bins, binning, max_categories=50)


def _adult(
    frame: pd.DataFrame, binning: Binning = "quantile", bins: int = 10
) -> tuple[pd.DataFrame, Schema]:
    """Without the weight of a record in the population, which is no answer."""
    return _inferred(frame, binning, bins, leave_out=["fnlwgt"])


def _cardio(
    frame: pd.DataFrame, binning: Binning = "quantile", bins: int = 10
) -> tuple[pd.DataFrame, Schema]:
    """The eleven features: without the number of a record, and the diagnosis."""
    return _inferred(frame, binning, bins, leave_out=["id", "cardio"])


def _faces(
    frame: pd.DataFrame, binning: Binning = "quantile", bins: int = 10
) -> tuple[pd.DataFrame, Schema]:
    """All binary: there is nothing to bin."""
    return frame, Schema([Attribute(name, [0, 1], missing="error") for name in frame.columns])


def _portraits(
    frame: pd.DataFrame, binning: Binning = "quantile", bins: int = 10
) -> tuple[pd.DataFrame, Schema]:
    """Scores above 0 mean present; names as CelebA writes them."""
    scores = frame.drop(columns=["person", "imagenum"])
    return _faces((scores > 0).astype("int8").rename(columns=_as_celeba))


def _as_celeba(name: str) -> str:
    """LFW's name of an attribute as CelebA writes it.

    The file's header runs on in the name of one column, X5.o.Clock.Shadow; the columns themselves are in order.
    """
    if name.startswith("X5.o.Clock.Shadow"):
        return "5_o_Clock_Shadow"
    return name.replace(".", "_")


def _payments(
    frame: pd.DataFrame, binning: Binning = "quantile", bins: int = 10
) -> tuple[pd.DataFrame, Schema]:
    """Counts of payments by area and quarter; suppressed small counts are missing."""
    import pandas as pd

    counts = frame.drop(columns=["date", "SA2_CODE_2021", "SA2_Name_2021"])
    numbers = counts.apply(pd.to_numeric, errors="coerce").astype("float64")
    return _inferred(numbers, binning, bins)


def _poverty(
    frame: pd.DataFrame, binning: Binning = "quantile", bins: int = 10
) -> tuple[pd.DataFrame, Schema]:
    return _inferred(frame, binning, bins, leave_out=["h_seq"])


_INF = float("inf")
STATE = "ST"
EIGHT = Schema(
    [
        Attribute("SEX", [1, 2], missing="error"),
        Attribute("AGEP", edges=[18, 25, 35, 45, 55, 65, 75, _INF], missing="error"),
        Attribute("MAR", [1, 2, 3, 4, 5], missing="error"),
        Attribute("RAC1P", [1, 2, 3, 6], missing="error", unseen="other"),
        Attribute("HISP", [1], missing="error", unseen="other"),
        Attribute("SCHL", edges=[1, 16, 18, 21, 22, 25], missing="error"),
        Attribute("HINS3", [1, 2], missing="error"),
        Attribute("PINCP", edges=[-_INF, 10_000, 25_000, 45_000, 75_000, _INF], missing="error"),
    ]
)
"""The state-wise survey: adults' sex, age, marital status, race, Hispanic origin, schooling, Medicare, income."""

_NINE = {"SEX": 2, "MAR": 5, "CIT": 5, "RAC1P": 9, "NATIVITY": 2, "DIS": 2, "HICOV": 2}
_NINE |= {"PRIVCOV": 2, "PUBCOV": 2}
NINE = Schema(
    [Attribute(name, list(range(1, size + 1)), missing="error") for name, size in _NINE.items()]
)
"""Nine attributes of mixed dependence, for marginals and attacks."""


def _adults(
    frame: pd.DataFrame, binning: Binning = "quantile", bins: int = 10
) -> tuple[pd.DataFrame, Schema]:
    """Adults of all states; the state is kept beside the schema."""
    grown = frame[frame["AGEP"] >= 18]
    columns = dict.fromkeys((*EIGHT.names, *NINE.names, STATE))
    return grown[list(columns)], EIGHT


DATASETS = {
    each.name: each
    for each in (
        Dataset(
            "adult",
            "adult.parquet",
            "Adult, in full",
            "UCI Machine Learning Repository, dataset 2 'Adult', files adult.data and adult.test",
            "CC BY 4.0",
            "read both files as CSV without a header, strip spaces and the dots of adult.test, write one Parquet file "
            "with the names of adult.names, underscores for hyphens",
            48_842,
            "fbe51dd67805062c14e2fd63950eef0d5c01dc834c0d236cfd621df2914be62d",
            _adult,
        ),
        Dataset(
            "cvd",
            "cardio.parquet",
            "CVD, in full",
            "Kaggle, 'Cardiovascular Disease dataset' by Svetlana Ulianova, file cardio_train.csv",
            "not stated by its publisher",
            "read the CSV with ';' between fields and write it as Parquet",
            70_000,
            "c29881223fc62cb5f2c1339376e6a452587d3128039907769ed048164a491e50",
            _cardio,
        ),
        Dataset(
            "celeba",
            "celeba.parquet",
            "CelebA, in full",
            "MMLAB of the Chinese University of Hong Kong, 'CelebA', file list_attr_celeba.txt",
            "for non-commercial research",
            "read the table after its first line, map -1 to 0, leave out the file names, write Parquet",
            202_599,
            "13885544d60d854cd6fa530d66e28ae8cbdf5f3ddc1e9e3e47e2c10948ae3243",
            _faces,
        ),
        Dataset(
            "lfw",
            "lfw_subset.parquet",
            "LFW, only people with at least 20 images: a biased part",
            "'Labeled Faces in the Wild' attributes of Kumar et al. (2009), file lfw_attributes.txt",
            "for non-commercial research",
            "read the tab-separated table, write dots for spaces in its names, keep people who have 20 images or "
            "more in LFW (62, two of them with 19 in this file), write Parquet",
            2_999,
            "71cb27deb16acbe90a6d6813c4446626f66d55c0662456e1bfd9bd9b99280a85",
            _portraits,
        ),
        Dataset(
            "spm",
            "cps_spm_2019.parquet",
            "SPM, another edition: based on the CPS, 17 of 38 attributes, 158 thousand of 3 million records",
            "US Census Bureau, Supplemental Poverty Measure research files, that of the year 2019 (from the CPS ASEC)",
            "public domain",
            "a row for each person; keep h_seq and these columns, in lower case, and write Parquet: spm_poor, "
            "spm_tenmortstatus, spm_totval, spm_snapsub, spm_caphousesub, spm_schlunch, spm_engval, spm_wicval, "
            "spm_fedtax, spm_eitc, spm_actc, spm_fica, spm_sttax, spm_childsuppd, spm_capwkccxpns, spm_medxpns, "
            "spm_hage",
            157_959,
            "3a2ad92cc50e436446c4c2a5d8258b1068b60f857238f16e04b04651d6ae9d86",
            _poverty,
        ),
        Dataset(
            "dss",
            "dss_2025.parquet",
            "DSS, another edition: 21 of 27 attributes, 22 thousand of 38 thousand records",
            "Australian Government's open-data portal, 'DSS Payment Demographic Data', SA2 tables, nine quarters "
            "to 2025",
            "CC BY",
            "stack the SA2 sheets of June 2023 to June 2025, name their first columns SA2_CODE_2021 and SA2_Name_2021, "
            "add a column date, such as 2023-06, keep the 21 payments that all quarters have, write Parquet",
            22_086,
            "f58532e262fe532435409149a2d149c8190f51964269f96b685f88398d3ed921",
            _payments,
        ),
        Dataset(
            "acs",
            "acs_2018_14_states.parquet",
            "SPM's survey by state, in another survey: the ACS persons of 2018 in 14 states",
            "US Census Bureau, American Community Survey, Public Use Microdata Sample 2018, 1-year, person files",
            "public domain",
            "stack the person files of DE, HI, ID, ME, MT, NE, NH, NM, ND, RI, SD, VT, WV and WY, all records, with at "
            f"least the columns {', '.join(dict.fromkeys((STATE, *EIGHT.names, *NINE.names)))}, and write Parquet",
            173_916,
            "a2fe80e3ce0b1046055b12967265c21c8123118ce0847abbfafac3891f2ee4cf",
            _adults,
        ),
    )
}
"""By the name that items use."""

FIVE = ("spm", "celeba", "adult", "cvd", "dss")
"""The paper's five real datasets, in its order."""
