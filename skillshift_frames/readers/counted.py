"""The bytes of a text, counted: what is left when everything that is known of its lines is taken away."""

from __future__ import annotations

#: Bytes that are counted at once: they stay in the processor's cache.
_PIECE = 1 << 17

_DIGITS = b"0123456789"


def not_digits(text: bytes) -> int:
    """Count the bytes of a long text that are no ASCII digits."""
    import numpy as np

    codes = np.frombuffer(text, dtype=np.uint8)
    # To get such memory anew for every piece would take longer than to count.
    differences, flags = np.empty(_PIECE, dtype=np.uint8), np.empty(_PIECE, dtype=np.bool_)
    found = 0
    for start in range(0, len(codes), _PIECE):
        piece = codes[start : start + _PIECE]
        # Below "0" the difference wraps around, and is as large as above "9".
        of_piece = np.subtract(piece, ord("0"), out=differences[: len(piece)])
        found += int(np.count_nonzero(np.greater(of_piece, 9, out=flags[: len(piece)])))
    return found


def not_digits_of(text: str) -> int:
    """Count the bytes of a short text that are no ASCII digits."""
    return len(text.encode().translate(None, _DIGITS))


def returns(text: bytes) -> int:
    """Count the carriage returns that come before a newline."""
    return text.count(b"\r\n")


def newlines(text: bytes, start: int, stop: int) -> int:
    """Count the newlines in a part of a text."""
    import numpy as np

    codes = np.frombuffer(text, dtype=np.uint8, count=stop - start, offset=start)
    return int(np.count_nonzero(codes == ord("\n")))
