"""What the server of the playground answers, and what it refuses."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs the extra `web`")
pytest.importorskip("starlette", reason="needs the extra `web`")
pytest.importorskip("httpx", reason="needs the extra `test`")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from kbnf_cli.web import answers, server
from kbnf_cli.web.answers import Question
from kbnf_cli.web.engine_answers import answer
from kbnf_cli.web.server import Address, Desk, make_app

OWN = "http://127.0.0.1:8123"
TOKEN = "a-token-of-this-test"
ASK = {"Origin": OWN, "X-Kbnf-Token": TOKEN}
SUM = '(* kbnf: finish=eos *) start ::= term ("+" term)*; term ::= #"[0-9]{1,3}";'
HARD = "start ::= s; s ::= s s s | s s | 'a'; (* kbnf: finish=eos *)"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    desk = Desk({"grammar": SUM, "start": "", "finish": ""}, {"bytes": ("bytes", ())})
    with TestClient(make_app(desk, Address("127.0.0.1", 8123), TOKEN), base_url=OWN) as client:
        yield client
    desk.end()


def ask(client: TestClient, **fields: Any) -> dict[str, Any]:
    """Ask about a grammar."""
    reply = client.post("/ask", json={"vocabulary": "bytes", **fields}, headers=ASK)
    assert reply.status_code == 200, reply.text
    value: dict[str, Any] = reply.json()
    return value


def tokens(client: TestClient, **fields: Any) -> dict[str, Any]:
    """Ask what may follow a text."""
    value: dict[str, Any] = ask(client, show="tokens", **fields)["tokens"]
    return value


def asked(grammar: str, show: str = "findings") -> Question:
    """Return the question about a grammar alone."""
    return Question(grammar, show=show)


@pytest.mark.parametrize(
    "path", ["/", "/page.css", "/page.js", "/editor.js", "/words.js", "/backend.js", "/icon.svg"]
)
def test_the_page_needs_no_token_and_loads_nothing_from_elsewhere(
    client: TestClient, path: str
) -> None:
    reply = client.get(path)
    assert reply.status_code == 200
    assert reply.headers["content-security-policy"].startswith("default-src 'self';")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert not [name for name in reply.headers if name.startswith("access-control-")]
    assert "https://" not in reply.text
    assert TOKEN not in reply.text


@pytest.mark.parametrize(
    "host",
    ["evil.example:8123", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8123", "", "x@y"],
)
@pytest.mark.parametrize("path", ["/", "/ask", "/nowhere"])
def test_another_host_is_refused(client: TestClient, host: str, path: str) -> None:
    headers = {**ASK, "Host": host, "Origin": f"http://{host}"}
    assert client.post(path, json={}, headers=headers).status_code == 421
    assert client.get(path, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin",
    [None, "null", "https://127.0.0.1:8123", "http://127.0.0.1:8124", "http://localhost:8123"],
)
def test_another_origin_is_refused(client: TestClient, origin: str | None) -> None:
    headers = {"X-Kbnf-Token": TOKEN, **({} if origin is None else {"Origin": origin})}
    reply = client.post("/ask", json={}, headers=headers)
    assert reply.status_code == 403
    if origin is not None:
        assert client.get("/", headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN[:-1], TOKEN + "x", "\xe9"])
@pytest.mark.parametrize("path", ["/ask", "/begin", "/nowhere"])
def test_without_the_token_nothing_is_answered(
    client: TestClient, path: str, token: str | None
) -> None:
    given = {} if token is None else {"X-Kbnf-Token": token.encode("latin-1")}
    headers = {b"Origin": OWN.encode(), **{key.encode(): value for key, value in given.items()}}
    reply = client.post(path, json={}, headers=headers)
    assert reply.status_code == 401
    assert client.post(f"{path}?token={TOKEN}", json={}, headers=headers).status_code == 401


@pytest.mark.parametrize(
    "headers", [ASK, {**ASK, "Host": "evil.example:8123"}, {**ASK, "Origin": "null"}, {}]
)
def test_there_is_no_websocket(client: TestClient, headers: dict[str, str]) -> None:
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ask", headers=headers):
        pass


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/..%2f..%2fpyproject.toml",
        "/static/page.js",
        "//etc/passwd",
        "/page.js/../server.py",
        "/%2e%2e/answers.py",
        "/page.js%00.css",
    ],
)
def test_no_path_leads_to_a_file(client: TestClient, path: str) -> None:
    assert client.get(path, headers=ASK).status_code == 404


def test_no_preflight_is_granted(client: TestClient) -> None:
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    reply = client.options("/ask", headers=asked)
    assert reply.status_code == 403
    assert "access-control-allow-origin" not in reply.headers


def test_texts_have_a_status_and_the_chosen_one_a_tree(client: TestClient) -> None:
    found = ask(client, grammar=SUM, show="texts", texts=["12+3", "1+", "x", ""], chosen=0)["texts"]
    assert found["statuses"] == ["complete", "incomplete", "rejected", "incomplete"]
    assert [
        (each["depth"], each["rule"], each["start"], each["end"]) for each in found["nodes"]
    ] == [
        (0, "start", 0, 4),
        (1, "term", 0, 2),
        (1, "term", 3, 4),
    ]
    assert found["problem"] is None
    assert found["rest"] == 4


def test_of_an_incomplete_text_the_tree_has_what_is_certain(client: TestClient) -> None:
    found = ask(client, grammar=SUM, show="texts", texts=["1+"])["texts"]
    assert [(each["rule"], each["open"]) for each in found["nodes"]][:2] == [
        ("start", True),
        ("term", False),
    ]
    assert (found["problem"]["allowed"], found["problem"]["expected"]) == (True, '"0"-"9"')


def test_why_a_text_does_not_fit_is_explained(client: TestClient) -> None:
    found = ask(client, grammar=SUM, show="texts", texts=["", "1+é"], chosen=1)["texts"]
    assert (found["statuses"][1], found["rest"]) == ("rejected", 2)
    [place] = found["problem"]["places"]
    assert place["path"] == ["start", "term"]
    assert SUM[place["start"] : place["end"]] == '#"[0-9]{1,3}"'


def test_nodes_are_counted_as_a_page_counts_them(client: TestClient) -> None:
    grammar = "start ::= a '!'; a ::= '😀' | 'é';"
    *_, node = ask(client, grammar=grammar, show="texts", texts=["😀!"])["texts"]["nodes"]
    # In UTF-16, the emoji counts twice.
    assert (node["rule"], node["start"], node["end"]) == ("a", 0, 2)
    *_, node = ask(client, grammar=grammar, show="texts", texts=["é!"])["texts"]["nodes"]
    assert (node["start"], node["end"]) == (0, 1)


def test_samples_fit(client: TestClient) -> None:
    drawn = ask(client, grammar=SUM, show="samples", seed=1)["samples"]
    assert len(drawn) == 5
    statuses = ask(client, grammar=SUM, show="texts", texts=drawn)["texts"]["statuses"]
    assert set(statuses) == {"complete"}


def test_the_smaller_side_of_the_mask_is_listed(client: TestClient) -> None:
    few = tokens(client, grammar=SUM, text="12+")["mask"]
    assert (few["side"], few["allowed"]) == ("allowed", 10)
    assert [each["text"] for each in few["tokens"]] == [f'"{digit}"' for digit in range(10)]
    many = tokens(client, grammar="start ::= #'[^x]';", text="", finish="eos")["mask"]
    assert many["side"] == "refused"
    assert '"x"' in {each["text"] for each in many["tokens"]}
    assert many["count"] == many["total"] - many["allowed"]


def test_tokens_are_found_by_their_text(client: TestClient) -> None:
    mask = tokens(client, grammar=SUM, text="1", find="+")["mask"]
    assert [(each["text"], each["allowed"]) for each in mask["tokens"]] == [('"+"', True)]


def test_a_token_is_explained_and_forced_text_is_told(client: TestClient) -> None:
    found = tokens(client, grammar=SUM, text="1+é", why="#43")
    assert (found["status"], found["rest"]) == ("rejected", 2)
    assert (found["why"]["asked"], found["why"]["allowed"]) == ('"+"', False)
    forced = tokens(client, grammar="start ::= 'ab' 'é' ('c' | 'd');", text="a")["forced"]
    assert forced == {"text": "bé", "shown": "bé"}


def test_a_grammar_is_drawn_and_written_in_other_languages(client: TestClient) -> None:
    drawn = ask(client, grammar=SUM, show="diagram")["diagrams"]
    assert [(each["rule"], each["used_by"]) for each in drawn] == [
        ("start", []),
        ("term", ["start"]),
    ]
    assert all(each["svg"].startswith("<svg") for each in drawn)
    written = ask(client, grammar=SUM, show="GBNF")["written"]
    assert written["text"].startswith("root ::= term")
    assert ask(client, grammar="start::='a';", show="KBNF")["written"]["text"] == "start ::= 'a';\n"
    lossy = ask(client, grammar="start ::= except!('b') 'b';", show="GBNF")["written"]
    assert lossy["losses"]
    back = ask(client, grammar=written["text"], language="GBNF", show="KBNF")["written"]
    assert "start ::=" in back["text"]


def test_a_grammar_is_explained(client: TestClient) -> None:
    written = "start ::= (* ü 𝄞 *) 'a' [x]; x ::= #'[0-9]';"
    first, second = ask(client, grammar=written, show="explanation")["explanation"]
    assert (first["rule"], second["rule"]) == ("start", "x")
    words = [(each["depth"], each["words"]) for each in (*first["lines"], *second["lines"])]
    assert words == [
        (0, "one after the other:"),
        (1, "the text 'a'"),
        (1, "optional:"),
        (2, "x"),
        (0, "what the regular expression [0-9] matches:"),
        (1, "a character of '0' to '9'"),
    ]
    text = written.encode("utf-16-le")
    place = first["lines"][1]
    assert text[2 * place["start"] : 2 * place["end"]].decode("utf-16-le") == "'a'"
    schema = '{"type": "object", "properties": {"a": {"type": "integer"}}}'
    assert ask(client, grammar=schema, language="JSON Schema", show="explanation")["explanation"]
    assert "explanation" not in ask(client, grammar="start ::= x;", show="explanation")


def test_other_languages_are_read(client: TestClient) -> None:
    schema = '{"type": "object", "properties": {"a": {"type": "integer"}}}'
    found = ask(client, grammar=schema, language="JSON Schema", show="texts", texts=['{"a": 1}'])
    assert found["texts"]["statuses"] == ["complete"]
    assert ask(client, grammar=schema, language="JSON Schema", show="diagram")["diagrams"]
    found = ask(client, grammar="start: A\nA: /x/", language="Lark", show="texts", texts=["x"])
    assert found["texts"]["statuses"] == ["complete"]


def test_the_page_begins_with_what_there_is_to_choose(client: TestClient) -> None:
    begun = client.post("/begin", json={}, headers=ASK).json()
    assert begun["examples"]["json"]["texts"][0] == ["{}", True]
    assert "Lark" in begun["languages"]
    assert begun["written"] == ["KBNF", "GBNF", "Lark"]
    assert begun["vocabularies"][0] == "bytes"


@pytest.mark.parametrize(
    ("grammar", "other"),
    [
        ('{"type": "object"}', "JSON Schema"),
        ('[{"name": "f", "input_schema": {"type": "object"}}]', "Tool list"),
        ('?start: "a" b\nb: /x/\n', "Lark"),
        ('root ::= "a" [a-z]\n', "GBNF"),
        ('start ::= "a" nope;', ""),
        (SUM, ""),
    ],
)
def test_a_text_in_another_language_can_be_read_as_that(
    client: TestClient, grammar: str, other: str
) -> None:
    assert ask(client, grammar=grammar)["other"] == other
    if other:
        found = ask(client, grammar=grammar, language=other)
        assert "error" not in {each["severity"] for each in found["findings"]}


RWKV = b"1 'a' 1\n2 'b' 1\n3 '+1' 2\n4 '1' 1\n"


def test_a_vocabulary_is_opened(client: TestClient) -> None:
    headers = {**ASK, "X-Kbnf-Name": "..%2Fmy%20vocabulary.txt"}
    names = []
    for _ in range(2):
        opened = client.post("/vocabulary", content=RWKV, headers=headers).json()
        names.append(opened["opened"])
        assert opened["vocabularies"] == ["bytes", *names]
        found = tokens(client, grammar=SUM, text="1", vocabulary=names[-1])
        refused = [each["id"] for each in found["mask"]["tokens"]]
        assert (found["mask"]["side"], refused) == ("refused", [1, 2])
    assert names == ["../my vocabulary.txt", "../my vocabulary.txt'"]
    assert client.post("/begin", json={}, headers=ASK).json()["vocabularies"] == ["bytes", *names]


def test_what_is_no_vocabulary_is_not_opened(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = client.post("/begin", json={}, headers=ASK).json()["vocabularies"]
    headers = {**ASK, "X-Kbnf-Name": "grammar.txt"}
    said = client.post("/vocabulary", content=b"start ::= 'a';", headers=headers).json()
    assert said["trouble"].startswith("grammar.txt cannot be used: not a vocabulary (a text ")
    assert client.post("/vocabulary", content=RWKV, headers={"Origin": OWN}).status_code == 401
    monkeypatch.setattr(server, "MAX_VOCABULARY", 10)
    assert client.post("/vocabulary", content=RWKV, headers=headers).status_code == 413
    monkeypatch.setattr(server, "MAX_OPENED", len(before) - 1)
    assert client.post("/vocabulary", content=RWKV, headers=headers).status_code == 503
    assert client.post("/begin", json={}, headers=ASK).json()["vocabularies"] == before


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a vocabulary (empty)"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "not a vocabulary (binary data)"),
        (b'{"0": "\xff\xfe"}', "not a vocabulary (binary data)"),
        (b"[" * 100_000, "not a vocabulary: its JSON is nested too deeply"),
        (b'{"1": [256]}', "token 1 should be a text or a list of bytes, not [256]"),
        (b'{"99999999999999": "a"}', "not a vocabulary (a JSON object with the keys 999"),
        (b'{"model": {"type": "Nope", "vocab": {"a": 0}}}', "its model is Nope"),
        (b"GGUF\x03\x00\x00\x00" + b"\xff" * 16, "damaged GGUF"),
        (b"IQ== 0\n!!! 1\n", "line 2 should be"),
    ],
)
def test_hostile_vocabularies_are_refused_with_a_reason(content: bytes, reason: str) -> None:
    desk = Desk({}, {"bytes": ("bytes", ())})
    folder = Path(desk._folder.name)
    with TestClient(make_app(desk, Address("127.0.0.1", 8123), TOKEN), base_url=OWN) as other:
        said = other.post("/vocabulary", content=content, headers=ASK).json()
        assert said["trouble"].startswith(f"vocabulary cannot be used: {reason}")
        assert list(folder.iterdir()) == []
    desk.end()


def test_vocabularies_that_arrive_at_once_do_not_mix() -> None:
    desk = Desk({}, {"bytes": ("bytes", ())})
    contents = [b'{"0": "%d"}' % number for number in range(4)]
    with TestClient(make_app(desk, Address("127.0.0.1", 8123), TOKEN), base_url=OWN) as other:
        with ThreadPoolExecutor() as pool:
            sent = pool.map(
                lambda each: other.post("/vocabulary", content=each, headers=ASK).json(), contents
            )
            opened = [each["opened"] for each in sent]
        kept = [Path(desk._vocabularies[name][0]).read_bytes() for name in opened]
    desk.end()
    assert len(set(opened)) == 4
    assert kept == contents


def test_opened_vocabularies_end_with_the_server() -> None:
    desk = Desk({}, {"bytes": ("bytes", ())})
    folder = Path(desk._folder.name)
    with TestClient(make_app(desk, Address("127.0.0.1", 8123), TOKEN), base_url=OWN) as other:
        assert "opened" in other.post("/vocabulary", content=RWKV, headers=ASK).json()
        assert [each.name for each in folder.iterdir()] == ["0"]
    desk.end()
    assert not folder.exists()


@pytest.mark.parametrize("grammar", ['start ::= "a" foo;', "", "start ::= [a];", "a ::= ;", "é"])
@pytest.mark.parametrize("show", ["findings", "texts", "tokens", "explanation", "diagram", "GBNF"])
def test_a_grammar_with_an_error_is_no_trouble(client: TestClient, grammar: str, show: str) -> None:
    found = ask(client, grammar=grammar, show=show, texts=["a"])
    assert "trouble" not in found
    assert found["is_checked"]
    assert "error" in {each["severity"] for each in found["findings"]}
    assert not found.keys() & {"texts", "tokens", "explanation", "diagrams", "written"}


def test_places_are_counted_as_a_page_counts_them(client: TestClient) -> None:
    [finding] = ask(client, grammar='start ::= "😀" [0-9];')["findings"]
    [edit] = finding["fixes"][0]["edits"]
    # In UTF-16, the emoji counts twice.
    assert (edit["start"], edit["end"], finding["column"]) == (15, 20, 15)


def test_a_grammar_cannot_import(client: TestClient) -> None:
    found = ask(client, grammar='%import common.INT\nstart ::= "a";')
    assert found["findings"][0]["severity"] == "error"


def test_a_grammar_that_takes_too_much_work_is_reported(client: TestClient) -> None:
    found = ask(client, grammar='start ::= #"(a|b)*a(a|b){25}";')
    assert [each["code"] for each in found["findings"]] == ["E203"]
    assert found["is_checked"]


def test_findings_are_kept_where_the_grammar_is_too_large_to_be_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answers, "LIMITS", replace(answers.LIMITS, grammar_states=3))
    *_, found = answer(asked("start ::= 'long' 'er';\n\nb ::= 'b';", "tokens"))
    assert "more than 3 states" in found["trouble"]
    assert [each["code"] for each in found["findings"]] == ["W101"]


def test_errors_are_known_before_the_lints_are_done() -> None:
    first, second = answer(asked("start ::= nope;"))
    assert [each["code"] for each in first["findings"]] == ["E101"]
    assert "is_checked" not in first
    assert second["is_checked"]


def test_a_failure_keeps_what_was_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(answers, "_check", fail)
    *_, last = answer(asked(SUM))
    assert [each["name"] for each in last["rules"]] == ["start", "term"]
    assert "is_checked" not in last
    assert last["trouble"] == "this is too much for the page (MemoryError)"


def test_a_worker_that_ends_is_no_answer() -> None:
    desk = Desk({}, {"bytes": ("bytes", ())})
    with TestClient(make_app(desk, Address("127.0.0.1", 8123), TOKEN), base_url=OWN) as other:
        desk._worker.end()
        found = ask(other, grammar=SUM)
    assert list(found) == ["trouble"]
    assert "ended" in found["trouble"]


def test_a_text_that_takes_too_much_work_keeps_the_findings(client: TestClient) -> None:
    found = ask(client, grammar=HARD, show="texts", texts=["a" * 20_000] * 90)
    assert "steps of work" in found["trouble"]
    assert ([each["name"] for each in found["rules"]], found["is_checked"]) == (
        ["start", "s"],
        True,
    )
    found = ask(client, grammar=SUM, show="texts", texts=["1"])
    assert found["texts"]["statuses"] == ["complete"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[" * 100_000, 400),
        (b"[]", 400),
        (b'{"grammar": 1}', 400),
        (b'{"vocabulary": "/etc/passwd"}', 400),
        (b'{"vocabulary": "bytes", "finish": "never"}', 400),
        (b'{"vocabulary": "bytes", "text": "\\ud800"}', 400),
        (b'{"vocabulary": "bytes", "text": "%s"}' % (b"x" * 20_001), 400),
        (b'{"vocabulary": "bytes", "grammar": "%s"}' % (b"x" * 200_001), 400),
        (b'{"language": "Perl"}', 400),
        (b'{"show": "passwords"}', 400),
        (b'{"texts": "a"}', 400),
        (b'{"texts": [1]}', 400),
        (b'{"texts": [%s""]}' % (b'"",' * 100), 400),
        (b'{"chosen": -1}', 400),
        (b'{"seed": 1e400}', 400),
        (b"x" * (server.MAX_BODY + 1), 413),
    ],
)
def test_what_is_no_question_is_refused(client: TestClient, body: bytes, status: int) -> None:
    assert client.post("/ask", content=body, headers=ASK).status_code == status


def test_a_body_of_unknown_length_is_cut_off(client: TestClient) -> None:
    seen = 0

    def endless() -> Iterator[bytes]:
        nonlocal seen
        while seen < 20:
            seen += 1
            yield b"x" * 1_000_000

    assert client.post("/ask", content=endless(), headers=ASK).status_code == 413


@pytest.mark.parametrize(
    ("place", "host", "is_own"),
    [
        (Address("127.0.0.1", 80), "localhost:80", True),
        (Address("::1", 80), "[::1]:80", True),
        (Address("::", 80), "192.168.1.7:80", True),
        (Address("::", 80), "evil.example:80", False),
        (Address("box.lan", 80), "box.lan:80", True),
        (Address("127.0.0.1", 80), "192.168.1.7:80", False),
        (Address("127.0.0.1", 80), None, False),
    ],
)
def test_names_of_the_server(place: Address, host: str | None, is_own: bool) -> None:
    assert place.is_own(host) is is_own
