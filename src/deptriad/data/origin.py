"""Origin: which data the values of a schema were taken from, and whether that data is public."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Self

from deptriad.utils import files
from deptriad.utils.text import brief, printable

SAID = {True: "yes", False: "no", None: "not said"}
"""Whether data is public, in words and in the file of a schema."""


@dataclass(frozen=True)
class Origin:
    """Where a schema comes from.

    Parameters
    ----------
    name
        The file that it was inferred from, or "a frame".
    records
        How many records that had; None where it is not known, or is not to be told.
    public
        Whether they are public; None where nobody said.

    Examples
    --------
    >>> print(Origin("survey.csv", 944, True))
    inferred from survey.csv, 944 records, public: yes
    """

    name: str
    records: int | None = None
    public: bool | None = None

    def __str__(self) -> str:
        records = "" if self.records is None else f", {self.records:,} records"
        return f"inferred from {printable(self.name)}{records}, public: {SAID[self.public]}"

    def has(self, name: str, records: int) -> bool:
        """Whether these may be the same records: the same file, or as many."""
        if records == self.records:
            return True
        there = os.path.exists(name) and os.path.exists(self.name)
        return there and os.path.samefile(name, self.name)

    def to_dict(self, counts: bool = True) -> dict[str, Any]:
        """As in the JSON of a schema, with or without how many records there were."""
        number = {"records": self.records} if counts and self.records is not None else {}
        return {"inferred_from": self.name, **number, "public": SAID[self.public]}

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """From the JSON of a schema; an error says what is wrong with it."""
        if not isinstance(content, dict):
            raise ValueError(f"origin is {brief(content)}, expected an object")
        files.refuse_misfits(content, "origin", ("inferred_from", "records", "public"), lists=())
        name, records, public = (content.get(key) for key in ("inferred_from", "records", "public"))
        if not isinstance(name, str):
            raise ValueError(f'origin has "inferred_from": {brief(name)}, expected text')
        if not (records is None or type(records) is int):
            raise ValueError(f'origin has "records": {brief(records)}, expected a whole number')
        words = {said: value for value, said in SAID.items()}
        if public is not None and public not in words:
            raise ValueError(
                f'origin has "public": {brief(public)}, expected one of {", ".join(words)}'
            )
        return cls(name, records, words[public] if public else None)
