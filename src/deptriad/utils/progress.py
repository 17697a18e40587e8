"""How long work says how far it is."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with what is done and with how much there is, None where that is not known."""
