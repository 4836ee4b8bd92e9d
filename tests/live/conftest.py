"""A web server in a thread, and clients that behave like its page."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import httpx
import pytest
import uvicorn

from hardbot.live.web import create_app, listen


class Server:
    """A server in a thread, and clients that behave like a page."""

    def __init__(self, app):
        self.app = app
        self.lobby = app.state.lobby
        self.socket = listen(0)
        self.base = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1, ws="none")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def stop(self):
        self.lobby.hang_up()
        self.server.should_exit = True
        self.thread.join(timeout=20)
        self.socket.close()
        assert not self.thread.is_alive()

    def client(self):
        return httpx.Client(base_url=self.base, timeout=30, headers={"origin": self.base})

    def sit(self, *bots, name="you"):
        """A client and its table's address."""
        client = self.client()
        answer = client.post("/api/tables", json={"bots": list(bots), "name": name})
        assert answer.status_code == 201, answer.text
        return client, f"/api/t/{answer.json()['table']}"

    def seat(self, session):
        """A table with bots that nobody can ask for by name."""
        table = self.lobby.seat(session)
        client = self.client()
        client.headers["x-table-token"] = table.token
        return client, f"/api/t/{table.id}", table


@pytest.fixture(scope="session")
def start_web():
    """`with start_web(settings) as server`: a server on a port of its own."""

    @contextmanager
    def start(settings):
        running = Server(create_app(settings))
        try:
            yield running
        finally:
            running.stop()

    return start
