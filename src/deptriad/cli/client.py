"""deptriad client: what runs where people are."""

from pathlib import Path
from typing import Annotated

import typer

from deptriad.cli import options
from deptriad.cli.app import app, refuse_place
from deptriad.clients import script, survey_page
from deptriad.planning.plan import Plan
from deptriad.utils import files, signatures


@app.command("client", epilog="Example: deptriad client plan.json --out survey --endpoint /reports")
def _client(
    plan: options.PlanFile,
    out: Annotated[
        Path, typer.Option(help="Folder to write to; made if there is none.", metavar="FOLDER")
    ] = Path("survey"),
    endpoint: Annotated[
        str | None,
        typer.Option(
            help="Where the page sends reports: /reports on the site that serves it, or a URL. "
            "Without it people save a file to hand in.",
            metavar="URL",
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(help="Language of the page: en, de, or that of --words.", metavar="LANGUAGE"),
    ] = "en",
    words: Annotated[
        Path | None,
        options.file("JSON: the page's title and other words, its questions, names of values."),
    ] = None,
    key: Annotated[
        Path | None,
        options.file("A public key: the script takes no plan that it did not sign."),
    ] = None,
    force: options.Force = False,
) -> None:
    """Write what runs on people's own devices: a script for any web page or app, and a whole survey page.

    deptriad.js (with types) perturbs a record as the plan says; survey.html asks the questions of one view, shows what
    will be sent, and sends it. Both use the secure randomness of the browser alone.
    """
    asked = Plan.load(plan)
    text = plan.read_bytes().decode("utf-8")  # line ends as they are: they are signed
    signature = None
    if key is not None:
        signatures.verify(plan, key)
        signature = signatures.signature_of(plan).read_text(encoding="ascii")
    own = None if words is None else files.json_object(words)
    signed = None if key is None or signature is None else (key, signature)
    page = survey_page.page(asked, text, endpoint, language, own, signed)
    texts = (page, script.script(key), script.types(), text, signature)
    every = zip(script.FILES, texts, strict=True)
    contents = {name: content for name, content in every if content is not None}
    for name in contents:
        refuse_place(out / name, "--out", plan, key, words, force=force, folders=True)
    for name, content in contents.items():
        with files.whole(out / name, folders=True) as partial:
            partial.write_text(content, encoding="utf-8", newline="")
    typer.echo(f"{', '.join(contents)} are in {out}")
