"""Which share of each room's lines the suite reached, from the .coverage file of the last run.

    python tests/helpers/coverage_by_room.py

Compiled kernels run as machine code, which coverage cannot see: their lines count as missed though they ran.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from coverage import Coverage

import deptriad

PACKAGE = Path(deptriad.__file__).parent


def by_room(measured: Coverage) -> dict[str, tuple[int, int]]:
    """Statements, and those missed, of each room."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for file in sorted(measured.get_data().measured_files()):
        _, statements, _, missing, _ = measured.analysis2(file)
        room = found[Path(file).relative_to(PACKAGE).parts[0].removesuffix(".py")]
        room[0] += len(statements)
        room[1] += len(missing)
    return {room: (all_of_it, missed) for room, (all_of_it, missed) in found.items()}


def main() -> None:
    measured = Coverage()
    measured.load()
    rooms = by_room(measured)
    rooms["all"] = tuple(map(sum, zip(*rooms.values(), strict=True)))
    print(f"{'room':12} {'lines':>7} {'missed':>7} {'reached':>8}")
    for room, (lines, missed) in rooms.items():
        print(f"{room:12} {lines:7,} {missed:7,} {1 - missed / max(lines, 1):8.1%}")
    print("Lines of compiled kernels count as missed: they run as machine code, which is not seen.")
    print("Each line: coverage/index.html")


if __name__ == "__main__":
    main()
