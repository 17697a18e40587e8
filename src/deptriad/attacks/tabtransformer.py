"""A transformer over the reports: the learned attacker of the paper. Needs numpy and torch alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deptriad.attacks.attacker import Tokens
from deptriad.utils.progress import Progress

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
except ImportError as missing:
    raise ImportError(
        "attack with 'tabtransformer' needs torch: pip install 'deptriad[attack]'"
    ) from missing

Column = NDArray[np.int64] | NDArray[np.uint8]
"""One question's reports: the entry each names (1-D), or which of the entries it names (2-D).

Either way there is one entry more than the vocabulary has: the last stands for "not asked".
"""


@dataclass(frozen=True)
class TabTransformer:
    """Embeds every report, lets the reports attend to one another, and guesses the target.

    A batch of 16,384 and 10 epochs are the paper's. A batch goes through in micro-batches whose
    gradients are added up: the same update from a fraction of the memory, and quicker on a CPU.
    The learning rate was chosen on 50,000 records, which make 4 batches an epoch: of 0.001 to 0.01
    it came closest to the exact posterior on reports of every kind; above 0.002 unary ones suffer.

    Parameters
    ----------
    width : int
        Numbers in an embedding; a multiple of heads.
    layers, heads : int
        Of the transformer encoder.
    epochs : int
        Times that each training record is seen.
    batch : int
        Most records behind one update; an epoch's batches are of equal size.
    least_updates : int
        Where the epochs make fewer updates than this, the batches are smaller: 10 updates, all that
        a few thousand records would make, learn little, and a weak attack reassures wrongly. From
        150,000 records on it changes nothing; 1 keeps to the batch whatever the number of records.
    micro_batch : int
        Most records in memory at a time; on a GPU one may set it to the batch.
    learning_rate : float
        The highest; it rises to it over the first third of the updates and falls to 0 after that.
    device : str, optional
        As torch names it; by default a GPU where there is one, else the CPU. On the CPU the same
        generator gives the same attacker.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 500)
    >>> tokens = Tokens(("copy",), (np.eye(2, dtype=np.uint8)[truth],))
    >>> attacker = TabTransformer(8, 1, 2, least_updates=20, learning_rate=0.03, device="cpu")
    >>> guesses = attacker.fit(tokens, truth, 2, rng).log_posterior(tokens).argmax(axis=1)
    >>> bool((guesses == truth).all())
    True
    """

    width: int = 64
    layers: int = 3
    heads: int = 4
    epochs: int = 10
    batch: int = 16_384
    least_updates: int = 100
    micro_batch: int = 2_048
    learning_rate: float = 2e-3
    device: str | None = None

    def __post_init__(self) -> None:
        for name in ("width", "layers", "heads", "epochs", "batch", "least_updates", "micro_batch"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: give a whole number from 1")
        if self.width % self.heads:
            raise ValueError(
                f"a width of {self.width} does not divide among {self.heads} heads: "
                f"give a multiple, such as {self.heads * (self.width // self.heads + 1)}"
            )
        if not 0 < self.learning_rate < math.inf:
            raise ValueError(f"learning_rate is {self.learning_rate}: give a number above 0")

    name: ClassVar[str] = "tabtransformer"

    def fit(
        self,
        tokens: Tokens,
        target: NDArray[np.int64],
        size: int,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> FittedTabTransformer:
        """Train on people whose target is known; progress counts records, all epochs together."""
        _check_training(tokens, target, size)
        device = torch.device(self.device or ("cuda" if torch.cuda.is_available() else "cpu"))
        network = self._network(tokens.sizes, _frequencies(target, size), rng).to(device)
        self._train(network, _columns(tokens), target, rng, progress)
        return FittedTabTransformer(network.eval(), tokens.names, tokens.sizes, self.micro_batch)

    def _network(
        self, sizes: tuple[int, ...], frequencies: NDArray[np.float64], rng: np.random.Generator
    ) -> Network:
        # Made on the CPU whatever the device, and without touching torch's global seed.
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(int(rng.integers(2**63)))
            return Network(sizes, frequencies, self.width, self.layers, self.heads)

    def batches(self, records: int) -> int:
        """Batches that make an epoch of so many records."""
        wanted = max(math.ceil(records / self.batch), math.ceil(self.least_updates / self.epochs))
        return min(wanted, records)

    def _train(
        self,
        network: Network,
        columns: list[Column],
        target: NDArray[np.int64],
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> None:
        records, batches, done = len(target), self.batches(len(target)), 0
        # The large eps keeps rounding noise, where a gradient is all but 0, from becoming a step.
        optimiser = torch.optim.AdamW(
            network.parameters(), self.learning_rate, eps=1e-6, weight_decay=0.01
        )
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, self.learning_rate, total_steps=self.epochs * batches + 1
        )
        for _ in range(self.epochs):
            for batch in np.array_split(rng.permutation(records), batches):
                optimiser.zero_grad()
                for rows in _pieces(batch, self.micro_batch):
                    _add_gradient(network, columns, target, rows, len(batch))
                    done += len(rows)
                    if progress is not None:
                        progress(done, self.epochs * records)
                nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimiser.step()
                schedule.step()


@dataclass(frozen=True, repr=False)
class FittedTabTransformer:
    """A trained network and the questions it was trained on."""

    network: Network
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    micro_batch: int

    def __repr__(self) -> str:
        parameters = sum(parameter.numel() for parameter in self.network.parameters())
        return f"FittedTabTransformer({len(self.names)} questions, {parameters:,} parameters)"

    def log_posterior(self, tokens: Tokens) -> NDArray[np.float64]:
        """Natural log of each value's probability, (n, size of the target); rows are normalised."""
        if (tokens.names, tokens.sizes) != (self.names, self.sizes):
            raise ValueError(
                f"trained on {dict(zip(self.names, self.sizes, strict=True))} and given "
                f"{dict(zip(tokens.names, tokens.sizes, strict=True))}: "
                "pass the same questions in the same order"
            )
        columns = _columns(tokens)
        rows = _pieces(np.arange(len(tokens)), self.micro_batch)
        with torch.inference_mode():
            logits = [self.network(_inputs(self.network, columns, some)) for some in rows]
            posterior = functional.log_softmax(torch.cat(logits).double(), dim=1)
            return np.asarray(posterior.cpu().numpy())


class Network(nn.Module):
    """Embeddings, a transformer encoder over the questions, and a perceptron over all of it."""

    def __init__(
        self,
        sizes: tuple[int, ...],
        frequencies: NDArray[np.float64],
        width: int,
        layers: int,
        heads: int,
    ) -> None:
        super().__init__()
        self.entries = nn.ParameterList(_entries(size, width) for size in sizes)
        self.questions = nn.Parameter(torch.randn(len(sizes), width) / math.sqrt(width))
        layer = nn.TransformerEncoderLayer(
            width,
            heads,
            dim_feedforward=4 * width,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.encoder = nn.TransformerEncoder(
            layer, layers, norm=nn.LayerNorm(width), enable_nested_tensor=False
        )
        for parameter in self.encoder.parameters():  # the layers are copies of one until now
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        last = nn.Linear(2 * width, len(frequencies))
        nn.init.zeros_(last.weight)  # it starts at the best guess that no report informs
        last.bias.data = torch.from_numpy(np.log(frequencies)).float()
        self.head = nn.Sequential(nn.Linear(len(sizes) * width, 2 * width), nn.GELU(), last)

    def forward(self, columns: list[Tensor]) -> Tensor:
        """Logits of the target's values, (people, size), from each question's reports."""
        tokens = [
            functional.embedding(column, entries)
            if column.dim() == 1
            else column.to(entries.dtype) @ entries
            for column, entries in zip(columns, self.entries, strict=True)
        ]
        attended = self.encoder(torch.stack(tokens, dim=1) + self.questions)
        logits: Tensor = self.head(attended.flatten(1))
        return logits


def _entries(size: int, width: int) -> nn.Parameter:
    """A vector for each entry of a vocabulary, and zeros, to be learned, for "not asked"."""
    vectors = torch.randn(size + 1, width) / math.sqrt(width)
    vectors[size] = 0
    return nn.Parameter(vectors)


def _columns(tokens: Tokens) -> list[Column]:
    """Each question's reports in the form that is quickest to embed."""
    columns: list[Column] = []
    for support in tokens.supports:
        extended = np.column_stack([support, ~support.any(axis=1)]).astype(np.uint8)
        named = np.count_nonzero(extended, axis=1)
        columns.append(extended.argmax(axis=1) if named.max(initial=1) == 1 else extended)
    return columns


def _inputs(network: Network, columns: list[Column], rows: NDArray[np.int64]) -> list[Tensor]:
    device = network.questions.device
    return [torch.from_numpy(column[rows]).to(device) for column in columns]


def _pieces(rows: NDArray[np.int64], most: int) -> list[NDArray[np.int64]]:
    return np.array_split(rows, max(1, math.ceil(len(rows) / most)))


def _add_gradient(
    network: Network,
    columns: list[Column],
    target: NDArray[np.int64],
    rows: NDArray[np.int64],
    batch: int,
) -> None:
    """Add these rows' part of the gradient of the mean loss over the whole batch."""
    truth = torch.from_numpy(target[rows]).to(network.questions.device)
    logits = network(_inputs(network, columns, rows))
    loss = functional.cross_entropy(logits, truth, reduction="sum") / batch
    torch.autograd.backward(loss)


def _frequencies(target: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """How common each value is; half a person more of each, so that none is impossible."""
    counts = np.bincount(target, minlength=size) + 0.5
    return np.asarray(counts / counts.sum(), dtype=np.float64)


def _check_training(tokens: Tokens, target: NDArray[np.int64], size: int) -> None:
    if not tokens.names or not len(tokens):
        raise ValueError(
            f"nothing to learn from: {tokens!r}; give at least one question and person"
        )
    if target.shape != (len(tokens),):
        raise ValueError(
            f"the target has shape {target.shape} and there are {len(tokens)} people: "
            "give one code for each"
        )
    if target.min() < 0 or target.max() >= size:
        raise ValueError(
            f"the target's codes run from {target.min()} to {target.max()}: "
            f"expected 0 to {size - 1}, since its size is {size}"
        )
