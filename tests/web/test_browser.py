"""The page in headless Chromium, light and dark, wide and as on a phone.

Pictures of it are compared with those of ``pictures``; ``--update-golden`` writes them anew.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="needs `pip install playwright`")

from playwright.sync_api import expect

from .conftest import Open, Playground

pytestmark = pytest.mark.slow

PICTURES = Path(__file__).with_name("pictures")
WRONG = 'start ::= "Hi " name;\nname ::= [A-Z];\n'
RIGHT = 'start ::= "Hi " name;\nname ::= #"[A-Z]";\n'


@pytest.fixture
def page(opened: Open, playground: Playground) -> Any:
    return opened(playground.url)


def tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name).click()


class Clicks:
    """Uses a page as a person does, and counts the clicks."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.count = 0

    def press(self, role: str, name: str) -> None:
        """Click on what is named."""
        self.count += 1
        self.page.get_by_role(role, name=name, exact=role == "button").click()

    def write(self, text: str) -> None:
        """Replace what is written where the cursor is."""
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)


@pytest.fixture
def clicks(page: Any) -> Iterator[Clicks]:
    clicks = Clicks(page)
    yield clicks
    assert 0 < clicks.count <= 2


def test_try_a_text(clicks: Clicks) -> None:
    clicks.press("tab", "Texts")
    clicks.write('{"a": [1, true]}')
    expect(clicks.page.locator("#text-status")).to_have_text("complete")
    clicks.write('{"a": [1, tr')
    expect(clicks.page.locator("#text-status")).to_have_text("incomplete")


def test_see_its_tree(clicks: Clicks) -> None:
    clicks.press("tab", "Texts")
    clicks.write('{"a": [1]}')
    rows = clicks.page.locator("#tree [role=treeitem]")
    expect(rows.first).to_contain_text("start")
    expect(rows.filter(has_text="number")).to_have_text("number 7–8 1")


def test_see_why_not(clicks: Clicks) -> None:
    clicks.press("tab", "Texts")
    clicks.write('{"a" 1}')
    expect(clicks.page.locator("#text-status")).to_have_text("does not fit")
    expect(clicks.page.locator("#problem")).to_contain_text('expected":"')
    expect(clicks.page.locator("#text-editor .rest")).to_have_text("1}")
    # The place in the grammar is one more click away.
    clicks.count += 1
    clicks.page.locator("#problem .link").first.click()
    selected = (
        "g = document.getElementById('grammar'); g.value.slice(g.selectionStart, g.selectionEnd)"
    )
    assert clicks.page.evaluate(selected) == "':'"


def test_get_gbnf(clicks: Clicks) -> None:
    clicks.press("button", "To GBNF")
    expect(clicks.page.locator(".result")).to_contain_text("root ::= value")
    clicks.press("button", "Copy")
    assert "root ::= value" in clicks.page.evaluate("navigator.clipboard.readText()")


def test_see_what_it_means(clicks: Clicks) -> None:
    clicks.press("button", "Explanation")
    page = clicks.page
    page.locator("#grammar").fill('start ::= "a" #"[0-9]+";')
    row = page.locator(".words li").filter(has_text="a character of '0' to '9'")
    expect(row).to_be_visible()
    # From the explanation to the text, and from the text to the explanation.
    row.hover()
    expect(page.locator("#grammar-editor .lit")).to_have_text('#"[0-9]+"')
    page.evaluate("document.getElementById('grammar').setSelectionRange(11, 11)")
    expect(page.locator(".words li.lit")).to_have_text("the text 'a'")


def test_share(clicks: Clicks, opened: Open, playground: Playground) -> None:
    tab(clicks.page, "Texts")
    clicks.page.locator("#text").fill("[tru")
    expect(clicks.page.locator("#text-status")).to_have_text("incomplete")
    clicks.press("button", "Copy link")
    expect(clicks.page.locator("#busy")).to_contain_text("copied")
    link = clicks.page.evaluate("navigator.clipboard.readText()")
    assert playground.token not in link
    other = opened(playground.url)
    other.goto(link)
    expect(other.locator("#text")).to_have_value("[tru")
    expect(other.locator("#text-status")).to_have_text("incomplete")


def test_a_schema_is_read_as_one(page: Any) -> None:
    page.locator("#grammar").fill('{"type": "object", "properties": {"a": {"type": "integer"}}}')
    expect(page.locator("#findings")).not_to_contain_text("kbnf check")
    page.get_by_role("button", name="read it as JSON Schema").click()
    expect(page.locator("#language")).to_have_value("JSON Schema")
    expect(page.locator("#findings .error")).to_have_count(0)


def test_no_verdict_of_a_text_that_nobody_wrote(page: Any) -> None:
    page.locator("#grammar").fill('start ::= "a" x; x ::= "b";')
    page.locator("#example").select_option("json")
    tab(page, "Texts")
    page.get_by_role("button", name="Add text").click()
    expect(page.locator("#text-status")).to_have_text("incomplete")
    expect(page.locator("#texts .chosen .tick")).to_have_text("·")
    page.locator("#text").fill("x")
    expect(page.locator("#texts .chosen .tick")).to_have_text("✗")


def test_a_vocabulary_is_opened(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "small.txt"
    file.write_bytes(b"1 '[1' 2\n2 ']' 1\n")
    tab(page, "Tokens")
    page.locator("#vocabulary-file").set_input_files(file)
    expect(page.locator("#vocabulary")).to_have_value("small.txt")
    expect(page.locator("#mask")).to_have_text('"[1"')
    file.write_bytes(b"nothing")
    page.locator("#vocabulary-file").set_input_files(file)
    expect(page.locator("#trouble")).to_contain_text("cannot be used: not a vocabulary")


@pytest.mark.parametrize(
    "grammar", ['start ::= "a" foo;', "", "start ::= [a];", 'start ::= "a"\nb ::= "c";']
)
def test_a_grammar_with_an_error_raises_no_alarm(page: Any, grammar: str) -> None:
    page.evaluate(
        "alarms = 0; new MutationObserver(() => { alarms += !document.getElementById('trouble')"
        ".hidden; }).observe(document.getElementById('trouble'), {attributes: true})"
    )
    page.locator("#grammar").fill("")
    page.locator("#grammar").press_sequentially(grammar, delay=15)
    expect(page.locator("#verdict")).to_contain_text("error")
    expect(page.locator("#findings .error").first).to_be_visible()
    for name in ("Texts", "Tokens", "Grammar"):
        tab(page, name)
        page.wait_for_timeout(200)
    assert page.evaluate("alarms") == 0
    expect(page.locator("#trouble")).to_be_hidden()


def test_a_finding_is_shown_and_fixed(page: Any) -> None:
    page.locator("#grammar").fill(WRONG)
    expect(page.locator("#grammar-editor .error")).to_have_text(["[", "A-Z", "]"])
    expect(page.locator("#grammar-editor .wrong")).to_have_count(1)
    page.get_by_role("button", name="line 2, column 10").click()
    page.get_by_role("button", name="Fix: write").click()
    expect(page.locator("#grammar")).to_have_value(RIGHT)
    expect(page.locator("#findings")).not_to_contain_text("error")


def test_node_text_and_rule_are_lit_together(page: Any) -> None:
    tab(page, "Texts")
    page.locator("#text").fill('{"a": true}')
    expect(page.locator("#text-status")).to_have_text("complete")
    page.locator("#tree [role=treeitem]").filter(has_text="string").first.hover()
    lit = page.locator("#text-editor .lit")
    expect(lit.first).to_be_visible()
    assert "".join(lit.all_text_contents()) == '"a"'
    grammar = "".join(page.locator("#grammar-editor .lit").all_text_contents())
    assert grammar.startswith("string ::=")
    # The other way round: the cursor in the text lights the node.
    page.locator("#text").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#tree .lit")).to_contain_text("value")
    # And by keys in the tree.
    page.locator("#tree [role=treeitem]").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#tree .lit")).to_contain_text("value 0–11")


def test_a_list_of_texts_is_tested(page: Any) -> None:
    tab(page, "Texts")
    expect(page.locator("#passed")).to_have_text("8/8")
    page.get_by_role("button", name="Add text").click()
    page.keyboard.type("[1,]")
    expect(page.locator("#passed")).to_have_text("8/9")
    page.locator("#texts li.chosen .must").click()
    expect(page.locator("#passed")).to_have_text("9/9")
    page.get_by_role("button", name="Add random texts").click()
    expect(page.locator("#passed")).to_have_text(re.compile(r"^(1\d)/\1$"))
    count = page.locator("#texts li").count()
    page.locator("#texts li.chosen").get_by_role("button", name="Remove").click()
    expect(page.locator("#passed")).to_have_text(f"{count - 1}/{count - 1}")
    page.locator("#grammar").fill("start ::= 'x';")
    expect(page.locator("#passed")).to_contain_text(f"/{count - 1}")
    expect(page.locator("#texts .tick.false").first).to_be_visible()


def test_the_mask_follows_the_text(page: Any) -> None:
    tab(page, "Tokens")
    page.keyboard.type('{"a": [1, tr')
    expect(page.locator("#mask")).to_have_text('"u"')
    page.locator("#why").fill("x")
    expect(page.locator("#explained")).to_contain_text("is refused")
    page.get_by_role("button", name="Append").click()
    expect(page.locator("#prefix")).to_have_value('{"a": [1, true')
    page.locator("#prefix").fill('{"a" 1')
    expect(page.locator("#prefix-status")).to_have_text("does not fit")
    expect(page.locator("#prefix-editor .rest")).to_have_text("1")


def test_rules_are_drawn_and_lead_to_the_grammar(page: Any) -> None:
    page.get_by_role("button", name="Diagram").click()
    expect(page.locator("figure")).to_have_count(14)
    page.locator("figure a").filter(has_text="member").first.click()
    selected = (
        "g = document.getElementById('grammar'); g.value.slice(g.selectionStart, g.selectionEnd)"
    )
    assert page.evaluate(selected).startswith("member")


def test_a_converted_grammar_is_edited_in_its_language(page: Any) -> None:
    page.locator("#grammar").fill(RIGHT)
    page.get_by_role("button", name="To GBNF").click()
    page.get_by_role("button", name="Edit this text").click()
    expect(page.locator("#language")).to_have_value("GBNF")
    expect(page.locator("#verdict")).to_have_text("no findings")
    expect(page.locator("#grammar-editor .defined").first).to_have_text("root")


def test_other_engines_are_asked(page: Any) -> None:
    pytest.importorskip("llguidance", reason="needs another engine")
    page.locator("#grammar").fill('start ::= "a"+;')
    page.get_by_role("button", name="Other engines").click()
    expect(page.locator("#output")).to_contain_text("llguidance")
    # Engines are started in processes of their own.
    expect(page.locator("#output table tr")).not_to_have_count(0, timeout=120_000)
    verdicts = page.locator("#output table td:last-child").all_text_contents()
    assert verdicts
    assert all(verdicts)
    page.get_by_role("button", name="Ask the engines").click()
    expect(page.locator("#output [role=status]")).to_contain_text("Asking")
    # What was found is of the grammar that was asked about.
    page.locator("#grammar").fill('start ::= "b"+;')
    expect(page.locator("#output table")).to_have_count(0)


def test_an_example_comes_with_texts(page: Any) -> None:
    page.locator("#example").select_option("arithmetic")
    tab(page, "Texts")
    expect(page.locator("#passed")).to_have_text(re.compile(r"^(\d+)/\1$"))


def test_tabs_are_moved_through_by_keys(page: Any) -> None:
    page.get_by_role("tab", name="Grammar").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Texts")).to_be_focused()
    expect(page.locator("#panel-texts")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#panel-tokens")).to_be_visible()


def test_markup_in_a_grammar_stays_text(page: Any) -> None:
    page.locator("#grammar").fill('start ::= "<img src=x onerror=alert(1)>" a;\na ::= "</svg><b>";')
    page.get_by_role("button", name="Diagram").click()
    expect(page.locator("figure").first).to_contain_text("<img src=x")
    assert page.locator("main img, main b, main script").count() == 0


def test_the_address_holds_the_state_and_never_the_token(page: Any, playground: Playground) -> None:
    page.locator("#grammar").fill(RIGHT)
    tab(page, "Texts")
    before = page.evaluate("location.href")
    page.locator("#text").fill("Hi ü")
    expect(page.locator("#text-status")).to_have_text("does not fit")
    page.wait_for_function("before => location.href !== before", arg=before)
    link = page.evaluate("location.href")
    assert "#state=" in link
    assert playground.token not in link
    page.reload()
    expect(page.locator("#text")).to_have_value("Hi ü")
    expect(page.locator("#text-status")).to_have_text("does not fit")


def test_a_link_without_the_token_asks_for_it(browser: Any, playground: Playground) -> None:
    context = browser.new_context()
    other = context.new_page()
    other.goto(playground.address)
    other.locator("#ask-value").fill(playground.url)
    other.get_by_role("button", name="OK").click()
    expect(other.locator("#verdict")).to_have_text("no findings")
    context.close()


def test_a_script_that_gets_into_the_page_does_not_run(
    browser: Any, playground: Playground
) -> None:
    context = browser.new_context()
    victim = context.new_page()
    victim.goto(playground.address)
    with victim.expect_console_message(lambda said: "Content Security Policy" in said.text):
        victim.evaluate(
            "document.body.append(Object.assign(document.createElement('script'),"
            " {textContent: 'document.title = 1'}))"
        )
    expect(victim).to_have_title("kbnf playground")
    context.close()


def test_a_phone_is_wide_enough(opened: Open, playground: Playground) -> None:
    page = opened(playground.url, 420, 900)
    for name in ("Texts", "Tokens", "Grammar"):
        tab(page, name)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
    page.get_by_role("button", name="Diagram").click()
    expect(page.locator("figure").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


SHOWN = ("grammar", "explanation", "diagram", "texts", "tokens", "error")


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 420), ("dark", 420)]
)
def test_it_looks_as_it_did(
    opened: Open, playground: Playground, scheme: str, width: int, request: pytest.FixtureRequest
) -> None:
    update = request.config.getoption("--update-golden")
    page = opened(playground.url, width, 900, scheme)
    # Times differ.
    page.evaluate("document.getElementById('timing').style.visibility = 'hidden'")
    for name in SHOWN:
        show(page, name)
        compare(page.screenshot(), PICTURES / f"{name}-{scheme}-{width}.png", update=update)


def show(page: Any, name: str) -> None:
    match name:
        case "explanation":
            page.get_by_role("button", name="Explanation").click()
            page.locator(".words li").nth(1).hover()
        case "diagram":
            page.get_by_role("button", name="Diagram").click()
            expect(page.locator("figure").last).to_be_visible()
        case "texts":
            tab(page, "Texts")
            page.locator("#text").fill('{"a": [1, true, "x"], "b": nul')
            expect(page.locator("#text-status")).to_have_text("incomplete")
            page.locator("#tree [role=treeitem]").filter(has_text="array").hover()
        case "tokens":
            tab(page, "Tokens")
            page.locator("#prefix").fill('{"a": [1, tr')
            expect(page.locator("#mask")).to_have_text('"u"')
        case "error":
            tab(page, "Grammar")
            page.get_by_role("button", name="Findings").click()
            page.locator("#grammar").fill(WRONG)
            expect(page.locator("#findings .error")).to_be_visible()
    page.wait_for_timeout(400)


def compare(shot: bytes, file: Path, *, update: bool) -> None:
    """Compare a picture with the stored one, at half size; letters may differ a little."""
    images = pytest.importorskip("PIL.Image", reason="needs `pip install pillow`")
    found = images.open(BytesIO(shot)).convert("RGB")
    found = found.resize((found.width // 2, found.height // 2))
    if update:
        found.quantize(64).save(file, optimize=True)
    stored = images.open(file).convert("RGB")
    assert found.size == stored.size, file.name
    small = (found.width // 2, found.height // 2)
    both = [image.convert("L").resize(small).tobytes() for image in (found, stored)]
    differing = sum(abs(one - two) > 24 for one, two in zip(*both, strict=True))
    assert differing <= 0.01 * small[0] * small[1], f"{file.name}: {differing} pixels differ"
