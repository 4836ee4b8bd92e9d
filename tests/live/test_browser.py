"""The page in a real browser: twenty hands by key and button, chips against the log, the study panel step by step."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from hardbot.game.cards import CARD_TEXT, CLASS_TEXT, hole_class
from hardbot.game.notation import parse_log_hand
from hardbot.game.rules import HEADS_UP
from hardbot.live.web import WebSettings

EXPERT = "hardbot:chooser=expert"
CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
NAMES = {"f": "fold", "c": "call", "r": "raise"}
READY = """() => state && !busy && (!document.querySelector('#next').hidden ||
    [...document.querySelectorAll('#actions [data-action]')].some((b) => !b.disabled && !b.hidden))"""

pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists() and not os.environ.get("CI"), reason="there is no /usr/bin/chromium to test with"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory, start_web):
    with start_web(WebSettings((EXPERT,), seed=2026, folder=tmp_path_factory.mktemp("play"))) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def new_page(browser, server):
    """Pages that may talk to our server only and must not complain."""
    contexts, complaints = [], []

    def make(width=1280, height=860, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, base_url=server.base, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
        page.on("request", lambda r: complaints.append(r.url) if not r.url.startswith((server.base, "data:")) else None)
        return page

    yield make
    for context in contexts:
        context.close()
    assert complaints == []


def sit_down(page, server, *bots):
    """Through the lobby; returns the server's side of the table."""
    page.goto("/")
    page.wait_for_selector("#sit:not([disabled])")
    for number, bot in enumerate(bots):
        if number:
            page.click("#add-bot")
        page.get_by_label(f"Opponent {number + 1}", exact=True).select_option(bot)
    page.click("#sit")
    page.wait_for_url("**/t/*")
    wait(page)
    return server.lobby.tables[page.url.rsplit("/", 1)[1]]


def wait(page):
    """Until it is the person's turn or the hand is over."""
    page.wait_for_function(READY, polling=20)


def play_hand(page, answers):
    """Answer by key or button until the hand is over."""
    while not page.locator("#next").is_visible():
        key = next(answers)
        button = page.locator(f"#actions [data-action={NAMES[key.lower()]}]")
        if not button.is_enabled():
            key, button = "c", page.locator("#actions [data-action=call]")
        if key.isupper():
            button.click()
        else:
            page.keyboard.press(key)
        wait(page)


def endless(text):
    while True:
        yield from text


def test_twenty_hands_by_key_and_button_and_every_chip_is_in_the_log(new_page, server):
    page = new_page()
    table = sit_down(page, server, EXPERT)
    answers = endless("crCcRccfcC")
    shown = []
    for number in range(20):
        play_hand(page, answers)
        expect(page.locator("#hands button")).to_have_count(number + 1)
        text = page.locator("#own small").inner_text().replace("−", "-")
        shown.append(float(re.search(r"total ([+-]?[\d.]+)", text).group(1)))
        if number == 9:
            page.reload()  # the table is where it was
            wait(page)
            expect(page.locator("#hands button")).to_have_count(10)
        if number < 19:
            page.keyboard.press("n") if number % 2 else page.click("#next")
            wait(page)
    lines = table.session.log.path.read_text().splitlines()
    hands = [parse_log_hand(line, HEADS_UP) for line in lines if line.startswith("STATE")]
    nets = [dict(zip(hand.players, hand.net_chips, strict=True))["you"] / 10 for hand in hands]
    assert len(nets) == 20
    assert shown == pytest.approx([sum(nets[: n + 1]) for n in range(20)])
    listed = [line.replace("−", "-") for line in page.locator("#hands button span:last-child").all_inner_texts()]
    assert [float(value) for value in listed if re.fullmatch(r"[+-]?[\d.]+", value)] == pytest.approx(nets[::-1])
    assert f"{sum(nets):+g}".replace("-", "−") in page.locator("#score").inner_text()
    assert page.locator("#chart svg path").count() == 2


def test_the_study_panel_steps_through_a_hand(new_page, server):
    page = new_page()
    table = sit_down(page, server, EXPERT)
    page.keyboard.press("s")
    while page.locator("#next").is_visible():  # it folded at once
        page.keyboard.press("n")
        wait(page)
    expect(page.locator("#study-note")).to_contain_text("Off while the hand is live")
    expect(page.locator("#study-frames")).to_be_hidden()
    page.get_by_label("also while a hand is live").check()
    expect(page.locator("#study-frames")).to_be_visible()
    expect(page.locator("#map td")).to_have_count(169)
    expect(page.locator("#reasons")).to_be_hidden()
    expect(page.locator("#revealed-part")).to_be_hidden()
    play_hand(page, endless("c"))
    expect(page.locator("#revealed-part")).to_be_visible()
    record = table.session.records[-1]
    expect(page.locator("#map td.mark")).to_have_text(CLASS_TEXT[hole_class(*record.hole)])
    cards = {CARD_TEXT[card] for hole in record.deal.holes for card in hole}
    ranks = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "ten"}
    suits = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}
    for card in cards:
        name = f"{ranks.get(card[0], card[0])} of {suits[card[1]]}"
        expect(page.locator(f'#revealed [aria-label="{name}"]')).to_have_count(1)
    n_frames = len(table.session.snapshots(record.hand_number))
    maps = []
    page.locator("#study-title").click()  # keys go to the page
    for back in range(n_frames):
        expect(page.locator("#step-text")).to_contain_text(f"{n_frames - back} of {n_frames}:")
        maps.append(page.locator("#map").evaluate("(m) => [...m.querySelectorAll('td')].map((c) => c.title).join()"))
        page.keyboard.press("ArrowLeft")
    assert len(set(maps)) > 1
    assert page.locator("#step-back").is_disabled()
    page.click("#step-on")
    expect(page.locator("#step-text")).to_contain_text(f"2 of {n_frames}:")
    page.locator("#step").fill(str(n_frames - 1))
    expect(page.locator("#step-text")).to_contain_text(f"{n_frames} of {n_frames}:")
    expect(page.locator("#reasons")).to_be_visible()
    assert "rule: " in page.locator("#rule").inner_text()
    assert {"HS", "PPot", "EHS", "Pot odds"} <= set(page.locator("#figures dt").all_inner_texts())
    assert page.locator("#buckets rect").count() > 10
    assert page.locator("#triple rect").count() == 3


def test_ten_players_on_a_narrow_phone_fit_its_width(new_page, server):
    page = new_page(width=360, height=740, has_touch=True, is_mobile=True)
    table = sit_down(page, server, *["rulebot", "random", "always_call"] * 3)
    expect(page.locator("#others li")).to_have_count(9)
    play_hand(page, endless("C"))
    assert sum(table.session.totals) == 0
    wide = "() => document.scrollingElement.scrollWidth - window.innerWidth"
    assert page.evaluate(wide) <= 0
    for path in ("/", "/results", "/models"):
        page.goto(path)
        page.wait_for_selector("main section:not([hidden]) h1")
        assert page.evaluate(wide) <= 0, path


def test_two_windows_of_one_table_and_two_tables_of_one_browser(new_page, server):
    page = new_page()
    sit_down(page, server, "always_call")
    twin = page.context.new_page()
    twin.goto(page.url)
    wait(twin)
    play_hand(page, endless("c"))
    expect(twin.locator("#next")).to_be_visible()
    other = page.context.new_page()
    sit_down(other, server, "always_call")
    assert other.url != page.url
    assert other.locator("#hands button").count() == 0


def test_everything_has_a_name_and_the_page_follows_the_colour_scheme(new_page, server):
    colours = set()
    for scheme in ("light", "dark"):
        page = new_page(color_scheme=scheme)
        sit_down(page, server, EXPERT)
        page.keyboard.press("s")
        play_hand(page, endless("c"))
        page.locator("#next").focus()
        page.keyboard.press("Enter")
        wait(page)
        focused = page.evaluate("() => document.activeElement.id || document.activeElement.dataset.action")
        assert focused == ("next" if page.locator("#next").is_visible() else "call")
        while not page.locator("#next").is_visible():  # Enter alone plays on
            page.keyboard.press("Enter")
            wait(page)
        expect(page.locator("#study-frames")).to_be_visible()
        colours.add(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
        nameless = page.evaluate(
            """() => [...document.querySelectorAll('button, input, select, a, [role=img]')].filter((e) =>
                !(e.innerText || '').trim() && !e.getAttribute('aria-label') && !(e.labels && e.labels.length))
                .map((e) => e.outerHTML.slice(0, 120))"""
        )
        assert nameless == []
        assert page.locator("[aria-live=polite]").count() >= 2
    assert len(colours) == 2
    size = page.evaluate("() => performance.getEntries().reduce((all, e) => all + (e.transferSize || 0), 0)")
    assert 0 < size < 300_000


def test_a_table_that_is_gone_leads_back_to_the_lobby(new_page, server):
    page = new_page()
    complaints_allowed = page.context.new_page()  # its console reports the 404
    complaints_allowed.goto("/t/0123456789ab")
    expect(complaints_allowed.locator("#alert")).to_contain_text("no longer there")
    expect(complaints_allowed.locator("#sit")).to_be_enabled()
