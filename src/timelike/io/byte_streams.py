"""Files as streams of bytes or whole lines, decompressed on the fly."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from timelike.io.text_encodings import CP1252, SEEN, FromUtf16, ToUtf8, utf16

PACKINGS = (".gz", ".bz2", ".zst")
#: Bytes per read. Larger blocks are not faster, and the tables made from a block are several times its size.
BLOCK = 2**22
#: No line of an edge list is this long.
LONGEST_LINE = 2**23
#: Refuse compressed files that exceed both this size and this expansion ratio: they are decompression bombs.
UNPACKED, RATIO = 2**22, 200


class File:
    """An input file: its name for messages, its ending without that of the compression, and its bytes."""

    def __init__(self, path: Path | None):
        self.path = path
        self.name = "standard input" if path is None else str(path)
        endings = [x.lower() for x in (path.suffixes if path else ())]
        self.ending = "".join([x for x in endings if x not in PACKINGS][-1:])
        self._raw: IO[bytes] = open(path, "rb") if path else sys.stdin.buffer  # noqa: SIM115
        self._stream = self._unpacked(io.BufferedReader(self._raw, BLOCK) if path is None else self._raw)
        self._ahead, self._unpacked_bytes = b"", 0
        self._recode: FromUtf16 | None = None
        self._begun = False
        self.remarks: list[str] = []

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.path is not None:
            self._raw.close()

    def _unpacked(self, raw: Any) -> Any:
        start = raw.peek(4)[:4]
        if start.startswith(b"\x1f\x8b"):
            return gzip.GzipFile(fileobj=raw)
        if start.startswith(b"BZh"):
            return bz2.BZ2File(raw)
        return _zstd(raw, self.name) if start == b"\x28\xb5\x2f\xfd" else raw

    def read(self, size: int = -1) -> bytes:
        """Read the next decompressed bytes, of UTF-16 as UTF-8; fewer than `size` only at the end."""
        if not self._begun:
            self._begin()
        parts, left = [self._ahead], size - len(self._ahead)
        self._ahead = b""
        try:
            while left > 0 or size < 0:
                part = self._next(min(left, BLOCK) if size >= 0 else BLOCK)
                if not part:
                    break
                parts.append(part)
                left -= len(part)
        except (EOFError, OSError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None and self._stream is self._raw:
                raise
            raise ValueError(f"{self.name}: the compressed file is damaged: {error}") from None
        found = b"".join(parts)
        if 0 <= size < len(found):  # UTF-8 may be longer than UTF-16
            found, self._ahead = found[:size], found[size:]
        return found

    def _begin(self) -> None:
        """Look at the first bytes: UTF-16 is recoded from here on."""
        self._begun = True
        self._ahead = head = self.read(SEEN)
        codec = utf16(head)
        if codec is not None:
            self._recode = FromUtf16(self.name, codec)
            self._ahead = self._recode(head, len(head) < SEEN)
            self.remarks.append(f"the text is {codec.upper()}")

    def _next(self, size: int) -> bytes:
        """The next bytes of the stream, at most about `size`; none only at the end."""
        while True:
            part: bytes = self._stream.read(size)
            self._check_unpacked(len(part))
            if self._recode is None:
                return part
            text = self._recode(part, not part)
            if text or not part:
                return text

    def _check_unpacked(self, more: int) -> None:
        self._unpacked_bytes += more
        if self._unpacked_bytes <= UNPACKED or self.path is None or self._stream is self._raw:
            return
        if self._unpacked_bytes > RATIO * self.path.stat().st_size:
            raise ValueError(
                f"{self.name}: it expands over {RATIO}-fold; if you trust it, decompress it first"
            )

    def head(self) -> bytes:
        """Return the first few thousand bytes without consuming them."""
        self._ahead = self.read(4096)
        return self._ahead

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole lines, each ending in a line feed, with the number of their first line.

        Lines are UTF-8, up to malformed bytes; what is not was read as Windows-1252, which `remarks` says.
        """
        to_utf8 = ToUtf8(self.name)
        for line, block in self._raw_blocks():
            yield line, to_utf8(line, block)
        if to_utf8.codec == "cp1252":
            self.remarks.append(CP1252)

    def _raw_blocks(self) -> Iterator[tuple[int, bytes]]:
        line, rest = 1, b""
        while piece := self.read(BLOCK):
            if line == 1 and not rest:
                piece = self._checked_start(piece)
            cut = piece.rfind(b"\n") + 1
            if not cut:
                rest += piece
                if len(rest) > LONGEST_LINE:
                    raise ValueError(f"{self.name}, line {line}: over {LONGEST_LINE:,} bytes on one line")
                continue
            block, rest = rest + piece[:cut], piece[cut:]
            yield line, block
            line += block.count(b"\n")
        if rest:
            yield line, rest + b"\n"

    def _checked_start(self, piece: bytes) -> bytes:
        if piece.startswith(b"\xd0\xcf\x11\xe0"):
            raise ValueError(f"{self.name}: this is an Excel file of before 2007; save it as .xlsx or CSV")
        if b"\0" in piece[:4096]:
            raise ValueError(f"{self.name}: this is binary data in an unknown format, not text")
        return piece.removeprefix(b"\xef\xbb\xbf")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield numbered lines of UTF-8 text without their line ends."""
        for first, block in self.blocks():
            for i, line in numbered_lines(first, block):
                try:
                    yield i, line.decode().rstrip("\r")
                except UnicodeDecodeError:
                    raise ValueError(
                        f"{self.name}, line {i}: this is not UTF-8 text; the text is {line[:60]!r}"
                    ) from None


def numbered_lines(first: int, block: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a block, numbered from `first`, without copying the whole block."""
    at = 0
    while at < len(block):
        end = block.index(b"\n", at)
        yield first, block[at:end]
        first, at = first + 1, end + 1


def _zstd(raw: Any, name: str) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(raw)
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{name}: .zst files need pyarrow: pip install pyarrow (in timelike[io])") from None
    return pyarrow.CompressedInputStream(pyarrow.PythonFile(raw, "r"), "zstd")
