"""The store's tables, as an ordered list of migrations.

`MIGRATIONS[v]` takes a store of schema version v to version v + 1; a new store runs all of them. A
migration once released is never edited, only followed by another. docs/store.md explains the columns.
"""

from __future__ import annotations

_FIRST = """
CREATE TABLE files (
    file_id INTEGER PRIMARY KEY,
    path VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL UNIQUE,
    format VARCHAR NOT NULL,
    n_lines BIGINT,
    n_records BIGINT NOT NULL,
    n_hands BIGINT NOT NULL,
    n_duplicates BIGINT NOT NULL,
    n_rejects BIGINT NOT NULL,
    n_comments BIGINT NOT NULL,
    ingested_at TIMESTAMP NOT NULL,
    seconds DOUBLE NOT NULL,
    CHECK (n_records = n_hands + n_duplicates + n_rejects),
    CHECK (n_lines IS NULL OR n_lines = n_records + n_comments)
);
CREATE TABLE hands (
    hand_id BIGINT PRIMARY KEY,
    file_id INTEGER NOT NULL,
    line BIGINT NOT NULL,
    source_hand VARCHAR NOT NULL,
    identity UUID NOT NULL UNIQUE,
    match VARCHAR NOT NULL,
    played_at TIMESTAMP,
    rules VARCHAR NOT NULL,
    n_seats TINYINT NOT NULL,
    betting VARCHAR NOT NULL,
    board TINYINT[] NOT NULL,
    players VARCHAR[] NOT NULL,
    holes SMALLINT[] NOT NULL,
    net_sb FLOAT[] NOT NULL,
    cards_known VARCHAR NOT NULL CHECK (cards_known IN ('all', 'showdown', 'none'))
);
CREATE TABLE decisions (
    hand_id BIGINT NOT NULL,
    step SMALLINT NOT NULL,
    seat TINYINT NOT NULL,
    player VARCHAR NOT NULL,
    street TINYINT NOT NULL,
    node INTEGER NOT NULL,
    action TINYINT NOT NULL,
    bets_to_call TINYINT NOT NULL,
    raises TINYINT NOT NULL,
    pot_sb FLOAT NOT NULL,
    hole SMALLINT,
    clipped BOOLEAN NOT NULL
);
CREATE TABLE rejects (
    file_id INTEGER NOT NULL,
    line BIGINT NOT NULL,
    code VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    raw VARCHAR NOT NULL
);
CREATE TABLE features (
    hand_id BIGINT NOT NULL,
    step SMALLINT NOT NULL,
    e FLOAT NOT NULL,
    e2 FLOAT NOT NULL,
    ppot FLOAT NOT NULL,
    npot FLOAT NOT NULL
);
CREATE TABLE buckets (
    model_id VARCHAR NOT NULL,
    street TINYINT NOT NULL,
    bucket SMALLINT NOT NULL,
    e DOUBLE NOT NULL,
    e2 DOUBLE NOT NULL,
    ppot DOUBLE NOT NULL,
    npot DOUBLE NOT NULL,
    weight DOUBLE NOT NULL
);
CREATE TABLE models (
    model_id VARCHAR PRIMARY KEY,
    created_at TIMESTAMP NOT NULL,
    corpus_hash VARCHAR NOT NULL,
    n_hands BIGINT NOT NULL,
    path VARCHAR NOT NULL,
    manifest JSON NOT NULL,
    promoted BOOLEAN NOT NULL
);
CREATE TABLE scores (
    model_id VARCHAR NOT NULL,
    corpus VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    street TINYINT,
    value DOUBLE NOT NULL,
    n BIGINT NOT NULL
);
CREATE TABLE match_results (
    run_id VARCHAR PRIMARY KEY,
    played_at TIMESTAMP NOT NULL,
    git_commit VARCHAR,
    model_hash VARCHAR,
    seed BIGINT NOT NULL,
    hero VARCHAR NOT NULL,
    opponent VARCHAR NOT NULL,
    hands BIGINT NOT NULL,
    pairs BIGINT NOT NULL,
    sb_per_hand DOUBLE NOT NULL,
    ci95 DOUBLE NOT NULL,
    sd_pair DOUBLE NOT NULL,
    details JSON NOT NULL
);
"""

MIGRATIONS: tuple[str, ...] = (_FIRST,)
SCHEMA_VERSION = len(MIGRATIONS)
TABLES = (
    "files",
    "hands",
    "decisions",
    "rejects",
    "features",
    "buckets",
    "models",
    "scores",
    "match_results",
)
