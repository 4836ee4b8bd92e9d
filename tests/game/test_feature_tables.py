"""The tables in the cache folder: right rows, and never a damaged or outdated one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from hardbot.cli import app
from hardbot.errors import TableError
from hardbot.game import feature_tables, isomorphism, storage
from hardbot.game.cards import parse_board, parse_hole
from hardbot.game.feature_tables import (
    FEATURE_COLUMNS,
    FeatureTable,
    features_of_hand,
    features_on_board,
    forget_tables,
    load_table,
)
from hardbot.game.features import all_hands, hand_features


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDBOT_CACHE", str(tmp_path))
    forget_tables()
    yield tmp_path
    forget_tables()


def test_counts_of_canonical_hands():
    assert isomorphism.board_space(3).starts[-1] == isomorphism.N_CANONICAL[1] == 1_286_792
    assert isomorphism.board_space(4).starts[-1] == isomorphism.N_CANONICAL[2] == 13_960_050


@pytest.mark.parametrize("board", ["Jh4c3h", "KsKdKh", "Th9h8h", "Jh4c3h9d", "2c2d2h2s"])
def test_rows_of_a_board_stand_in_canonical_order(board):
    board = parse_board(board)
    canonical, _ = isomorphism.canonical_board(board)
    rows = feature_tables._board_rows(np.array(canonical, dtype=np.int8))
    numbers = isomorphism.canonical_indices_board(board)
    start = numbers[numbers >= 0].min()
    assert len(rows) == len(np.unique(numbers[numbers >= 0]))
    live = numbers >= 0
    assert rows[numbers[live] - start] == pytest.approx(all_hands(board).values[live])


def test_turn_rows_repeat_the_one_card_potentials():
    table = FeatureTable(2, np.array([[0.5, 0.4, 0.3, 0.2, 0.1]], dtype=np.float32))
    assert table.rows(np.array([0]))[0] == pytest.approx([0.5, 0.4, 0.3, 0.2, 0.1, 0.2, 0.1])
    assert np.isnan(table.rows(np.array([-1]))).all()


def test_without_tables_boards_are_counted_on_the_spot(cache):
    board = parse_board("Jh4c3h")
    with pytest.raises(TableError, match="hardbot tables build"):
        load_table(1)
    found = features_on_board(board)
    assert np.allclose(found, all_hands(board).values, equal_nan=True, atol=1e-6)
    one = hand_features(parse_hole("AdQc"), board)
    assert features_of_hand(parse_hole("AdQc"), board) == pytest.approx(
        [getattr(one, name) for name in FEATURE_COLUMNS], abs=1e-6
    )


@pytest.fixture
def few_flops(cache, monkeypatch):
    """The flop table cut down to its first boards."""
    space = isomorphism.board_space(3)
    rows = int(space.starts[3])
    short = isomorphism.BoardSpace(space.keys[:3], space.cards[:3], space.weights[:3], space.starts[:4])
    monkeypatch.setattr(feature_tables, "board_space", lambda n_cards: short)
    monkeypatch.setattr(feature_tables, "N_CANONICAL", (169, rows, 0, 0))
    return rows


def tables_command(*arguments):
    done = CliRunner().invoke(app, ["tables", *arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_command_builds_a_table_once_and_again_when_its_version_changes(few_flops, cache, monkeypatch):
    assert tables_command("info")["tables"][0]["rows"] == 0
    (built,) = tables_command("build", "--street", "flop", "--threads", "2")
    assert built["rows"] == few_flops
    info = tables_command("info")
    assert (info["folder"], info["tables"][0]["state"]) == (str(cache), "sound")
    board = [int(card) for card in isomorphism.board_space(3).cards[1]]
    assert np.allclose(features_on_board(board), all_hands(board).values, equal_nan=True, atol=1e-6)
    stamp = (cache / "features-flop.npy").stat().st_mtime_ns
    tables_command("build", "--street", "flop")
    assert (cache / "features-flop.npy").stat().st_mtime_ns == stamp
    monkeypatch.setattr(feature_tables, "VERSION", feature_tables.VERSION + 1)
    forget_tables()
    assert "expected version" in tables_command("info")["tables"][0]["state"]
    tables_command("build", "--street", "flop")
    assert (cache / "features-flop.npy").stat().st_mtime_ns != stamp
    assert tables_command("info")["tables"][0]["state"] == "sound"


def make(version=1, shape=(4, 2)):
    def fill(array):
        array[:] = np.arange(array.size).reshape(shape)

    return storage.save_array("toy", shape, np.float32, version, fill)


def test_array_comes_back_as_it_was_stored(cache):
    make()
    assert storage.open_array("toy", 1, "make it").tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert not list(cache.glob("*.tmp*"))


def test_other_version_is_refused(cache):
    make(version=1)
    with pytest.raises(TableError, match=r"expected version 2 .*make it"):
        storage.open_array("toy", 2, "make it")


def test_flipped_bit_is_noticed(cache):
    path = make()
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(TableError, match="damaged"):
        storage.open_array("toy", 1, "make it")


def test_truncated_file_and_broken_manifest_are_noticed(cache):
    path = make()
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(TableError):
        storage.open_array("toy", 1, "make it")
    path = make()
    path.with_suffix(".json").write_text("{")
    with pytest.raises(TableError, match="manifest"):
        storage.open_array("toy", 1, "make it")


def test_file_of_another_time_is_verified_once_and_then_trusted(cache):
    path = make()
    path.touch()
    storage.open_array("toy", 1, "make it")
    manifest = json.loads(path.with_suffix(".json").read_text())
    assert manifest["verified"] == [path.stat().st_size, path.stat().st_mtime_ns]


def test_build_that_dies_leaves_nothing(cache):
    def fill(array):
        array[0] = 1
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        storage.save_array("toy", (4, 2), np.float32, 1, fill)
    assert list(cache.iterdir()) == []


def test_shipped_folders_are_found_in_the_package_first(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "_PACKAGE", tmp_path / "hardbot")
    beside, inside = tmp_path / "data" / "sparbot", tmp_path / "hardbot" / "data" / "sparbot"
    assert storage.shipped_folder("sparbot") == beside
    inside.mkdir(parents=True)
    assert storage.shipped_folder("sparbot") == inside
    beside.mkdir(parents=True)
    assert storage.shipped_folder("sparbot") == inside
