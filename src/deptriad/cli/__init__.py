"""The command line: parse, call, show; one file for each group of commands."""

from deptriad.cli.interruption import at_once

with at_once():  # importing takes a second
    try:
        from deptriad.cli.app import main
    except ModuleNotFoundError as missing:
        if missing.name and missing.name.partition(".")[0] not in ("typer", "rich"):
            raise
        raise SystemExit(
            f"deptriad: {missing}; the command line needs it: pip install 'deptriad[cli]'"
        ) from None

    # whose commands are known once they are imported
    from deptriad.cli import (  # noqa: F401
        analyze,
        attack,
        calibrate,
        chain,
        client,
        collect,
        collector,
        compile,
        counts,
        data,
        demo,
        paper,
        report,
        rivals,
        sign,
        spent,
    )

__all__ = ["main"]
