"""How exposed attributes are, as `deptriad analyze` shows it: one line each, and then the strongest pairs."""

from collections.abc import Mapping, Sequence

from rich.markup import escape

from deptriad.analysis.analysis import Analysis
from deptriad.analysis.exposure import Exposure, Exposures, fewest_records
from deptriad.analysis.leakage_matrix import Leak
from deptriad.analysis.thin_targets import done_about
from deptriad.cli.app import console, number_table, up
from deptriad.utils.text import printable, surety, times, told_apart

MARK = "*"
"""After a number that rests on few records."""

SENTENCES = 2
"""How many of the pairs are put into words."""


class Shown:
    """An analysis at given budgets, put on the screen piece by piece; remembers whether a number was marked."""

    def __init__(self, found: Analysis, budgets: Mapping[str, float], totals: bool) -> None:
        self.found, self.budgets, self.screen = found, budgets, console()
        self.fewest: list[int] = []
        # two names have to fit, and four numbers, or two
        longest = max((self.screen.width - (52 if totals else 32)) // 2, 8)
        short = told_apart([printable(name) for name in found.names], longest)
        self.short = dict(zip(found.names, short, strict=True))

    def all(self, seen: Exposures, top: int) -> None:
        """Everything, what matters most first."""
        self._head()
        self._attributes(seen)
        self._groups(seen)
        self._pairs(seen.below[:top], len(seen.below), len(seen.below) < len(seen.pairs))
        self._foot(any(each.total for each in seen.attributes))

    def _name(self, name: str | None) -> str:
        if name is None:
            return "–"
        return escape(self.short[name])

    def _number(self, source: str | None, target: str, leakage: float) -> str:
        """A leakage, marked where it rests on few records."""
        if source is None:
            return "0"
        return f"{up(leakage)}{self._mark(source, target)}"

    def _mark(self, source: str, target: str) -> str:
        """What stands after a number: a mark where it rests on few records."""
        fewest = fewest_records(self.found, source, target, self.budgets[source])
        if fewest is None:
            return " "
        self.fewest.append(fewest)
        return MARK

    def _entirely(self, each: Exposure) -> str:
        """How many tell everything, marked where one of them does so by few records."""
        marks = [self._mark(source, each.target) for source in each.entirely_by]
        return f"{each.entirely}{max(marks)}" if marks else "– "

    def _head(self) -> None:
        prior = self.found.prior
        records = f"{prior.counts.records:,} records, " if prior else ""
        several = prior is not None and len(prior.sources) > 1
        groups = f" in {len(prior.sources)} groups" if prior and several else ""
        budgets = set(self.budgets.values())
        alike = f"each released with ε = {budgets.pop():g}" if len(budgets) == 1 else _listed(self)
        self.screen.print(escape(f"{records}{len(self.budgets)} attributes{groups}, {alike}."))
        said = self.found.certainty
        self.screen.print(escape(f"{said[0].upper()}{said[1:]}.\n"))

    def _attributes(self, seen: Exposures) -> None:
        totals = any(each.total for each in seen.attributes)
        more = ["all\ntogether", "50 % sure\nbecomes"] if totals else []
        table = number_table(["about"], ["one\nanswer"])
        table.add_column("which")
        for heading in (*more, "entirely\nby"):
            table.add_column(heading, justify="right")
        for column in (table.columns[0], table.columns[2]):
            column.no_wrap, column.overflow = True, "ellipsis"
        table.title, table.title_justify = "Most exposed first", "left"
        for each in seen.attributes:
            total = [up(each.total.certified), surety(each.total.certified)] if each.total else []
            table.add_row(
                self._name(each.target),
                self._number(each.source, each.target, each.leakage),
                self._name(each.source),
                *total,
                self._entirely(each),
            )
        self.screen.print(table, end="")

    def _groups(self, seen: Exposures) -> None:
        if seen.groups:
            names = (", ".join(printable(name) for name in group) for group in seen.groups)
            self.screen.print(
                "Tell each other everything, so that a report of one moves odds about another as far as one of its own "
                f"could: [bold]{escape('; '.join(names))}[/]."
            )
        if seen.saturated:
            self.screen.print(
                f"{seen.saturated} of {len(self.found.pairs)} ordered pairs are saturated: one answer moves odds about "
                "the other as far as a report of its own could."
            )
        if seen.saturated:
            self.screen.print()

    def _pairs(self, pairs: Sequence[Leak], of: int, saturated: bool) -> None:
        if not pairs:
            return
        table = number_table(["released", "about"], ["leakage\nat most", "odds move\nat most"])
        others = " that are not saturated" if saturated else ""
        number = f" ({len(pairs)} of {of})" if len(pairs) < of else ""
        table.title, table.title_justify = f"Strongest pairs{others}{number}", "left"
        for each in pairs:
            table.add_row(
                self._name(each.source),
                self._name(each.target),
                self._number(each.source, each.target, each.leakage),
                f"{times(each.leakage)} times",
            )
        self.screen.print(table, end="")
        said = [
            self.found.where(each.source, each.target, self.budgets[each.source])
            for each in pairs[:SENTENCES]
        ]
        for words in said:
            self.screen.print(escape(str(words)))
        if any(
            up(words.leakage) < up(each.leakage) for words, each in zip(said, pairs, strict=False)
        ):
            self.screen.print(
                "Sentences follow the whole table of a pair, which may tell less than the bound by its three numbers."
            )

    def _foot(self, totals: bool) -> None:
        screen = self.screen
        becomes = (
            "50 % sure becomes: who held an answer for true with 50 % holds it with at most that much, once all "
            "answers of the person are reported.\n"
        )
        screen.print(
            "\nEvery number is a bound, rounded up, from 0, nothing is learnt, to the ε that is spent: what is told "
            "moves the odds between two answers at most e^number times.\n"
            f"{becomes if totals else ''}"
            "entirely by: so many answers each move odds about it as far as a report of its own could."
        )
        if self.fewest:
            screen.print(
                f"{MARK} rests on an answer that fewer than {self.found.facts['min_records']} people gave (the rarest: "
                f"{min(self.fewest)}); --thin merge or --thin drop leaves such answers out."
            )
        if thin := done_about(self.found.facts):
            screen.print(escape(thin))


def _listed(shown: Shown) -> str:
    """Budgets that are not all the same."""
    usual = max(budgets := list(shown.budgets.values()), key=budgets.count)
    other = [
        f"{printable(name)} with {budget:g}" if budget else f"{printable(name)} not at all"
        for name, budget in shown.budgets.items()
        if budget != usual
    ]
    return f"released with ε = {usual:g} but for {', '.join(other)}"
