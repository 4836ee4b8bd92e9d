"""Answer times of the web table: twenty tables at once over loopback HTTP, and the page's first paint.

The server is a process of its own, as `hardbot web` starts it. Every table has a person who thinks for a random time
between answers and a stream that is read, as a page does. Times are those of whole requests: the person's action, the
bots' answers, the new state. `BOT`, `SECONDS` and `THINK` in the environment change the run.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from hardbot.commands.output import print_table

N_TABLES = 20
BOT = os.environ.get("BOT", "hardbot")
SECONDS = float(os.environ.get("SECONDS", "20"))
THINK_S = tuple(float(part) for part in os.environ.get("THINK", "0.3,1.2").split(","))
CHROMIUM = Path("/usr/bin/chromium")


class Person(threading.Thread):
    """Plays at one table and notes how long each answer took."""

    def __init__(self, port: int, number: int, until: float) -> None:
        super().__init__()
        self.port, self.until = port, until
        self.chance = random.Random(number)
        self.times_ms: list[float] = []
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.token = ""
        made = self._post("/api/tables", {"bots": [BOT], "name": f"p{number}"})
        self.address = f"/api/t/{made['table']}"

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"content-type": "application/json", "cookie": self.token}
        self.connection.request("POST", path, json.dumps(body), headers)
        answer = self.connection.getresponse()
        data = json.loads(answer.read())
        if answer.status not in (200, 201):
            raise RuntimeError(f"expected an answer to {path}, got {answer.status}: {data}")
        self.token = (answer.getheader("set-cookie") or self.token).partition(";")[0]
        return dict(data)

    def stream(self) -> socket.socket:
        """A second connection that follows the table."""
        found = socket.create_connection(("127.0.0.1", self.port))
        found.sendall(f"GET {self.address}/events HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {self.token}\r\n\r\n".encode())
        return found

    def run(self) -> None:
        """Think, act, note."""
        state: dict[str, Any] = {"between_hands": True}
        while time.monotonic() < self.until:
            time.sleep(self.chance.uniform(*THINK_S))
            start = time.perf_counter()
            if state["between_hands"]:
                state = self._post(f"{self.address}/deal", {})
            else:
                view = state["view"]
                action = "raise" if "raise" in view["legal"] and self.chance.random() < 0.35 else "call"
                body = {"action": action, "hand": view["hand"], "betting": view["betting"]}
                state = self._post(f"{self.address}/act", body)
            self.times_ms.append(1e3 * (time.perf_counter() - start))


def drain(streams: list[socket.socket], done: threading.Event) -> None:
    """Read what the streams send."""
    waiting = selectors.DefaultSelector()
    for stream in streams:
        waiting.register(stream, selectors.EVENT_READ)
    while not done.is_set():
        for key, _ in waiting.select(0.2):
            key.fileobj.recv(65536)  # type: ignore[union-attr]
    for stream in streams:
        stream.close()


def processor_s(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def play(port: int, pid: int) -> tuple[list[float], float]:
    """Times of all answers, and the server's processor time for each."""
    persons = [Person(port, number, time.monotonic() + SECONDS) for number in range(N_TABLES)]
    done = threading.Event()
    reader = threading.Thread(target=drain, args=([person.stream() for person in persons], done))
    reader.start()
    before = processor_s(pid)
    for person in persons:
        person.until = time.monotonic() + SECONDS
        person.start()
    for person in persons:
        person.join()
    done.set()
    reader.join()
    times = [ms for person in persons for ms in person.times_ms]
    return times, 1e3 * (processor_s(pid) - before) / len(times)


def first_paint_ms(address: str) -> list[float]:
    """First contentful paint of the page in Chromium, a few times, without cache."""
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"])
        for _ in range(5):
            page = browser.new_context().new_page()
            page.goto(address)
            page.wait_for_selector("#sit:not([disabled])")
            script = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
            found.append(float(page.evaluate(script)))
        browser.close()
    return sorted(found)


def main() -> None:
    """One table."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, "-m", "hardbot.cli", "web", "--port", "0", "--bot", BOT, "--log", folder]
        server = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            times, processor_ms = play(int(address.rstrip("/").rsplit(":", 1)[1]), server.pid)
            paint = first_paint_ms(address) if CHROMIUM.exists() else []
        finally:
            server.terminate()
            server.wait(timeout=20)
    p50, p90, p99 = np.percentile(times, [50, 90, 99])
    rows = [
        ["tables, bot", f"{N_TABLES}, {BOT}"],
        ["thinking time", f"{THINK_S[0]:g} to {THINK_S[1]:g} s"],
        ["answers", f"{len(times):,} ({len(times) / SECONDS:.0f} a second)"],
        ["median, p90", f"{p50:.1f}, {p90:.1f} ms"],
        ["p99 (goal: under 100)", f"{p99:.1f} ms"],
        ["largest", f"{max(times):.1f} ms"],
        ["server's processor time", f"{processor_ms:.2f} ms an answer"],
        ["load average", f"{os.getloadavg()[0]:.1f}"],
    ]
    if paint:
        rows.append(["first paint, median (goal: under 1000)", f"{paint[len(paint) // 2]:.0f} ms"])
    print_table("web table", ["", "value"], rows)


if __name__ == "__main__":
    main()
