"""The character classes in the text of a regular expression."""

from collections.abc import Iterator


def classes_in(pattern: str) -> Iterator[tuple[int, int]]:
    """Yield where each class begins and ends, brackets included; inner ones are parts of theirs.

    Of a class that is never closed nothing is said.
    """
    index = 0
    while index < len(pattern):
        if pattern[index] == "\\":
            index += 2
        elif pattern[index] == "[":
            end = _end_of_class(pattern, index)
            if end is None:
                return
            yield index, end
            index = end
        else:
            index += 1


def _end_of_class(pattern: str, start: int) -> int | None:
    depth, index = 0, start
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
        elif char == "[":
            depth += 1
            index += pattern.startswith("^", index + 1)
            # A bracket that closes nothing stands for itself at the beginning.
            index += pattern.startswith("]", index + 1)
        elif char == "]":
            depth -= 1
            if depth == 0:
                return index + 1
        index += 1
    return None
