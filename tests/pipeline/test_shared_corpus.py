"""Real hand histories, where they are at hand: counts that agree with what is known about them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pokerkit import HandHistory

from pipeline.ingest import ingest
from pipeline.store import Store, read_hands

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="no shared corpus beside the project")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("shared") / "hands.duckdb") as opened:
        ingest([CORPUS], opened)
        yield opened


HEADS_UP_REJECTS = """
SELECT r.code, count(*) FROM rejects r JOIN files f USING (file_id)
WHERE f.path LIKE ? AND regexp_extract(r.raw, '^\\d+\\s+\\d+\\s+\\d+\\s+(\\d+)', 1) = '2' GROUP BY r.code
"""


@pytest.mark.parametrize(
    ("month", "records", "heads_up", "rejects"),
    [
        ("holdem.199504", 27_541, 6_270, {"one_blind": 72, "all_in": 22, "bad_totals": 10, "left_early": 8}),
        (
            "holdem.200109",
            46_049,
            11_405,
            {"one_blind": 143, "all_in": 42, "left_early": 74, "missing_player": 4, "bad_totals": 2},
        ),
        ("holdem3.199910", 7_570, 4_006, {"one_blind": 9, "left_early": 1}),
    ],
)
def test_irc_month_has_the_known_number_of_hands_and_every_reject_a_reason(month, records, heads_up, rejects, store):
    row = store.query("SELECT * FROM files WHERE path LIKE ?", [f"%{month}.tgz"]).row(0, named=True)
    assert (row["n_lines"], row["n_records"], row["n_duplicates"]) == (records, records, 0)
    stored = store.value("SELECT count(*) FROM hands WHERE file_id = ? AND n_seats = 2", [row["file_id"]])
    found = dict(store.query(HEADS_UP_REJECTS, [f"%{month}.tgz"]).rows())
    assert found == rejects
    assert stored + sum(found.values()) == heads_up


def test_irc_heads_up_hands_show_both_hands_or_none(store):
    rows = store.query(
        "SELECT cards_known, betting LIKE '%f' AS folded, count(*) AS n FROM hands "
        "WHERE rules = 'heads-up-irc' GROUP BY ALL ORDER BY ALL"
    ).rows()
    assert [(known, folded) for known, folded, _ in rows] == [("all", False), ("none", True)]


def test_dealer_log_is_read_whole(store):
    hands = read_hands(store, ["heads-up"])
    assert (hands.height, set(hands["match"]), set(hands["cards_known"])) == (1_000, {"2p.limit.h1000.r0"}, {"all"})


def test_phh_hands_have_the_payoffs_pokerkit_computes(store):
    rows = {row["source_hand"]: row for row in read_hands(store, ["ring-5"]).iter_rows(named=True)}
    paths = sorted((CORPUS / "phh").glob("*.phh"))
    assert len(paths) == 7
    for path in paths:
        with path.open("rb") as file:
            history = HandHistory.load(file)
        *_, final = history
        row = rows[str(history.hand)]
        assert tuple(row["players"]) == tuple(history.players)
        assert row["net_sb"] == pytest.approx([chips / history.small_bet for chips in final.payoffs], abs=1e-4)
