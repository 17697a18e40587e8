"""deptriad sign and verify: a plan that clients can trust."""

from pathlib import Path
from typing import Annotated

import typer

from deptriad.cli import options
from deptriad.cli.app import app, refuse_place
from deptriad.utils import signatures

Signed = Annotated[Path, typer.Argument(help="A plan, or any other file.", metavar="FILE")]


@app.command("sign", epilog="Example: deptriad sign plan.json --key survey.pem --new-key")
def _sign(
    file: Signed,
    key: Annotated[Path, options.file("Your private key (Ed25519, PEM).")],
    new_key: Annotated[
        bool,
        typer.Option("--new-key", help="Make that key first, and its public one beside it (.pub)."),
    ] = False,
    force: options.Force = False,
) -> None:
    """Sign a file, so that who has your public key can tell that it is yours and unchanged.

    The signature is a file beside it, which ends in .sig. Keep the private key to yourself; give the public one to
    clients by a way that they trust.
    """
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    refuse_place(signatures.signature_of(file), "FILE.sig", key, force=force)
    if new_key:
        typer.echo(f"the public key, for clients, is in {signatures.new_key(key)}")
    typer.echo(f"the signature is in {signatures.sign(file, key)}")


@app.command("verify", epilog="Example: deptriad verify plan.json --key survey.pem.pub")
def _verify(
    file: Signed,
    key: Annotated[Path, options.file("The public key of whoever should have signed it.")],
    signature: Annotated[Path | None, options.file("The signature. [default: FILE.sig]")] = None,
) -> None:
    """Check the signature of a file; the exit code is 1 where it does not fit."""
    signatures.verify(file, key, signature)
    typer.echo(f"{file} is as the owner of {key} signed it")
