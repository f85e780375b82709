"""Texts that every loader is tried on."""

import pytest

TEXTS = {
    "plain": "Hello world",
    "empty-ish": "a",
    "leading spaces": "   three spaces",
    "trailing": "trailing  \t \n\n",
    "json": '{"key": [1, 2.5e-3, null], "text": "a\\nb"}\n',
    "code": "def f(x):\r\n    return {x: x ** 2}\n",
    "cjk": "你好，世界。日本語のテキスト 한국어",
    "emoji": "👩‍👩‍👧 family 🏳️‍🌈 \U0001f9ff",
    "accents": "naïve café — “quotes” ½ ﬁ",
    "controls": "\x01\x02\x7f\u0085\u2028",
    "rare": "\U00013000\U0001f6f8 \ua9c5 ᚠᛇᚻ",
    "marks": "▁ already a mark <0x41> </s> Ġ",
}


@pytest.fixture(params=list(TEXTS), ids=list(TEXTS))
def text(request: pytest.FixtureRequest) -> str:
    """Return one of the texts."""
    return TEXTS[request.param]
