"""Detect the encoding of text, and turn UTF-16 and Windows-1252 into UTF-8 as it is read."""

from __future__ import annotations

import codecs
import re

#: Bytes that the guess of an encoding without a byte-order mark looks at.
SEEN = 4096
#: A valid character of two to four bytes in UTF-8; text in Windows-1252 hardly ever contains one.
MULTIBYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
CP1252 = "the text is not UTF-8; it was read as Windows-1252 (cp1252)"


def utf16(head: bytes) -> str | None:
    """Return the codec of text in UTF-16, by its byte-order mark or its zero bytes; None for anything else.

    XML is left to its parsers, which know encodings themselves.
    """
    for mark, codec in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if head.startswith(mark):
            return None if head[2:4].strip(b"\0") == b"<" else codec
    part = head[: len(head) - len(head) % 2]
    half = len(part) // 2
    for zeros, codec in ((1, "utf-16-le"), (0, "utf-16-be")):
        low, high = part[1 - zeros :: 2], part[zeros::2]
        if half > 1 and high.count(0) > 0.9 * half and not low.count(0):
            return None if part.strip(b"\0")[:1] == b"<" else codec
    return None


class FromUtf16:
    """Turns pieces of UTF-16 into UTF-8."""

    def __init__(self, name: str, codec: str):
        self._name, self._codec, self._read = name, codec, 0
        self._decoder = codecs.getincrementaldecoder(codec)()

    def __call__(self, piece: bytes, final: bool) -> bytes:
        """Return the characters that are complete; `final`: nothing follows."""
        self._read += len(piece)
        try:
            return self._decoder.decode(piece, final).encode()
        except UnicodeDecodeError as error:
            where = f"before byte {self._read:,}"
            raise ValueError(
                f"{self._name}: the {self._codec.upper()} text is damaged {where} ({error.reason})"
            ) from None


class ToUtf8:
    """Decides between UTF-8 and Windows-1252 at the first block that is not plain ASCII.

    A block with any valid character of several bytes is UTF-8; its other bytes are malformed, and readers
    reject their lines.
    """

    def __init__(self, name: str):
        self._name, self.codec = name, "ascii"

    def __call__(self, line: int, block: bytes) -> bytes:
        """Return a block of whole lines in UTF-8; `line` is the number of its first one."""
        if self.codec == "utf-8" or block.isascii():
            return block
        several = MULTIBYTE.search(block)
        if several and self.codec == "cp1252":
            line += block.count(b"\n", 0, several.start())
            raise ValueError(
                f"{self._name}, line {line}: this is UTF-8, but earlier lines are not; save the file as UTF-8"
            )
        if several or not self._decodes(block):
            self.codec = "utf-8"
            return block
        self.codec = "cp1252"
        return block.decode("cp1252").encode()

    def _decodes(self, block: bytes) -> bool:
        """Whether Windows-1252 has all the bytes; five have no meaning."""
        return not any(byte in block for byte in (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"))
