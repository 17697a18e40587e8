"""What goes wrong around the command line: kills, bad inputs, full and read-only disks, two writers at once.

    make faults                                       # minutes; prints counts by command, and each failure
    make faults FAULTS="--kills 100 --seed 7"
    make faults FAULTS="--only perturb report"

An old file stays or is replaced by a whole one; nothing is left behind; every mistake ends in a line, never in a
traceback. Which moments and which bytes are drawn by a seed, which is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "helpers"))

import bad_inputs

COMMAND = [sys.executable, "-c", "from deptriad.cli import main; main()"]
DATA = ("survey.csv", "--schema", "schema.json")
WRITERS: dict[str, tuple[str, ...]] = {
    "schema": ("schema", "survey.csv", "--force", "--out", "out.json"),
    "analyze": ("analyze", *DATA, "--force", "--save", "out.json"),
    "analyze to Parquet": ("analyze", *DATA, "--force", "--save", "out.parquet"),
    "calibrate": ("calibrate", *DATA, "--total", "3", "--force", "--plan", "out.json"),
    "perturb": ("perturb", "plan.json", "big.csv", "--force", "--out", "out.parquet"),
    "attack": ("attack", "plan.json", "survey.csv", "--targets", "sex", "--force", "--out", "out.json"),
    "report": ("report", *DATA, "--force", "--out", "out.html"),
    "counts": ("counts", *DATA, "--force", "--save", "out.npz"),
    "sign": ("sign", "plan.json", "--key", "key.pem", "--force"),
    "client": ("client", "plan.json", "--force", "--out", "out"),
    "invite": ("invite", "plan.json", "--count", "50", "--store", "reports.db", "--force", "--out", "out.txt"),
    "paper": ("paper", "table-2", "--quick", "--again", "--force", "--page", "out.md"),
}  # fmt: skip
"""Each command that writes, and what it writes last; it may do so over an old file."""

OUTPUTS = {"sign": "plan.json.sig", "client": "out/survey.html"}
"""What is written last, where it is not the last word."""

INPUTS = "bad inputs"
SIGNALS = {name: getattr(signal, name) for name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")}
LIMIT = 1800.0
"""Seconds after which a command is said to hang."""


class Faults:
    """A folder to work in, and what was tried and what went wrong there."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self.rng = folder, rng
        self.tried: Counter[tuple[str, str]] = Counter()
        self.wrong: list[str] = []
        bad_inputs.write_inputs(folder)

    def tell(self, command: str, what: str, complaint: str | None) -> None:
        """Count a trial, and print what is wrong with its outcome."""
        self.tried[command, what] += 1
        if complaint:
            self.wrong.append(f"{command}, {what}: {complaint}")
            print(f"WRONG: {self.wrong[-1]}", flush=True)

    def start(self, command: str, folder: Path | None = None, **options) -> subprocess.Popen:
        return subprocess.Popen(
            [*COMMAND, *WRITERS[command]],
            cwd=folder or self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def output(self, command: str) -> Path:
        return self.folder / output_of(command)

    def rest(self) -> list[str]:
        """What unfinished work is in the folder."""
        return sorted(path.name for path in self.folder.rglob(".deptriad-*"))


def output_of(command: str) -> str:
    return OUTPUTS.get(command, WRITERS[command][-1])


def is_whole(path: Path) -> bool:
    """Whether a new file is a complete one of its kind."""
    content = path.read_bytes()
    if path.suffix == ".json":
        try:
            return bool(json.loads(content))
        except ValueError:
            return False
    if path.suffix == ".npz":
        return zipfile.is_zipfile(path)
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        try:
            return pq.read_table(path).num_rows > 0
        except (OSError, ValueError):  # pyarrow's errors are of these kinds
            return False
    return content.rstrip().endswith(b"</html>") if path.suffix == ".html" else len(content) > 20


def complaint_of(path: Path, old: bytes, errors: str) -> str | None:
    """What is wrong where an old file was to be replaced, if anything is."""
    if "Traceback" in errors or "should not happen" in errors:
        return f"it ended in {errors[-1500:]}"
    if not path.is_file():
        return "the old file is lost"
    if path.read_bytes() != old and not is_whole(path):
        return "half a file is there"
    return None


# --- kills ------------------------------------------------------------------------------------------


def kill(faults: Faults, command: str, number: int) -> None:
    """End runs at random moments: half of them anywhere, half while a file is being written."""
    path = faults.output(command)
    began = time.monotonic()
    first = faults.start(command)
    errors = first.communicate(timeout=LIMIT)[1]
    took = time.monotonic() - began
    if first.returncode or not is_whole(path):
        faults.tell(command, "plain run", f"exit code {first.returncode}, {errors[-500:]}")
        return
    for i in range(number):
        name = faults.rng.choice(list(SIGNALS))
        old = f"old {i}, which is precious".encode()
        path.write_bytes(old)
        process = faults.start(command)
        if i % 2:
            _wait_for_writing(faults, process)
            time.sleep(faults.rng.uniform(0.0, 0.02))
        else:
            time.sleep(faults.rng.uniform(0.0, took))
        process.send_signal(SIGNALS[name])
        errors = process.communicate(timeout=LIMIT)[1]
        complaint = complaint_of(path, old, errors)
        if name != "SIGKILL" and faults.rest():
            complaint = complaint or f"it left {faults.rest()}"
        faults.tell(command, name, complaint)
        if name == "SIGKILL" and faults.rest() and command != "paper":
            done = faults.start(command)
            done.communicate(timeout=LIMIT)
            left = f"the next run ended with {done.returncode} and left {faults.rest()}"
            faults.tell(command, "run after a kill", left if done.returncode or faults.rest() else None)  # fmt: skip


def _wait_for_writing(faults: Faults, process: subprocess.Popen) -> None:
    while process.poll() is None and not faults.rest():
        time.sleep(0.002)


# --- places that cannot be written ------------------------------------------------------------------


def fill_disk(faults: Faults, command: str, number: int) -> None:
    """No file may be larger than so much; and a disk of its own that is full."""
    path = faults.output(command)
    size = path.stat().st_size
    for _ in range(number):
        old = b"old and precious"
        path.write_bytes(old)
        most = faults.rng.randrange(1, size)
        process = faults.start(
            command, preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        )  # fmt: skip
        errors = process.communicate(timeout=LIMIT)[1]
        complaint = complaint_of(path, old, errors)
        if not complaint and (path.read_bytes() != old or not process.returncode or faults.rest()):
            complaint = f"exit code {process.returncode}, left {faults.rest()}: {errors[-500:]}"
        faults.tell(command, "file too large", complaint)
    on_own_disk(faults, command, "disk full", "")
    on_own_disk(faults, command, "disk read-only", "mount -o remount,ro room;")


def on_own_disk(faults: Faults, command: str, what: str, then: str) -> None:
    """Write into a small file system of its own, which only these processes see."""
    shutil.rmtree(faults.folder / "after", ignore_errors=True)
    (faults.folder / "room").mkdir(exist_ok=True)
    inside = [*WRITERS[command]]
    if command == "sign":  # which writes beside what it signs
        inside[1] = "room/plan.json"
    else:
        inside[-1] = f"room/{inside[-1]}"
    out = output_of(command)
    script = (
        "mount -t tmpfs -o size=8k tmpfs room || exit 99; cp plan.json room 2>/dev/null;"
        f'mkdir -p "$(dirname room/{out})"; echo old > room/{out};'
        f'head -c 9999 /dev/zero > room/filler 2>/dev/null; {then} "$@"; code=$?;'
        "cp -r room after; exit $code"
    )
    words = ["unshare", *([] if os.getuid() == 0 else ["-r"]), "-m", "sh", "-c", script, "sh"]
    try:
        done = subprocess.run(
            [*words, *COMMAND, *inside], cwd=faults.folder, capture_output=True, text=True
        )
    except FileNotFoundError:
        done = subprocess.CompletedProcess([], 99)
    if done.returncode == 99 or (done.returncode == 1 and "unshare:" in done.stderr):
        faults.tried[command, f"{what} (not possible here)"] += 1
        return
    complaint = complaint_of(faults.folder / "after" / out, b"old\n", done.stderr)
    left = [path.name for path in (faults.folder / "after").rglob(".deptriad-*")]
    if not complaint and (done.returncode != 1 or left):
        complaint = f"exit code {done.returncode}, left {left}: {done.stderr[-500:]}"
    faults.tell(command, what, complaint)


def write_twice(faults: Faults, command: str, number: int) -> None:
    """Two processes write the same file at once."""
    path = faults.output(command)
    for _ in range(number):
        path.write_bytes(b"old")
        both = [faults.start(command), faults.start(command)]
        errors = [each.communicate(timeout=LIMIT)[1] for each in both]
        complaint = complaint_of(path, b"", "".join(errors))
        codes = [each.returncode for each in both]
        if not complaint and (any(codes) or faults.rest()):
            complaint = f"exit codes {codes}, left {faults.rest()}: {errors}"
        faults.tell(command, "two writers", complaint)


# --- all of it --------------------------------------------------------------------------------------


def feed(faults: Faults, cases: Iterator[bad_inputs.Case]) -> None:
    """Bad inputs, in this process: whatever is no exit with a line would be a traceback."""
    from deptriad.cli import main

    for case in cases:
        complaint = bad_inputs.complaint(main, case)
        faults.tell(case.command, INPUTS, complaint and f"{case.kind}: {complaint}")


def run(
    seed: int,
    kills: int,
    inputs: int,
    places: int = 2,
    only: list[str] | None = None,
    say: Callable[[str], None] = print,
) -> int:
    rng = random.Random(seed)
    say(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(Path(folder), rng)
        for command in only or WRITERS:
            if kills:
                kill(faults, command, kills)
            if places and faults.output(command).exists():
                write_twice(faults, command, places)
                fill_disk(faults, command, places)
            counts = {what: n for (each, what), n in faults.tried.items() if each == command}
            say(f"{command}: {', '.join(f'{n} {what}' for what, n in counts.items())}")
        feed(faults, bad_inputs.cases(Path(folder), rng, inputs))
    for command in sorted({command for command, what in faults.tried if what == INPUTS}):
        say(f"{command}: {faults.tried[command, INPUTS]} {INPUTS}")
    say(f"{sum(faults.tried.values()):,} trials, {len(faults.wrong)} wrong")
    return 1 if faults.wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--kills", type=int, default=30, help="of each command")
    parser.add_argument("--inputs", type=int, default=1000, help="bad inputs, of all commands")
    parser.add_argument(
        "--places", type=int, default=3, help="full disks and pairs of writers, each"
    )
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--only", nargs="*", metavar="COMMAND", choices=WRITERS)
    given = parser.parse_args()
    return run(given.seed, given.kills, given.inputs, given.places, given.only)


if __name__ == "__main__":
    sys.exit(main())
