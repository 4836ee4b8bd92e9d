"""A Prefect server for those who have none: a child process on this machine, no account, nothing sent anywhere.

With `PREFECT_API_URL` set, that server is used and none is started.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prefect import Flow
from prefect.client.schemas.schedules import CronSchedule
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.types.entrypoint import EntrypointType
from pydantic import ValidationError

from hardbot.errors import HardBotError

HOST, PORT = "127.0.0.1", 4200
START_SECONDS = 120.0
QUIET = {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}


@contextmanager
def server(port: int = PORT) -> Iterator[str]:
    """Address of the user's server, or of one that runs while the block lasts."""
    named = PREFECT_API_URL.value()
    if named:
        yield named
        return
    address = f"http://{HOST}:{port}/api"
    child = subprocess.Popen(
        [sys.executable, "-m", "prefect", "server", "start", "--host", HOST, "--port", str(port)],
        env=os.environ | QUIET | {"PREFECT_SERVER_UI_API_URL": address},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_healthy(address, child)
        os.environ["PREFECT_API_URL"] = address  # for the processes that run scheduled flows
        with temporary_settings({PREFECT_API_URL: address}):
            yield address
    finally:
        os.environ.pop("PREFECT_API_URL", None)
        child.terminate()
        try:
            child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _wait_until_healthy(address: str, child: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if child.poll() is not None:
            raise HardBotError(f"expected a Prefect server at {address}, but it ended with code {child.returncode}")
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise HardBotError(f"expected a Prefect server at {address} within {START_SECONDS:.0f} s, got none")


def check_cron(cron: str) -> None:
    """Raise HardBotError unless this is a schedule."""
    try:
        CronSchedule(cron=cron)
    except ValidationError as error:
        raise HardBotError(f"expected a schedule such as '0 3 * * *' for --cron, got {cron!r}") from error


def serve_flow(flow: Flow[..., Any], cron: str, parameters: dict[str, Any]) -> None:
    """Deploy a flow as `hardbot` and run it whenever it is due, one run at a time, until interrupted."""
    flow.serve(name="hardbot", cron=cron, parameters=parameters, entrypoint_type=EntrypointType.MODULE_PATH, limit=1)
