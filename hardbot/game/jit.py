"""The project's one numba decorator: cached machine code, no GIL, annotated so that callers keep their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def njit(function: F) -> F:
    """Compile on first call, keep the machine code beside the source file."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))
