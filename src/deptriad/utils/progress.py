"""How long work says how far it is."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with what is done and with how much there is, None where that is not known."""

BEFORE_COMPILING: list[Callable[[], None]] = []
"""Called before a loop is compiled that is not on disk yet, so that a command can say why it takes so long."""
