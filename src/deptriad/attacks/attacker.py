"""What an attacker sees and what it must answer; numpy only, so that attackers run anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deptriad.utils.progress import Progress

Supports = NDArray[np.bool_] | NDArray[np.uint8]


@dataclass(frozen=True)
class Tokens:
    """What an attacker sees of n people: one token for each question.

    Parameters
    ----------
    names : tuple of str
        Of the questions.
    supports : tuple of array, each (n, size)
        Zeros and ones (bool or uint8): which entries of the token's vocabulary the report names.
        A GRR report names one, a unary report several; a row of zeros was not asked.

    Examples
    --------
    >>> import numpy as np
    >>> tokens = Tokens(("sex",), (np.eye(2, dtype=bool)[[0, 1, 1]],))
    >>> len(tokens), tokens.sizes, len(tokens.rows([0, 2]))
    (3, (2,), 2)
    """

    names: tuple[str, ...]
    supports: tuple[Supports, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.supports):
            raise ValueError(
                f"{len(self.names)} names for {len(self.supports)} supports: "
                "give one array for each question"
            )
        for name, support in zip(self.names, self.supports, strict=True):
            _check_support(name, support, len(self))

    def __len__(self) -> int:
        return len(self.supports[0]) if self.supports else 0

    def __repr__(self) -> str:
        sizes = ", ".join(
            f"{name}: {size}" for name, size in zip(self.names, self.sizes, strict=True)
        )
        return f"Tokens({len(self)} people; {sizes})"

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of entries in each token's vocabulary."""
        return tuple(support.shape[1] for support in self.supports)

    def rows(self, index: Any) -> Tokens:
        """The tokens of some of the people: a slice, positions or a mask, as numpy indexes."""
        return Tokens(self.names, tuple(support[index] for support in self.supports))


def _check_support(name: str, support: Supports, length: int) -> None:
    if support.ndim != 2 or support.dtype not in (np.bool_, np.uint8):
        raise ValueError(
            f"the supports of {name!r} are {support.dtype} of shape {support.shape}: "
            "expected bool or uint8 of shape (people, size of the vocabulary)"
        )
    if support.max(initial=0) > 1:
        raise ValueError(
            f"the supports of {name!r} go up to {support.max()}: give 1 where the report names "
            "an entry and 0 where it does not"
        )
    if len(support) != length:
        raise ValueError(
            f"the supports of {name!r} have {len(support)} rows and those before it {length}: "
            "every question needs one row for each person (zeros where not asked)"
        )


class Fitted(Protocol):
    """An attacker after training."""

    def log_posterior(self, tokens: Tokens) -> NDArray[np.float64]:
        """Natural log of each value's probability, (n, size of the target); rows are normalised."""
        ...


class Attacker(Protocol):
    """Something that learns to guess a target from tokens."""

    @property
    def name(self) -> str:
        """As results print it."""
        ...

    def fit(
        self,
        tokens: Tokens,
        target: NDArray[np.int64],
        size: int,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Fitted:
        """Train on people whose target codes (0 ... size - 1) are known; progress(done, total)."""
        ...
