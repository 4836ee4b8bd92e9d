"""`hardbot ingest`, `hardbot store` and `hardbot corpus`: hand histories in, hands out, and hands of our own."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardbot.commands.options import Jobs, Json, Seed
from hardbot.commands.output import format_cell, print_json, print_table, step_progress
from hardbot.errors import SourceError, StoreError

if TYPE_CHECKING:
    from pipeline.ingest import IngestReport

StoreFile = Annotated[
    Path | None, typer.Option("--store", help="Store file; default $HARDBOT_STORE or ./hardbot.duckdb.")
]
MAX_ROWS = 100


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("ingest", epilog="Example: hardbot ingest data/sample.log.gz --store hands.duckdb --json")(ingest)
    store = typer.Typer(help="The store of hands: what is in it, its schema, questions to it.", no_args_is_help=True)
    store.command("info", epilog="Example: hardbot store info --store hands.duckdb --json")(info)
    store.command("migrate", epilog="Example: hardbot store migrate --store hands.duckdb")(migrate)
    store.command("query", epilog="Example: hardbot store query 'SELECT rules, count(*) FROM hands GROUP BY rules'")(
        query
    )
    app.add_typer(store, name="store")
    corpus = typer.Typer(help="A corpus of our own bots' play, and hands as PHH files.", no_args_is_help=True)
    corpus.command(
        "make", epilog="Example: hardbot corpus make --bots rulebot,random --hands 2000 --seed 1 --out own.log.gz"
    )(make)
    corpus.command("export", epilog="Example: hardbot corpus export own.log.gz --out own.phhs")(export)
    app.add_typer(corpus, name="corpus")


def _store_path(store: Path | None) -> Path:
    from pipeline.store import default_store_path

    return store or default_store_path()


def ingest(
    paths: Annotated[
        list[Path], typer.Argument(help="Dealer logs, IRC months (.tgz or folder), .phh/.phhs, or folders of them.")
    ],
    store: StoreFile = None,
    format: Annotated[
        str | None, typer.Option("--format", help="Do not recognise the format: dealer-log, 2009-log, irc or phh.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Read hand histories into the store; what is there already, as a file or as a hand, adds nothing.

    Every hand is replayed and its money checked; what fails is kept as a reject with its reason. A file is one
    transaction: stop at any time, and a second run goes on from there.
    """
    from pipeline.ingest import ingest as run_ingest

    with step_progress(not as_json) as progress:
        report = run_ingest(paths, _store_path(store), format=format, progress=progress, keep_going=True)
    if as_json:
        print_json(report.to_json())
    else:
        _print_report(report)
    if report.errors:
        raise SourceError("; ".join(report.errors))


def _print_report(report: IngestReport) -> None:
    columns = ["file", "format", "", "records", "hands", "2 seats", "twice", "rejects", "s"]
    names = ("n_records", "n_hands", "n_heads_up", "n_duplicates", "n_rejects")
    rows = [
        [Path(file.path).name, file.format, file.status, *(f"{getattr(file, name):,}" for name in names)]
        + [f"{file.seconds:.2f}"]
        for file in report.files
    ]
    print_table("files", columns, rows)
    if report.rejects:
        print_table("rejects", ["reason", "records"], [[code, f"{n:,}"] for code, n in report.rejects.items()])


def info(store: StoreFile = None, as_json: Json = False) -> None:
    """What a store holds: rows of its tables, hands by table and by file, rejects by reason."""
    from pipeline.store import Store

    path = _store_path(store)
    with Store(path, read_only=True) as reader:
        document: dict[str, Any] = {
            "path": str(path),
            "bytes": path.stat().st_size,
            "schema_version": reader.schema_version,
            "tables": reader.table_counts(),
            "hands": reader.query(_HANDS_BY_RULES).to_dicts(),
            "files": reader.query(_FILES).to_dicts(),
            "rejects": reader.query(_REJECTS).to_dicts(),
        }
    if as_json:
        print_json(document)
        return
    print(f"{path}: {document['bytes']:,} bytes, schema version {document['schema_version']}")
    print_table("tables", ["table", "rows"], [[name, f"{n:,}"] for name, n in document["tables"].items()])
    for title in ("hands", "files", "rejects"):
        if document[title]:
            _print_rows(title, document[title])


_HANDS_BY_RULES = """
SELECT rules, cards_known, count(*) AS hands, count(DISTINCT match) AS matches
FROM hands GROUP BY ALL ORDER BY rules, cards_known
"""
_FILES = """
SELECT path, format, n_records, n_hands, n_duplicates, n_rejects, n_comments
FROM files ORDER BY file_id
"""
_REJECTS = "SELECT code, count(*) AS records FROM rejects GROUP BY code ORDER BY code"


def _print_rows(title: str, rows: list[dict[str, Any]]) -> None:
    cells = [[format_cell(value) for value in row.values()] for row in rows[:MAX_ROWS]]
    print_table(title, list(rows[0]), cells)
    if len(rows) > MAX_ROWS:
        print(f"... {len(rows) - MAX_ROWS:,} more rows (--json prints all)")


def migrate(store: StoreFile = None, as_json: Json = False) -> None:
    """Bring an older store to the schema of this version; hands stay as they are."""
    from pipeline.schema import SCHEMA_VERSION
    from pipeline.store import Store

    path = _store_path(store)
    if not path.is_file():
        raise StoreError(f"expected a store at {path}, found none (make one with 'hardbot ingest')")
    with Store(path) as opened:
        before, after = opened.version_before, opened.schema_version
    if as_json:
        print_json({"path": str(path), "before": before, "after": after})
        return
    print(f"{path}: schema version {before}, now {after} of {SCHEMA_VERSION}")


def query(
    sql: Annotated[str, typer.Argument(help="One SELECT statement; docs/store.md has the tables and examples.")],
    store: StoreFile = None,
    as_json: Json = False,
) -> None:
    """Ask the store a question in SQL; nothing can be changed this way."""
    from pipeline.store import Store

    with Store(_store_path(store), read_only=True) as reader:
        rows = reader.query(sql).to_dicts()
    if as_json:
        print_json([{key: _plain(value) for key, value in row.items()} for row in rows])
        return
    if rows:
        _print_rows(f"{len(rows):,} rows", rows)
    else:
        print("no rows")


def _plain(value: Any) -> Any:
    """A value JSON has a word for."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, float):
        return value if value - value == 0 else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def make(
    bots: Annotated[str, typer.Option("--bots", help="Bots with commas between them; one bot plays itself.")],
    out: Annotated[Path, typer.Option("--out", help="Log to write; .gz compresses.")],
    hands: Annotated[int, typer.Option("--hands", help="Hands in all; every pair of bots plays its share.")] = 10_000,
    seed: Seed = 1,
    block: Annotated[int, typer.Option("--block", help="Deals a bot instance lives for.")] = 1_000,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Let bots play round-robin and write one dealer log with all their matches, all cards shown."""
    from dataclasses import asdict

    from pipeline.corpus import make_corpus, split_bots

    with step_progress(not as_json) as progress:
        matches = make_corpus(split_bots(bots), hands, seed, out, block=block, jobs=jobs, progress=progress)
    if as_json:
        print_json({"path": str(out), "seed": seed, "matches": [asdict(match) for match in matches]})
        return
    rows = [[" - ".join(match.bots), f"{match.hands:,}", f"{match.sb_per_hand:+.3f}"] for match in matches]
    print_table(str(out), ["match", "hands", "sb/hand of the first"], rows)


def export(
    source: Annotated[Path, typer.Argument(help="A .duckdb store, or hand histories in any format that is read.")],
    out: Annotated[Path, typer.Option("--out", help="File to write, .phhs or .phhs.gz.")],
    match: Annotated[str | None, typer.Option("--match", help="Only matches like this (GLOB).")] = None,
    as_json: Json = False,
) -> None:
    """Write hands as PHH, which PokerKit and other tools read."""
    from dataclasses import asdict

    from pipeline.export import export_phh

    report = export_phh(source, out, match=match)
    if as_json:
        print_json(asdict(report))
        return
    skipped = f", {report.n_skipped:,} left out (beyond the cap)" if report.n_skipped else ""
    print(f"{report.path}: {report.n_hands:,} hands{skipped}")
