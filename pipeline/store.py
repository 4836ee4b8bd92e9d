"""The DuckDB store: hands, decisions, rejects and everything trained or measured from them.

The only module that imports duckdb. One process writes or several read: a second writer is refused
with a StoreError that names the first. Data comes in and goes out as Polars frames. A transaction is
all or nothing, also when the process is killed or the disk is full.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import polars as pl

from hardbot.errors import StoreError
from pipeline.schema import MIGRATIONS, SCHEMA_VERSION, TABLES

HEADS_UP_RULES = ("heads-up", "heads-up-irc")


def default_store_path() -> Path:
    """`$HARDBOT_STORE`, else `hardbot.duckdb` in the current folder."""
    return Path(os.environ.get("HARDBOT_STORE") or "hardbot.duckdb")


class Store:
    """An open store; close it or use it in a `with`."""

    def __init__(self, path: Path | str, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self.version_before = SCHEMA_VERSION  # as it was when it was opened
        if str(path) != ":memory:":
            self._check_path()
        try:
            self._connection = duckdb.connect(str(path), read_only=read_only)
        except duckdb.Error as error:
            raise _store_error(error, self.path) from error
        try:
            self._migrate()
        except BaseException:
            self._connection.close()
            raise

    def _check_path(self) -> None:
        if self.read_only and not self.path.is_file():
            raise StoreError(f"expected a store at {self.path}, found none (make one with 'hardbot ingest')")
        if not self.path.parent.is_dir():
            raise StoreError(f"expected a folder for the store at {self.path.parent}, found none")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; committed work is safe without it."""
        try:
            self._connection.close()
        except duckdb.Error as error:
            raise _store_error(error, self.path) from error

    @property
    def schema_version(self) -> int:
        """Version of the tables in the file; 0 for an empty one."""
        known = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'schema_version'"
        if not self.value(known):
            if self.value("SELECT count(*) FROM duckdb_tables()"):
                raise StoreError(f"expected a hardbot store, got another DuckDB database at {self.path}")
            return 0
        return int(self.value("SELECT max(version) FROM schema_version"))

    def _migrate(self) -> None:
        version = self.version_before = self.schema_version
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"expected schema version {SCHEMA_VERSION} or older, got {version} in {self.path}: "
                "it was written by a newer hardbot"
            )
        if version == SCHEMA_VERSION:
            return
        if self.read_only:
            raise StoreError(
                f"expected schema version {SCHEMA_VERSION}, got {version} in {self.path}: "
                "open it once for writing to migrate it ('hardbot store migrate')"
            )
        for number in range(version, SCHEMA_VERSION):
            with self.transaction():
                if number == 0:
                    self.run("CREATE TABLE schema_version (version INTEGER NOT NULL, migrated_at TIMESTAMP NOT NULL)")
                self.run(MIGRATIONS[number])
                self.run("INSERT INTO schema_version VALUES (?, now()::TIMESTAMP)", [number + 1])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All statements inside, or none of them."""
        self.run("BEGIN")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        try:
            self._connection.execute("ROLLBACK")
        except duckdb.Error:
            self._connection.close()  # a failed commit has already rolled back, or the database is invalid

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Execute statements for their effect."""
        try:
            self._connection.execute(sql, list(parameters)) if parameters else self._connection.execute(sql)
        except duckdb.Error as error:
            raise _store_error(error, self.path) from error

    def query(
        self, sql: str, parameters: Sequence[Any] = (), frames: Mapping[str, pl.DataFrame] | None = None
    ) -> pl.DataFrame:
        """Rows of a query; `frames` are usable in it as tables."""
        frames = frames or {}
        try:
            for name, frame in frames.items():
                self._connection.register(name, frame)
            relation = self._connection.sql(sql, params=list(parameters) or None)
            rows: pl.DataFrame = pl.DataFrame() if relation is None else relation.pl()
            return rows
        except duckdb.Error as error:
            raise _store_error(error, self.path) from error
        finally:
            for name in frames:
                self._connection.unregister(name)

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of a query's first row."""
        return self.query(sql, parameters).item(0, 0)

    def append(self, table: str, frame: pl.DataFrame) -> None:
        """Add rows to a table; columns go by name, missing ones become NULL."""
        if table not in TABLES:
            raise StoreError(f"expected a table of {', '.join(TABLES)}, got {table!r}")
        if frame.height:
            self.query(f"INSERT INTO {table} BY NAME SELECT * FROM appended", frames={"appended": frame})

    def table_counts(self) -> dict[str, int]:
        """Rows of every table."""
        return {table: int(self.value(f"SELECT count(*) FROM {table}")) for table in TABLES}


def _store_error(error: duckdb.Error, path: Path) -> StoreError:
    text = " ".join(str(error).split())
    if "lock" in text and "Conflicting" in text:
        holder = text.partition("Conflicting lock is held in ")[2].partition(". ")[0] or "another process"
        return StoreError(f"expected {path} to be free, but it is open in {holder}; one process writes at a time")
    if "No space left" in text or "File too large" in text or "Could not write" in text:
        return StoreError(f"expected room on the disk of {path}, but writing failed: {text}")
    if "not a valid DuckDB database" in text:
        return StoreError(f"expected a DuckDB database at {path}, got another kind of file")
    return StoreError(f"{path}: {text}")


@contextmanager
def opened(store: Store | Path | str) -> Iterator[Store]:
    """The store itself, or the file opened for reading while the block lasts."""
    if isinstance(store, Store):
        yield store
        return
    with Store(store, read_only=True) as reader:
        yield reader


def _hand_filter(
    rules: Sequence[str], matches: Sequence[str] | None, cards_known: Sequence[str] | None, alias: str
) -> tuple[str, list[Any]]:
    clauses, parameters = [f"list_contains(?, {alias}.rules)"], [list(rules)]
    if matches is not None:
        clauses.append(f"list_contains(?, {alias}.match)")
        parameters.append(list(matches))
    if cards_known is not None:
        clauses.append(f"list_contains(?, {alias}.cards_known)")
        parameters.append(list(cards_known))
    return " AND ".join(clauses), parameters


def read_hands(
    store: Store | Path | str,
    rules: Sequence[str] = HEADS_UP_RULES,
    *,
    matches: Sequence[str] | None = None,
    cards_known: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Hands of these rules by hand_id; identity as text."""
    where, parameters = _hand_filter(rules, matches, cards_known, "h")
    sql = f"SELECT * REPLACE (identity::VARCHAR AS identity) FROM hands h WHERE {where} ORDER BY hand_id"
    with opened(store) as reader:
        return reader.query(sql, parameters)


def read_decisions(
    store: Store | Path | str,
    rules: Sequence[str] = HEADS_UP_RULES,
    *,
    matches: Sequence[str] | None = None,
    cards_known: Sequence[str] | None = None,
    hand_columns: Sequence[str] = ("rules", "match", "board", "cards_known"),
) -> pl.DataFrame:
    """Decisions of the hands of these rules by (hand_id, step), with columns of their hands beside them.

    `board` is the hand's whole board; what the actor saw is its first `BOARD_SIZES[street]` cards.
    """
    where, parameters = _hand_filter(rules, matches, cards_known, "h")
    extra = "".join(f", h.{column}" for column in hand_columns)
    sql = f"SELECT d.*{extra} FROM decisions d JOIN hands h USING (hand_id) WHERE {where} ORDER BY hand_id, step"
    with opened(store) as reader:
        return reader.query(sql, parameters)


def count_hands(store: Store | Path | str, rules: Sequence[str] = HEADS_UP_RULES) -> int:
    """How many hands of these rules there are."""
    with opened(store) as reader:
        return int(reader.value("SELECT count(*) FROM hands WHERE list_contains(?, rules)", [list(rules)]))
