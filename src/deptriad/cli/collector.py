"""deptriad collect and invite: a service that takes reports, and who may send one."""

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deptriad.cli import options
from deptriad.cli.app import app, refuse_place
from deptriad.collection.report_store import SQLITE
from deptriad.planning.plan import Plan
from deptriad.utils import files

if TYPE_CHECKING:
    from deptriad.clients.service import Settings
    from deptriad.clients.store import Store

Place = Annotated[
    str,
    typer.Option(
        help="A SQLite file, made if there is none, or postgresql://USER@HOST/DATABASE.",
        metavar="FILE_OR_URL",
    ),
]


@app.command(
    "collect", epilog="Example: deptriad collect plan.json --store reports.db --port 8000 --page survey"
)  # fmt: skip
def _collect(
    plan: options.PlanFile,
    store: Place = "reports.db",
    port: Annotated[
        int, typer.Option(help="Where to listen; 0 for any free one.", min=0, max=65535)
    ] = 8000,
    host: Annotated[
        str, typer.Option(help="On which address; others than this need TLS in front.")
    ] = "127.0.0.1",
    page: Annotated[
        Path | None,
        typer.Option(help="Serve this folder, which `deptriad client` wrote.", metavar="FOLDER"),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(
            help="A site whose pages may send reports, such as https://survey.example. May be repeated.",
            metavar="URL",
        ),
    ] = None,
    rate: Annotated[int, options.whole("Messages a second, over all senders.", 1)] = 1000,
    most_bytes: Annotated[int, options.whole("Bytes of one message.", 1)] = 1_000_000,
    estimates: Annotated[
        bool,
        typer.Option(
            "--estimates", help="Tell everybody standard errors and the number of reports."
        ),
    ] = False,
) -> None:
    """Take reports of the plan over HTTP (POST /reports) until Ctrl-C, each once.

    A report is acknowledged when it is on the disk. Reports of other plans, and what the plan's mechanisms cannot
    report, are refused. No address, no time and no log is kept. Estimate at any time, from the store's URL:
    deptriad estimate plan.json sqlite:///reports.db sex income
    """
    asked = Plan.load(plan)
    from deptriad.clients.service import Settings

    settings = Settings(tuple(origin or ()), rate, most_bytes, page, estimates)
    opened = _opened(store, asked)
    try:
        _serve(asked, opened, settings, host, port)
    finally:
        opened.close()


def _opened(place: str, plan: Plan) -> "Store":
    from deptriad.clients.store import Store

    return Store.opened(place, plan)


def _serve(plan: Plan, store: "Store", settings: "Settings", host: str, port: int) -> None:
    import uvicorn

    from deptriad.clients.service import service
    from deptriad.collection.report_store import shown

    config = uvicorn.Config(
        service(plan, store, settings),
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=2000,
        timeout_graceful_shutdown=10,
        ws="none",
    )
    with _listening(host, port) as listening:  # who sends as soon as the next line is out, waits
        name = f"[{host}]" if ":" in host else host
        where = f"http://{name}:{listening.getsockname()[1]}/reports"
        typer.echo(f"collecting at {where} into {shown(store.url)}; Ctrl-C ends it", err=True)
        uvicorn.Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = str(error.strerror or error).partition(" (")[0]
        raise OSError(
            f"--host is {host} and --port {port}, where nobody can listen ({reason}): choose others; port 0 is any "
            "free one"
        ) from None


@app.command(
    "invite", epilog="Example: deptriad invite plan.json --count 500 --store reports.db --out invitations.txt"
)  # fmt: skip
def _invite(
    plan: options.PlanFile,
    count: Annotated[int, options.whole("How many invitations to make.", 1)],
    store: Place = "reports.db",
    out: Annotated[
        Path, options.file("Where to write them, a line each; keep it to yourself.")
    ] = Path("invitations.txt"),
    force: options.Force = False,
) -> None:
    """Make invitations, each good for one report; from then on the store takes none without one.

    The store keeps hashes of those that are left, and nothing of those that were used.
    """
    refuse_place(out, "--out", plan, store.removeprefix(SQLITE), force=force)
    opened = _opened(store, Plan.load(plan))

    def keep(made: Sequence[str]) -> None:
        with files.whole(out) as partial:
            partial.write_text("\n".join(made) + "\n", encoding="utf-8")
            partial.chmod(0o600)

    try:
        opened.invite(count, keep)
    finally:
        opened.close()
    typer.echo(f"{count:,} invitations are in {out}")
