"""Where computed and shipped tables are kept, and how a file gets there whole.

Tables that are expensive but can always be made again live in a cache folder: `$HARDBOT_CACHE`, else the platform's
(`$XDG_CACHE_HOME/hardbot`, `~/.cache/hardbot`). A table is a plain .npy file, memory-mapped when used, with a JSON
manifest beside it: version, shape, sha256. The checksum is computed again whenever the file's size or time differ from
what was last verified. Files are written aside and renamed, so a killed build leaves nothing half-done behind.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import TableError

_CHUNK = 1 << 24
_PACKAGE = Path(__file__).resolve().parents[1]


def cache_folder() -> Path:
    """Folder of computed tables; made when first written to."""
    named = os.environ.get("HARDBOT_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hardbot"


def shipped_folder(name: str) -> Path:
    """Folder of what ships with the project under this name: inside the package, else in `data` of the checkout."""
    places = (_PACKAGE / "data" / name, _PACKAGE.parent / "data" / name)
    return next((place for place in places if place.is_dir()), places[-1])


def file_sha256(path: Path) -> str:
    """Checksum of a file of any size."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file aside, flush it to the disk, rename it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with aside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def save_array(
    name: str, shape: tuple[int, ...], dtype: Any, version: int, fill: Callable[[NDArray[Any]], None]
) -> Path:
    """Make an array of the cache: `fill` writes into a memory-mapped file, which is then checksummed and renamed."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.npy"
    aside = folder / f"{name}.{os.getpid()}.tmp.npy"
    try:
        array = np.lib.format.open_memmap(aside, mode="w+", dtype=dtype, shape=shape)
        fill(array)
        array.flush()
        del array
        manifest = {
            "version": version,
            "shape": list(shape),
            "dtype": str(np.dtype(dtype)),
            "sha256": file_sha256(aside),
        }
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    manifest["verified"] = _stamp(path)
    write_whole(_manifest_path(name), json.dumps(manifest).encode())
    return path


def open_array(name: str, version: int, hint: str) -> NDArray[Any]:
    """Map an array of the cache; TableError (with `hint`, how to make it) if missing, outdated or damaged."""
    path, manifest_path = cache_folder() / f"{name}.npy", _manifest_path(name)
    try:
        manifest = json.loads(manifest_path.read_text(encoding="utf-8"))
        stamp = _stamp(path)
    except FileNotFoundError as error:
        raise TableError(f"expected the table {name} in {cache_folder()}, found none; {hint}") from error
    except (OSError, ValueError) as error:
        raise TableError(f"expected a manifest at {manifest_path}, got {error}; {hint}") from error
    if manifest.get("version") != version:
        raise TableError(f"expected version {version} of {path}, got {manifest.get('version')!r}; {hint}")
    if manifest.get("verified") != stamp:
        if file_sha256(path) != manifest.get("sha256"):
            raise TableError(f"expected the sha256 of the manifest, got another of {path}: it is damaged; {hint}")
        write_whole(manifest_path, json.dumps(manifest | {"verified": stamp}).encode())
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise TableError(f"expected an array in {path}, got {error}; {hint}") from error
    if list(array.shape) != manifest.get("shape") or str(array.dtype) != manifest.get("dtype"):
        raise TableError(
            f"expected {manifest.get('shape')} {manifest.get('dtype')} in {path}, got {array.shape}; {hint}"
        )
    return array


def _manifest_path(name: str) -> Path:
    return cache_folder() / f"{name}.json"


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]
