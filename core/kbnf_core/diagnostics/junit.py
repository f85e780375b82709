"""Findings as JUnit's XML, which most continuous integration systems read."""

from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree

from kbnf_core.diagnostics.model import Diagnostic
from kbnf_core.diagnostics.segments import plain
from kbnf_core.diagnostics.text import render_text
from kbnf_core.diagnostics.visible import visible


def render_junit(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """Return a suite for each file with findings, a failed test for each of them.

    Files without findings are one passed test together. Control characters, which XML has not,
    are replaced by visible signs.
    """
    total = str(len(diagnostics))
    root = ElementTree.Element("testsuites", name="kbnf check", failures=total)
    ordered = sorted(diagnostics, key=Diagnostic.sort_key)
    groups = [(name, list(each)) for name, each in groupby(ordered, lambda d: d.source.name)]
    for name, found in groups:
        root.append(_suite(name, found))
    clean = files - len(groups)
    if clean > 0:
        suite = ElementTree.SubElement(root, "testsuite", name="clean", tests="1", failures="0")
        ElementTree.SubElement(
            suite, "testcase", name=f"{clean} without findings", classname="kbnf"
        )
    root.set("tests", str(sum(len(suite) for suite in root)))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suite(name: str, found: list[Diagnostic]) -> ElementTree.Element:
    count = str(len(found))
    suite = ElementTree.Element("testsuite", name=visible(name), tests=count, failures=count)
    for each in found:
        _, line, column = each.source.position(each.span.start)
        title = f"{each.code} {each.rule.name} {line}:{column}"
        case = ElementTree.SubElement(suite, "testcase", name=title, classname=visible(name))
        attributes = {"type": each.severity.label, "message": visible(each.message)}
        ElementTree.SubElement(case, "failure", attributes).text = visible(plain(render_text(each)))
    return suite
