"""The web table over real HTTP on the loopback: play, what is sent and when, and what is refused."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest

from hardbot.bots.hardbot import HardBot
from hardbot.bots.simple import AlwaysCall
from hardbot.errors import SessionError
from hardbot.game.cards import CARD_TEXT
from hardbot.game.hand import Deal
from hardbot.game.notation import parse_log_hand
from hardbot.game.rules import CALL, HEADS_UP, ring
from hardbot.live import web_tables
from hardbot.live.play_log import PlayLog
from hardbot.live.session import TableSession
from hardbot.live.web import MAX_BODY, STATIC, WebSettings
from hardbot.live.web_tables import Lobby, TooManyTables, thinned

EXPERT = "hardbot:chooser=expert"


@pytest.fixture(scope="module")
def server(tmp_path_factory, start_web):
    with start_web(WebSettings((EXPERT,), seed=987_654_321_000, folder=tmp_path_factory.mktemp("play"))) as running:
        yield running


def follow_up(client, address, state, choose=lambda view: "call"):
    """The person's next action at a state."""
    view = state["view"]
    body = {"action": choose(view), "hand": view["hand"], "betting": view["betting"]}
    return client.post(f"{address}/act", json=body)


def play_hand(client, address, choose=lambda view: "call"):
    """Deal and play to the end; the last state."""
    answer = client.post(f"{address}/deal", json={})
    while not answer.json()["between_hands"]:
        answer = follow_up(client, address, answer.json(), choose)
        assert answer.status_code == 200, answer.text
    return answer.json()


class Listener:
    """Everything a stream sends, as it comes."""

    def __init__(self, client, address):
        self.bytes = bytearray()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._listen, args=(client, address))
        self.thread.start()

    def _listen(self, client, address):
        with client.stream("GET", f"{address}/events") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            for chunk in answer.iter_raw():
                self.bytes += chunk
                if self.done.is_set():
                    return

    def states(self):
        parts = bytes(self.bytes).split(b"\n\n")[:-1]
        return [json.loads(part.removeprefix(b"data: ")) for part in parts if part.startswith(b"data: ")]

    def wait(self, version):
        until = time.monotonic() + 10
        while not any(state["version"] >= version for state in self.states()):
            assert time.monotonic() < until, "the stream does not tell the state"
            time.sleep(0.005)

    def stop(self, client, address):
        self.done.set()
        client.post(f"{address}/settings", json={"study_live": False})  # one more state, and the thread ends
        self.thread.join(timeout=10)
        assert not self.thread.is_alive()


# Play


def test_hands_over_http_are_those_of_the_log(server):
    client, address = server.sit("rulebot", name="ann")
    table = server.lobby.tables[address.rsplit("/", 1)[1]]
    choices = ["raise", "call", "call", "fold"]
    for number in range(12):
        play_hand(
            client,
            address,
            lambda view, n=number: choices[n % 4] if choices[n % 4] in view["legal"] else view["legal"][-1],
        )
    lines = table.session.log.path.read_text().splitlines()
    hands = [parse_log_hand(line, HEADS_UP) for line in lines[1:]]
    assert len(hands) == 12
    won = sum(dict(zip(hand.players, hand.net_chips, strict=True))["ann"] for hand in hands)
    state = client.get(address).json()
    assert state["view"]["chairs"][0]["total"] == won
    assert state["score"]["net_sb"] == pytest.approx(won / 10)
    assert state["points"][-1][:2] == [12, pytest.approx(won / 10)]
    listed = client.get(f"{address}/hands").json()["hands"]
    assert [hand["hand"] for hand in listed] == list(range(11, -1, -1))
    assert sum(hand["net_sb"] for hand in listed) == pytest.approx(won / 10)


def test_a_table_of_ten_with_any_mix_of_bots(server):
    bots = ["rulebot", "random", "always_call", "poki", "always_fold", "always_raise", "soarbot", "rulebot", "random"]
    client, address = server.sit(*bots)
    for _ in range(3):
        state = play_hand(client, address)
    assert len(state["view"]["chairs"]) == 10
    assert sum(chair["total"] for chair in state["view"]["chairs"]) == 0
    assert state["names"] == ["you", *bots[:7], "rulebot-2", "random-2"]
    study = client.get(f"{address}/study/2").json()
    assert study["frames"] == []  # range maps are for two
    assert len(study["players"]) == 10


def test_a_reload_finds_the_hand_where_it_was(server):
    client, address = server.sit("always_call")
    state = client.post(f"{address}/deal", json={}).json()
    again = httpx.Client(base_url=server.base, cookies=client.cookies)
    assert again.get(address).json() == state
    assert follow_up(again, address, state).json()["version"] == state["version"] + 1


def test_tables_do_not_share_anything(server):
    (ann, first), (bob, second) = server.sit("always_call", name="ann"), server.sit("always_call", name="bob")
    play_hand(ann, first)
    assert bob.get(second).json()["view"] is None
    assert bob.get(first).status_code == 403
    assert bob.post(f"{first}/deal", json={}).status_code == 403
    assert bob.get(f"{first}/events").status_code == 403
    assert bob.get(f"{first}/study/0").status_code == 403
    bob.cookies.set(f"table-{first.rsplit('/', 1)[1]}", "0" * 48)
    assert bob.get(first).status_code == 403


def test_a_cookie_goes_to_its_own_table_only(server):
    answer = server.client().post("/api/tables", json={"bots": ["always_call"]})
    cookie = answer.headers["set-cookie"].lower()
    assert f"path=/api/t/{answer.json()['table']};" in cookie
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_the_stream_tells_every_window_of_the_table(server):
    client, address = server.sit("rulebot")
    streams = [Listener(client, address) for _ in range(2)]
    state = play_hand(client, address)
    for stream in streams:
        stream.wait(state["version"])
        assert stream.states()[-1] == state
    for stream in streams:
        stream.stop(client, address)


def test_no_more_than_a_few_streams_a_table(server):
    client, address = server.sit("always_call")
    streams = [Listener(client, address) for _ in range(web_tables.MAX_LISTENERS)]
    for stream in streams:
        stream.wait(1)
    assert client.get(f"{address}/events").status_code == 429
    for stream in streams:
        stream.stop(client, address)


class Slow(AlwaysCall):
    name = "slow"
    gate = threading.Event()

    def act(self, view, rng):
        assert self.gate.wait(20)
        return CALL


def test_a_bot_that_thinks_keeps_no_other_table_waiting(server):
    client, address, table = server.seat(TableSession([Slow], seed=1))
    stream = Listener(client, address)
    waiting = threading.Thread(target=client.post, args=(f"{address}/deal",), kwargs={"json": {}})
    waiting.start()
    other, elsewhere = server.sit("always_call")
    play_hand(other, elsewhere)
    assert table.session.records == []  # still thinking
    assert client.post(f"{elsewhere}/deal", json={}).status_code == 403
    Slow.gate.set()
    waiting.join(timeout=10)
    assert not waiting.is_alive()
    stream.wait(table.version)
    stream.stop(client, address)


class Breaks(AlwaysCall):
    name = "breaks"

    def act(self, view, rng):
        if view.hand_number == 0:
            raise RuntimeError("tired")
        return CALL


def test_a_bot_that_fails_voids_the_hand_and_the_table_goes_on(server, tmp_path):
    client, address, _ = server.seat(TableSession([Breaks], seed=1, log=PlayLog(tmp_path, name="b")))
    state = client.post(f"{address}/deal", json={}).json()
    assert "The hand is void: expected a decision from breaks" in state["notice"]
    assert state["between_hands"]
    state = play_hand(client, address)
    assert (state["notice"], state["score"]["hands"]) == ("", 1)
    assert len((tmp_path / "b.log").read_text().splitlines()) == 2


# What is sent and when


def cards_in(data: bytes) -> set[str]:
    """Every card that these bytes name."""
    return {match.decode() for match in re.findall(rb"(?<![0-9A-Za-z])([2-9TJQKA][cdhs])(?![0-9A-Za-z])", data)}


@pytest.mark.parametrize("bots", [(EXPERT,), ("rulebot", "random", "always_raise")], ids=["heads-up", "four"])
def test_no_byte_sent_during_a_hand_names_a_hidden_card(server, bots):
    client, address = server.sit(*bots)
    table = server.lobby.tables[address.rsplit("/", 1)[1]]
    client.post(f"{address}/settings", json={"study_live": True})
    stream = Listener(client, address)
    stream.wait(2)
    n_hidden = n_studied = 0
    for number in range(8):
        stream.bytes.clear()
        answer = client.post(f"{address}/deal", json={})
        while not answer.json()["between_hands"]:
            state = answer.json()
            stream.wait(state["version"])
            studied = client.get(f"{address}/study/{number}")
            # What was sent about earlier hands may name their cards: the list of hands is not part of this
            sent = answer.content + bytes(stream.bytes) + studied.content + client.get(address).content
            hand = table.session._live.hand
            own = hand.deal.holes[table.session.own_view().seat]
            seen = {CARD_TEXT[card] for card in (*own, *hand.board)}
            assert cards_in(sent) == seen
            hidden = {CARD_TEXT[card] for hole in hand.deal.holes for card in hole} - seen
            assert hidden.isdisjoint(cards_in(sent))
            assert str(table.session.seed) not in sent.decode()
            for frame in studied.json()["frames"]:
                assert set(frame) == {"event", "text", "betting", "board", "heat", "buckets"}
                n_studied += 1
            n_hidden += len(hidden)
            answer = follow_up(client, address, state)
        stream.wait(answer.json()["version"])
        if not answer.json()["view"]["showdown"]:
            record = table.session.records[-1]
            unseen = {CARD_TEXT[c] for s, hole in enumerate(record.deal.holes) if s != record.seat for c in hole}
            assert unseen.isdisjoint(cards_in(answer.content + client.get(address).content))
    stream.stop(client, address)
    assert n_hidden > 40
    assert (n_studied > 40) == (len(bots) == 1)


class Calling(HardBot):
    """Believes as hardbot does and plays so that its cards do not show."""

    name = "calling"

    def act(self, view, rng):
        self.decide(view)
        return CALL


class Fixed(TableSession):
    """Deals as told."""

    holes: tuple[tuple[int, int], ...]

    def _deal(self, number):
        return Deal(self.holes, super()._deal(number).board)


@pytest.mark.parametrize("chooser", ["expert"])
def test_what_is_sent_during_a_hand_does_not_depend_on_the_bots_cards(server, chooser, monkeypatch):
    monkeypatch.setattr(web_tables, "_TELL_S", 1e9)  # states on the way count versions by the clock
    board = TableSession(["always_call"], seed=21)._deal(0).board
    free = [card for card in range(52) if card not in board]
    paired = [card for card in free if any(card // 4 == other // 4 for other in board)]
    sent = []
    for hole in [(free[0], free[1]), (paired[0], paired[1]), (free[-1], free[-2]), (free[7], free[20])]:
        session = Fixed([lambda: Calling(chooser=chooser)], seed=21)
        session.holes = ((free[10], free[30]), hole)
        session.bot_at(1).keeps_reasons = True
        client, address, table = server.seat(session)
        data = [client.post(f"{address}/settings", json={"study_live": True}).content]
        answer = client.post(f"{address}/deal", json={})
        n_acted = 0
        while not answer.json()["between_hands"]:
            data += [answer.content, client.get(f"{address}/study/0").content]
            n_acted += 1
            answer = follow_up(client, address, answer.json(), lambda v, n=n_acted: "raise" if n % 2 else "call")
        assert client.get(f"{address}/study/0").json()["frames"][-1]["triple"]
        sent.append([part.replace(table.id.encode(), b"") for part in data])
    assert len(sent[0]) > 8
    assert len({len(json.loads(part)["frames"]) for part in sent[0] if b"frames" in part}) > 3
    for parts in sent[1:]:
        assert parts == sent[0]


def test_study_is_off_during_a_hand_until_it_is_switched_on(server):
    client, address = server.sit(EXPERT)
    hand = -1
    state = {"between_hands": True}
    while state["between_hands"]:  # it may fold before the person acts
        hand, state = hand + 1, client.post(f"{address}/deal", json={}).json()
    refused = client.get(f"{address}/study/{hand}")
    assert refused.status_code == 409
    assert "switched on" in refused.json()["error"]
    assert client.post(f"{address}/settings", json={"study_live": True}).json()["study_live"]
    live = client.get(f"{address}/study/{hand}").json()
    assert live["live"]
    assert "players" not in live
    while not state["between_hands"]:
        state = follow_up(client, address, state).json()
    client.post(f"{address}/settings", json={"study_live": False})
    after = client.get(f"{address}/study/{hand}").json()
    table = server.lobby.tables[address.rsplit("/", 1)[1]]
    record = table.session.records[hand]
    assert [player["hole"] for player in after["players"]] == [
        [CARD_TEXT[card] for card in hole] for hole in record.deal.holes
    ]
    decided = [frame for frame in after["frames"] if frame["triple"]]
    assert decided
    assert {"hs", "ppot", "ehs", "pot_odds"} <= set(decided[-1]["figures"])
    assert decided[-1]["rule"]
    assert sum(p for _, p in decided[-1]["buckets"]) == pytest.approx(1, abs=1e-3)
    assert max(max(row) for row in after["frames"][0]["heat"]) == 1000
    assert [len(after["frames"][0]["heat"]), len(after["frames"][0]["heat"][0])] == [13, 13]
    assert 0 <= after["own_class"] < 169


# What is refused


def test_out_of_turn_stale_and_illegal_actions_change_nothing(server):
    client, address = server.sit("always_call")
    between = client.post(f"{address}/act", json={"action": "call", "hand": 0, "betting": ""})
    assert (between.status_code, "between hands" in between.text) == (409, True)
    state = client.post(f"{address}/deal", json={}).json()
    view = state["view"]
    good = {"action": "call", "hand": view["hand"], "betting": view["betting"]}
    for wrong in ({"hand": 7}, {"betting": "rrrr"}, {"action": "fold"}):
        answer = client.post(f"{address}/act", json=good | wrong)
        assert answer.status_code == 409, wrong
    assert client.post(f"{address}/deal", json={}).status_code == 409
    assert client.get(f"{address}/study/5").status_code == 409
    assert client.get(address).json() == state
    assert client.post(f"{address}/act", json=good).status_code == 200
    assert client.post(f"{address}/act", json=good).status_code == 409  # the same click twice


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"headers": {"origin": "http://evil.example"}}, 403),
        ({"headers": {"origin": "null"}}, 403),
        ({"headers": {"origin": "https://127.0.0.1"}}, 403),
        ({"headers": {"sec-fetch-site": "cross-site"}}, 403),
        ({"headers": {"host": "evil.example"}}, 421),
        ({"headers": {"host": "127.0.0.1.evil.example:80"}}, 421),
        ({"headers": {"content-type": "text/plain"}}, 415),
        ({"content": b"{" + b" " * MAX_BODY + b"}"}, 413),
        ({"content": b"{"}, 400),
        ({"content": b"\xff\xfe"}, 400),
        ({"content": b"[" * 2000}, 400),
        ({"content": b"[]"}, 400),
        ({"content": b'{"action":"call"}'}, 400),
        ({"content": b'{"action":"allin","hand":0,"betting":""}'}, 400),
        ({"content": b'{"action":["call"],"hand":0,"betting":""}'}, 400),
        ({"content": b'{"action":"call","hand":true,"betting":""}'}, 400),
        ({"content": b'{"action":"call","hand":0,"betting":7}'}, 400),
    ],
)
def test_requests_that_are_not_the_pages_own_are_refused(server, change, status):
    client, address = server.sit("always_call")
    state = client.post(f"{address}/deal", json={}).json()
    content = change.get("content", json.dumps({"action": "call", "hand": 0, "betting": state["view"]["betting"]}))
    headers = {"content-type": "application/json"} | change.get("headers", {})
    answer = client.post(f"{address}/act", content=content, headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"].startswith("expected")
    assert client.get(address).json() == state


def test_a_body_without_a_length_is_cut_off(server):
    client, address = server.sit("always_call")

    def endless():
        for _ in range(64):
            yield b" " * 1024

    answer = client.post(f"{address}/deal", content=endless(), headers={"content-type": "application/json"})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/t/0123456789ab", 404),
        ("POST", "/api/t/0123456789ab/deal", 404),
        ("GET", "/static/../web.py", 404),
        ("GET", "/static/..%2fweb.py", 404),
        ("GET", "/static/nothing.js", 404),
        ("GET", "/nothing", 404),
        ("GET", "/api/tables", 405),
        ("GET", "/api/results/..%2f..%2fmodels%2fcurrent", 404),
        ("GET", "/api/results/none", 404),
    ],
)
def test_addresses_that_lead_nowhere(server, method, path, status):
    with server.client() as client:
        assert client.request(method, path, json={} if method == "POST" else None).status_code == status


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"bots": ["tcp:touch /tmp/owned"]}, 422, "expected bots of"),
        ({"bots": ["hardbot:memory=/tmp/owned"]}, 422, "expected bots of"),
        ({"bots": []}, 422, "1 to 9 bots"),
        ({"bots": ["random"] * 10}, 422, "1 to 9 bots"),
        ({"bots": ["sparbot", "random"]}, 422, "expected 2 to 2 seats for sparbot"),
        ({"bots": ["random"], "name": "a|b"}, 422, "expected a name"),
        ({"bots": ["random"], "name": "x" * 30}, 400, "at most 24"),
        ({"bots": "random"}, 400, "a list of names"),
        ({"bots": [["random"]]}, 400, "a list of names"),
        ({"bots": ["random"], "name": 5}, 400, "as text"),
    ],
)
def test_tables_that_cannot_be_set_up_say_why(server, body, status, message):
    with server.client() as client:
        answer = client.post("/api/tables", json=body)
        assert (answer.status_code, message in answer.json()["error"]) == (status, True)


def test_a_link_from_elsewhere_opens_the_page_but_not_its_data(server):
    with httpx.Client(base_url=server.base, headers={"sec-fetch-site": "cross-site"}) as client:
        assert client.get("/").status_code == 200
        assert client.get("/api/bots").status_code == 403


def test_a_full_server_forgets_only_idle_tables(monkeypatch, tmp_path):
    monkeypatch.setattr(web_tables, "MAX_TABLES", 2)

    async def fill():
        lobby = Lobby(["always_call"], seed=1, folder=tmp_path, keeps_log=True)
        first = await lobby.open_table(["always_call"], "you")
        await lobby.open_table(["always_call"], "you")
        with pytest.raises(TooManyTables, match="at most 2 tables"):
            await lobby.open_table(["always_call"], "you")
        first.touched -= 2 * web_tables.IDLE_S
        third = await lobby.open_table(["always_call"], "you")
        assert set(lobby.tables) == {third.id, *lobby.tables} - {first.id}
        with pytest.raises(SessionError, match="expected the id of a table"):
            lobby.table(first.id)
        lobby.close()

    asyncio.run(fill())


# Pages


def test_the_page_is_small_and_loads_nothing_from_elsewhere(server):
    files = sorted(STATIC.iterdir())
    assert [path.suffix for path in files] == [".html", ".css", ".js"]
    assert sum(path.stat().st_size for path in files) < 300_000
    for path in files:
        found = set(re.findall(r"(?:https?:)?//[a-z][\w.]+", path.read_text()))
        assert found <= {"http://www.w3.org"}
    with server.client() as client:
        for path in ("/", "/t/0123456789ab", "/results", "/models", "/static/table.js", "/static/table.css"):
            answer = client.get(path)
            assert answer.status_code == 200
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"


def test_offered_bots_are_the_registered_ones_and_those_of_the_command_line(server):
    with server.client() as client:
        offered = client.get("/api/bots").json()
    names = [bot["bot"] for bot in offered["bots"]]
    assert offered["default"] == [EXPERT]
    assert names[0] == EXPERT
    assert {"hardbot", "rulebot", "poki", "sparbot"} <= set(names)
    assert {bot["max_seats"] for bot in offered["bots"]} == {2, 10}
    assert all(bot["summary"] for bot in offered["bots"])


def test_results_and_models_are_those_published(server, tmp_path, monkeypatch):
    monkeypatch.setenv("HARDBOT_DATA", str(tmp_path))
    results = tmp_path / "results"
    results.mkdir()
    row = {"hero": "rulebot", "opponent": "random", "sb_per_hand": 0.25, "ci95": 0.01}
    document = {"kind": "gauntlet", "played_at": "2026-11-18T10:00:00Z", "unseen": True, "rows": [row]}
    for name in ("gauntlet-20261118T100000Z-abc", "latest-gauntlet"):
        (results / f"{name}.json").write_text(json.dumps(document))
    (results / "gauntlet-broken.json").write_text("{")
    (results / "gauntlet-rowless.json").write_text('{"kind": "gauntlet"}')
    model = tmp_path / "models" / "0123456789ab"
    model.mkdir(parents=True)
    (model / "manifest.json").write_text('{"model_id": "0123456789ab", "n_hands": 5, "arrays": {"x": 1}}')
    with server.client() as client:
        lines = {line["name"]: line for line in client.get("/api/results").json()["results"]}
        mine = {name: line for name, line in lines.items() if name.startswith("gauntlet-")}
        assert mine["gauntlet-20261118T100000Z-abc"]["matches"] == 1
        assert "expected JSON" in mine["gauntlet-broken"]["error"]
        assert "expected rows" in mine["gauntlet-rowless"]["error"]
        assert "latest-gauntlet" not in lines
        assert client.get("/api/results/gauntlet-20261118T100000Z-abc").json() == document
        assert client.get("/api/results/gauntlet-broken").status_code == 422
        models = client.get("/api/models").json()["models"]
    assert models[0]["in_use"]
    assert models[0]["scores"]["action_nats"]
    own = next(line for line in models if line["name"] == "0123456789ab")
    assert (own["origin"], own["n_hands"], "arrays" in own) == ("yours", 5, False)


def test_a_long_result_line_keeps_its_last_point():
    points = [(float(i), -float(i)) for i in range(1, 5001)]
    thin = thinned(points)
    assert len(thin) == web_tables.N_POINTS
    assert thin[0] == [1, 1.0, -1.0]
    assert thin[-1] == [5000, 5000.0, -5000.0]
    assert thinned(points[:3]) == [[1, 1.0, -1.0], [2, 2.0, -2.0], [3, 3.0, -3.0]]


# The command


def test_the_command_serves_until_interrupted(tmp_path):
    arguments = [
        sys.executable,
        "-m",
        "hardbot.cli",
        "web",
        "--port",
        "0",
        "--bot",
        "always_call",
        "--log",
        str(tmp_path),
    ]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    with httpx.Client(base_url=address, timeout=20) as client:
        assert "HardBot" in client.get("/").text
        made = client.post("/api/tables", json={}).json()
        play_hand(client, f"/api/t/{made['table']}")
        with client.stream("GET", f"/api/t/{made['table']}/events"):
            port = address.rstrip("/").rsplit(":", 1)[1]
            taken = subprocess.run([*arguments[:5], port], capture_output=True, text=True, check=False, timeout=60)
            process.send_signal(signal.SIGINT)
            _, complaints = process.communicate(timeout=20)
    assert (process.returncode, complaints) == (0, "")
    assert taken.returncode == 2
    assert "expected a free port of 127.0.0.1" in taken.stderr
    logs = list(tmp_path.iterdir())
    assert len(logs) == 1
    assert parse_log_hand(logs[0].read_text().splitlines()[1], ring(2)).players == ("you", "always_call")
