"""A text that is read from left to right, for the two small readers."""


class UnsupportedError(Exception):
    """The text uses a form that the readers of the tests do not know, or is not a grammar."""


class Scanner:
    """A place in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    @property
    def rest(self) -> str:
        """The rest of the text."""
        return self.text[self.place :]

    def take(self, prefix: str) -> bool:
        """Read ``prefix`` if it is next, and return whether it was."""
        found = self.text.startswith(prefix, self.place)
        if found:
            self.place += len(prefix)
        return found

    def expect(self, prefix: str) -> None:
        """Read ``prefix``; raise if something else is next."""
        if not self.take(prefix):
            raise UnsupportedError(f"expected {prefix!r} before {self.rest[:30]!r}")

    def take_any(self, characters: str) -> str | None:
        """Read one of ``characters``; return it, None if something else is next."""
        if self.rest and self.rest[0] in characters:
            self.place += 1
            return self.text[self.place - 1]
        return None

    def character(self) -> str:
        """Read one character; raise at the end."""
        if not self.rest:
            raise UnsupportedError("the text ends too early")
        self.place += 1
        return self.text[self.place - 1]

    def number(self) -> int | None:
        """Read decimal digits; return their value, None if there are none."""
        digits = ""
        while (digit := self.take_any("0123456789")) is not None:
            digits += digit
        return int(digits) if digits else None

    def bounds(self) -> tuple[int, int | None]:
        """Read the bounds in the braces of ``{m}``, ``{m,}``, ``{,n}`` or ``{m,n}``, and ``}``."""
        low = self.number()
        high = self.number() if self.take(",") else low
        if low is None and high is None:
            raise UnsupportedError("a count needs a number")
        self.expect("}")
        return low or 0, high
