"""The directive ``command-line``: every command with its help, as the program itself says it."""

import re
from typing import Any

import typer.main
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from deptriad.cli import app as application


class CommandLine(Directive):
    """A section for each command: what it does, how it is called, its options."""

    def run(self) -> list[nodes.Node]:
        program = typer.main.get_command(application.app)
        context = program.make_context("deptriad", [], resilient_parsing=True)
        return [
            _section(program.commands[name], name, context)
            for name in sorted(program.commands)
            if not program.commands[name].hidden
        ]


def _section(command: Any, name: str, parent: Any) -> nodes.section:
    section = nodes.section(ids=[f"deptriad-{name}"])
    section += nodes.title(text=f"deptriad {name}")
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    usage = " ".join(command.collect_usage_pieces(context)).replace("{", "").replace("}", "")
    section += nodes.literal_block(text=f"deptriad {name} {usage}", language="text")
    for paragraph in (command.help or "").replace("\b", "").strip().split("\n\n"):
        section += _paragraph(paragraph)
    rows = [option.get_help_record(context) for option in command.get_params(context)]
    listed = nodes.definition_list()
    for term, words in filter(None, rows):
        name = re.sub(
            r" <(?:str|path|list\[\w+\])>$", "", term
        )  # kinds that the terminal does not show, too
        item = nodes.definition_list_item("", nodes.term("", "", nodes.literal(text=name)))
        item += nodes.definition("", _paragraph(words))
        listed += item
    if len(listed):
        section += listed
    example, _, after = (command.epilog or "").removeprefix("Example: ").partition(", ")
    section += nodes.paragraph(text="Example:" if not after else f"Example, {after}:")
    section += nodes.literal_block(text=example, language="text")
    return section


def _paragraph(text: str) -> nodes.Node:
    """Lines that are indented, or begin with a prompt, are examples and stay as they are."""
    lines = text.splitlines()
    if all(line.startswith(("  ", "$", "deptriad ")) for line in lines):
        return nodes.literal_block(text=text, language="text")
    paragraph = nodes.paragraph()
    for place, part in enumerate(" ".join(text.split()).split("`")):
        paragraph += nodes.literal(text=part) if place % 2 else nodes.Text(part)
    return paragraph


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
