"""The page in headless Chromium: typing, findings, colours, the mask, links, and the policy.

Needs `pip install playwright` and a Chromium, found on the path or named by KBNF_CHROMIUM;
KBNF_SCREENSHOTS names a folder for pictures of the page, light and dark.
"""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs `pip install playwright`")

from playwright.sync_api import Browser, Page, expect, sync_playwright

from .conftest import Playground

pytestmark = pytest.mark.slow

WRONG = 'start ::= "Hi " name;\nname ::= [A-Z];\n'
RIGHT = 'start ::= "Hi " name;\nname ::= #"[A-Z]";\n'


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    named = [os.environ.get("KBNF_CHROMIUM"), *map(shutil.which, ("chromium", "google-chrome"))]
    program = next(filter(None, named), None)
    if program is None:
        pytest.skip("needs a Chromium on the path, or named by KBNF_CHROMIUM")
    with sync_playwright() as playwright:
        # In a container there is no second sandbox to be had.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=["light", "dark"])
def page(
    browser: Browser, playground: Playground, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """Yield the page of a playground; what its console complains of fails the test."""
    context = browser.new_context(
        color_scheme=request.param, viewport={"width": 1280, "height": 800}
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.on(
        "request",
        lambda sent: (
            None if sent.url.startswith(playground.address) else complaints.append(sent.url)
        ),
    )
    page.goto(playground.url)
    expect(page.locator("#status")).to_have_text("goes on", timeout=60_000)
    yield page
    assert complaints == []
    context.close()


def picture(page: Page, name: str) -> None:
    """Keep a picture of the page where a folder is named for it."""
    folder = os.environ.get("KBNF_SCREENSHOTS")
    if folder:
        scheme = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        page.screenshot(path=Path(folder) / f"{name}-{'dark' if scheme else 'light'}.png")


def test_a_text_is_coloured_and_the_mask_follows(page: Page) -> None:
    page.locator("#text").fill('{"a": [1, tr')
    expect(page.locator("#mask")).to_have_text('"u"')
    expect(page.locator("#legend")).to_contain_text("number")
    number = page.locator("#text-back span").filter(has_text=re.compile("^1$"))
    colon = page.locator("#text-back span").filter(has_text=re.compile("^:$"))
    assert number.get_attribute("class") != colon.get_attribute("class")
    page.locator("#why").fill("x")
    expect(page.locator("#explained")).to_contain_text("cannot come")
    picture(page, "mask")


def test_a_text_that_does_not_fit_is_marked(page: Page) -> None:
    page.locator("#text").fill('{"a" 1')
    expect(page.locator("#status")).to_have_text("does not fit")
    expect(page.locator("#text-back .rest")).to_have_text("1")
    expect(page.locator("#rejection")).to_contain_text("expected")
    picture(page, "rejected")


def test_a_finding_is_shown_and_fixed(page: Page) -> None:
    page.locator("#grammar").fill(WRONG)
    expect(page.locator("#grammar-back mark.error")).to_have_text("[A-Z]")
    expect(page.locator("#status")).to_have_text("the grammar cannot be used")
    picture(page, "error")
    page.get_by_role("button", name="Fix: write").click()
    assert page.locator("#grammar").input_value() == RIGHT
    expect(page.locator("#findings")).not_to_contain_text("error")


def test_markup_in_a_grammar_stays_text(page: Page) -> None:
    page.locator("#grammar").fill('start ::= "<img src=x onerror=alert(1)>" <b>;')
    expect(page.locator("#findings .error").first).to_be_visible()
    assert page.locator("main img, main b").count() == 0


def test_the_address_holds_the_state_and_never_the_token(
    page: Page, playground: Playground
) -> None:
    page.locator("#grammar").fill(RIGHT)
    page.locator("#text").fill("Hi ü")
    expect(page.locator("#status")).to_have_text("does not fit")
    link = page.url
    assert "#state=" in link
    assert playground.token not in link
    page.reload()
    expect(page.locator("#text")).to_have_value("Hi ü")
    expect(page.locator("#status")).to_have_text("does not fit")
    # Another tab does not know the token: it asks for the address that was printed.
    other = page.context.new_page()
    other.goto(link)
    other.locator("#ask-value").fill(playground.url)
    other.get_by_role("button", name="OK").click()
    expect(other.locator("#grammar")).to_have_value(RIGHT)
    expect(other.locator("#status")).to_have_text("does not fit")
    other.close()


def test_a_script_that_gets_into_the_page_does_not_run(page: Page, playground: Playground) -> None:
    victim = page.context.new_page()
    victim.goto(playground.address)
    with victim.expect_console_message(lambda said: "Content Security Policy" in said.text):
        victim.evaluate(
            "document.body.append(Object.assign(document.createElement('script'),"
            " {textContent: 'document.title = 1'}))"
        )
    expect(victim).to_have_title("kbnf playground")
    victim.close()
