"""The table in the browser: a small HTTP server for one's own machine.

One page, one stylesheet, one script, nothing loaded from elsewhere. Actions are POST requests whose answer is the new
state; a stream of server-sent events carries the same states, so that a reload or a second window follows the table.
A request is refused unless it comes from the page itself:

    421 another Host (a name that somebody pointed at this machine)      413 a body above 4 KB
    403 a foreign Origin or Sec-Fetch-Site, or no or a wrong table token  415 a body that is not JSON by its type
    404 no such table, hand or file                                       400 malformed
    409 out of turn, stale, illegal, or study that is switched off        422 a table that cannot be set up
    429 more tables or streams than the server keeps
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hardbot.errors import HardBotError, IllegalAction, SessionError
from hardbot.live.published import UnreadableFile, list_models, list_results, read_result
from hardbot.live.web_tables import MAX_LISTENERS, Lobby, TooManyTables, UnknownTable, WebTable, action_number

STATIC = Path(__file__).resolve().parent / "static"
MAX_BODY = 4096
HEARTBEAT_S = 15.0
COOKIE_AGE_S = 30 * 24 * 3600
_OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True)
class WebSettings:
    """What a server offers."""

    bots: tuple[str, ...] = ("hardbot",)  # the opponents of a first visit; the browser may also ask for registered bots
    seed: int | None = None  # of the first table; the next has the next number
    folder: Path | None = None  # play logs
    keeps_log: bool = True


def create_app(settings: WebSettings | None = None) -> Starlette:
    """The whole server as an ASGI application; `app.state.lobby` has the tables."""
    chosen = settings or WebSettings()
    lobby = Lobby(chosen.bots, seed=chosen.seed, folder=chosen.folder, keeps_log=chosen.keeps_log)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        lobby.loop = asyncio.get_running_loop()
        ready = [asyncio.ensure_future(lobby.run(partial(_warm, lobby, spec))) for spec in dict.fromkeys(chosen.bots)]
        yield
        lobby.close()
        for task in ready:
            task.cancel()

    app = Starlette(routes=_routes(), lifespan=lifespan, exception_handlers=_HANDLERS)
    app.add_middleware(OwnRequestsOnly)
    app.state.lobby = lobby
    return app


def _warm(lobby: Lobby, spec: str) -> None:
    """Get the usual opponent ready before anybody asks; one that cannot play says so when it is asked to."""
    try:
        lobby.make_ready(spec)
    except HardBotError:
        return


# Whose requests are answered


class OwnRequestsOnly:
    """Refuses what does not come from this server's own page, and adds the headers that bind the page to it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 421, 403 or 413."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # websockets are not spoken here

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_EXTRA]
            await send(message)

        refusal = _refusal(Request(scope))
        await (refusal or self.app)(scope, receive, with_headers)


_EXTRA = [(key.encode(), value.encode()) for key, value in _HEADERS.items()]


def _refusal(request: Request) -> Response | None:
    host = request.headers.get("host", "")
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    if name not in _OWN_NAMES:
        return _error(421, f"expected a request to this machine by its own name, got host {host[:60]!r}")
    origin = request.headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        return _error(403, f"expected a request from the table's own page, got origin {origin[:60]!r}")
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not _is_visit(request):
        return _error(403, "expected a request from the table's own page, got one from another site")
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > MAX_BODY:
        return _error(413, f"expected at most {MAX_BODY} bytes, got {length[:20]}")
    return None


def _is_visit(request: Request) -> bool:
    """A link from elsewhere to a page (not to its data) is fine."""
    return request.method == "GET" and not request.url.path.startswith("/api/")


def _error(status: int, text: str) -> JSONResponse:
    return JSONResponse({"error": text}, status)


async def _body(request: Request) -> dict[str, Any]:
    """A small JSON object."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "expected a body of type application/json")
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BODY:
            raise HTTPException(413, f"expected at most {MAX_BODY} bytes, got more")
    try:
        document = json.loads(data or b"{}")
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "expected a JSON object, got something else") from error
    if not isinstance(document, dict):
        raise HTTPException(400, f"expected a JSON object, got {type(document).__name__}")
    return document


def _own_table(request: Request) -> WebTable:
    """The table of the address, if the request has its token."""
    import secrets

    table = _lobby(request).table(request.path_params["table"])
    token = request.cookies.get(cookie_name(table.id)) or request.headers.get("x-table-token", "")
    if not secrets.compare_digest(token.encode(), table.token.encode()):
        raise HTTPException(403, "expected the token of this table, got none or another")
    return table


def cookie_name(table_id: str) -> str:
    """One cookie a table, so that several can be open side by side."""
    return f"table-{table_id}"


def _lobby(request: Request) -> Lobby:
    lobby: Lobby = request.app.state.lobby
    return lobby


# Answers


async def page(request: Request) -> Response:
    """The one page; its script looks at the address."""
    return _static("index.html")


async def static(request: Request) -> Response:
    """Stylesheet and script."""
    return _static(request.path_params["name"])


def _static(name: str) -> Response:
    path = STATIC / name
    if path.parent != STATIC or path.suffix not in _KINDS or not path.is_file():
        raise HTTPException(404, f"expected a file of the page, got {name[:40]!r}")
    return Response(path.read_bytes(), media_type=_KINDS[path.suffix], headers={"cache-control": "no-cache"})


async def bots(request: Request) -> Response:
    """Who can be played against."""
    lobby = _lobby(request)
    offered = await lobby.run(lobby.offered)
    return JSONResponse({"bots": offered, "default": list(lobby.default_bots)})


async def new_table(request: Request) -> Response:
    """Open a table; its token goes into a cookie that only this table's addresses get."""
    asked = await _body(request)
    lobby = _lobby(request)
    names, person = asked.get("bots", list(lobby.default_bots)), asked.get("name", "you")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not isinstance(person, str):
        raise HTTPException(400, "expected bots as a list of names and a name as text")
    if len(person) > 24:
        raise HTTPException(400, f"expected a name of at most 24 letters, got {len(person)}")
    try:
        table = await lobby.open_table(names, person)
    except TooManyTables:
        raise
    except HardBotError as error:
        raise HTTPException(422, str(error)) from error
    response = JSONResponse({"table": table.id}, 201)
    response.set_cookie(
        cookie_name(table.id),
        table.token,
        max_age=COOKIE_AGE_S,
        path=f"/api/t/{table.id}",
        httponly=True,
        samesite="strict",
    )
    return response


def _json(data: bytes) -> Response:
    return Response(data, media_type="application/json", headers={"cache-control": "no-store"})


async def state(request: Request) -> Response:
    """The table as it is."""
    return _json(_own_table(request).state)


async def deal(request: Request) -> Response:
    """The next hand."""
    table = _own_table(request)
    await _body(request)
    return _json(await _lobby(request).run(table.deal))


async def act(request: Request) -> Response:
    """Fold, call or raise, at a hand and betting that the page has seen."""
    table = _own_table(request)
    asked = await _body(request)
    hand, betting = asked.get("hand"), asked.get("betting")
    if type(hand) is not int or not isinstance(betting, str):
        raise HTTPException(400, "expected action, hand (a number) and betting (text)")
    try:
        action = action_number(asked.get("action"))
    except ValueError as error:
        raise HTTPException(400, str(error)) from error
    return _json(await _lobby(request).run(lambda: table.act(action, hand, betting)))


async def settings(request: Request) -> Response:
    """Whether the range map may be seen during a hand."""
    table = _own_table(request)
    on = (await _body(request)).get("study_live")
    if not isinstance(on, bool):
        raise HTTPException(400, "expected study_live to be true or false")
    return _json(await _lobby(request).run(lambda: table.set_study(on)))


async def hands(request: Request) -> Response:
    """Finished hands."""
    return _json(await _lobby(request).run(_own_table(request).hands))


async def study(request: Request) -> Response:
    """What the bot believed in a hand."""
    table, hand = _own_table(request), request.path_params["hand"]
    return _json(await _lobby(request).run(lambda: table.study(hand)))


async def events(request: Request) -> Response:
    """States as server-sent events, the present one first."""
    table = _own_table(request)
    if len(table.listeners) >= MAX_LISTENERS:
        raise HTTPException(429, f"expected at most {MAX_LISTENERS} streams of a table, got one more")
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_states(table), media_type="text/event-stream", headers=headers)


async def _states(table: WebTable) -> AsyncIterator[bytes]:
    changed = asyncio.Event()
    changed.set()
    table.listeners.add(changed)
    try:
        while True:
            try:
                await asyncio.wait_for(changed.wait(), HEARTBEAT_S)
            except TimeoutError:
                yield b": still here\n\n"
                continue
            changed.clear()
            if table.is_closed:
                return
            yield b"data: " + table.state + b"\n\n"
    finally:
        table.listeners.discard(changed)


async def results(request: Request) -> Response:
    """Published matches."""
    return JSONResponse({"results": await _lobby(request).run(list_results)})


async def result(request: Request) -> Response:
    """One published document."""
    name = request.path_params["name"]
    try:
        return JSONResponse(await _lobby(request).run(lambda: read_result(name)))
    except KeyError as error:
        raise HTTPException(404, f"expected a published result, got {name[:60]!r}") from error


async def models(request: Request) -> Response:
    """Trained models and their scores."""
    return JSONResponse({"models": await _lobby(request).run(list_models)})


def _routes() -> list[Route]:
    table = "/api/t/{table}"
    return [
        *(Route(path, page) for path in ("/", "/t/{table}", "/results", "/models")),
        Route("/static/{name}", static),
        Route("/api/bots", bots),
        Route("/api/tables", new_table, methods=["POST"]),
        Route(table, state),
        Route(f"{table}/deal", deal, methods=["POST"]),
        Route(f"{table}/act", act, methods=["POST"]),
        Route(f"{table}/settings", settings, methods=["POST"]),
        Route(f"{table}/hands", hands),
        Route(f"{table}/study/{{hand:int}}", study),
        Route(f"{table}/events", events),
        Route("/api/results", results),
        Route("/api/results/{name}", result),
        Route("/api/models", models),
    ]


def _status(code: int) -> Callable[[Request, Exception], Response]:
    def answer(request: Request, error: Exception) -> Response:
        return _error(code, str(error))

    return answer


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error(error.status_code, error.detail)


_HANDLERS: dict[Any, Any] = {
    HTTPException: _http_error,
    UnknownTable: _status(404),
    TooManyTables: _status(429),
    UnreadableFile: _status(422),
    IllegalAction: _status(409),
    SessionError: _status(409),
}


# Serving


def listen(port: int) -> Any:
    """A socket of this machine only; SessionError if the port is taken."""
    import socket

    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("127.0.0.1", port))
        found.listen(128)
    except (OSError, OverflowError) as error:
        found.close()
        raise SessionError(f"expected a free port of 127.0.0.1, got {port}: {error}") from error
    return found


def serve(settings: WebSettings, port: int, say: Callable[[str], object]) -> None:
    """Serve until interrupted."""
    import sys

    import uvicorn

    taken = listen(port)
    sys.setswitchinterval(0.001)  # bots that compute must not keep the event loop waiting
    app = create_app(settings)
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2, ws="none")

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            app.state.lobby.hang_up()
            super().handle_exit(sig, frame)

    say(f"http://127.0.0.1:{taken.getsockname()[1]}/")
    with suppress(KeyboardInterrupt):
        Server(config).run(sockets=[taken])


def served_bots(specs: Sequence[str]) -> tuple[str, ...]:
    """Bots named on the command line, checked."""
    from hardbot.bots.registry import create_bot

    for spec in specs:
        create_bot(spec)
    return tuple(specs)
