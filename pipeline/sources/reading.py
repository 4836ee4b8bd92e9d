"""Reading files whole: plain, gzip or zstd, hashed, and watched for changes while they are read.

A file is known by the SHA-256 of its bytes as they lie on the disk. The bytes that were parsed are
hashed again on the way; if they differ from those announced, somebody wrote to the file and the
caller's transaction has to be rolled back.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from hardbot.errors import SourceError

GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
COMPRESSED_SUFFIXES = (".gz", ".zst", ".zstd")
BLOCK_BYTES = 24 << 20
_CHUNK_BYTES = 1 << 20


class HashingReader(io.RawIOBase):
    """A file that hashes what is read from it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self.sha = hashlib.sha256()

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill the buffer and hash what came."""
        n_read = self._file.readinto(buffer)
        self.sha.update(memoryview(buffer)[:n_read])
        return n_read

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, as hexadecimal text."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unit_files(path: Path) -> list[Path]:
    """The file itself, or all files below a folder in order of their names."""
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def unit_bytes(path: Path) -> int:
    """Size of a file, or of all files below a folder."""
    return sum(file.stat().st_size for file in unit_files(path))


def unit_sha256(path: Path) -> str:
    """SHA-256 of a file, or of the names and hashes of all files below a folder."""
    if not path.is_dir():
        return file_sha256(path)
    return names_sha256((file.relative_to(path).as_posix(), file_sha256(file)) for file in unit_files(path))


def names_sha256(hashes: Iterable[tuple[str, str]]) -> str:
    """One hash for a folder: of `name sha256` lines in order of names."""
    lines = "".join(f"{name} {sha256}\n" for name, sha256 in sorted(hashes))
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def _decompressed(raw: io.BufferedReader[Any]) -> IO[bytes]:
    magic = raw.peek(4)[:4]
    if magic.startswith(GZIP_MAGIC):
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode="rb"))
    if magic == ZSTD_MAGIC:
        return cast(IO[bytes], zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))
    return raw


def read_head(path: Path, n_bytes: int = 8192) -> bytes:
    """The first bytes of a file, decompressed; what a damaged archive still gives."""
    with path.open("rb") as raw:
        reader, head = _decompressed(raw), b""
        try:
            while len(head) < n_bytes and (chunk := reader.read(n_bytes - len(head))):
                head += chunk
        except (OSError, EOFError, zlib.error, zstandard.ZstdError):
            return head
    return head


def read_chunks(path: Path, sha256: str) -> Iterator[bytes]:
    """Decompressed bytes of a file whose hash was `sha256`; SourceError if it is damaged or has changed."""
    hashing = HashingReader(path)
    with io.BufferedReader(hashing, _CHUNK_BYTES) as raw:
        try:
            yield from _zstd_chunks(raw) if raw.peek(4)[:4] == ZSTD_MAGIC else _chunks(_decompressed(raw))
            while raw.read(_CHUNK_BYTES):  # what follows the last frame belongs to the hash too
                pass
        except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
            raise SourceError(f"expected a whole compressed file, but {path} is damaged or cut off: {error}") from error
        if hashing.sha.hexdigest() != sha256:
            raise SourceError(f"expected {path} to stay as it was, but it changed while it was read; try again")


def _chunks(reader: IO[bytes]) -> Iterator[bytes]:
    while chunk := reader.read(_CHUNK_BYTES):
        yield chunk


def _zstd_chunks(raw: IO[bytes]) -> Iterator[bytes]:
    """All frames one after the other; EOFError if the last is cut off, which zstd's own reader does not tell."""
    frame, inside = zstandard.ZstdDecompressor().decompressobj(), False
    while data := raw.read(_CHUNK_BYTES):
        while data:
            yield frame.decompress(data)
            inside, data = not frame.eof, frame.unused_data if frame.eof else b""
            if frame.eof:
                frame = zstandard.ZstdDecompressor().decompressobj()
    if inside:
        raise EOFError("the last frame is not complete")


def read_all(path: Path, sha256: str) -> bytes:
    """All decompressed bytes of a file."""
    return b"".join(read_chunks(path, sha256))


def read_file(path: Path) -> tuple[bytes, str]:
    """A file's bytes as they lie on the disk, and their SHA-256."""
    data = path.read_bytes()
    return data, hashlib.sha256(data).hexdigest()


def read_line_blocks(path: Path, sha256: str) -> Iterator[bytes]:
    """Blocks of whole lines of about BLOCK_BYTES; only the last may lack its newline."""
    parts: list[bytes] = []
    size = 0
    for chunk in read_chunks(path, sha256):
        parts.append(chunk)
        size += len(chunk)
        if size >= BLOCK_BYTES:
            block = b"".join(parts)
            cut = block.rfind(b"\n") + 1
            if cut:
                yield block[:cut]
            parts, size = [block[cut:]], len(block) - cut
    if size:
        yield b"".join(parts)


def bare_name(path: Path) -> str:
    """File name without compression and format suffixes: `a.log.gz` is `a`."""
    name = path.name
    for suffix in (*COMPRESSED_SUFFIXES, ".log", ".txt", ".phhs", ".phh", ".tgz", ".tar"):
        name = name.removesuffix(suffix)
    return name or path.name
