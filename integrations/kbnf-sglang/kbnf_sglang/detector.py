"""The tool call parser ``kbnf`` of SGLang: calls in the format that the environment names.

``required`` and a named tool are constrained and read by SGLang itself, as JSON; other calls are
read here, whole and while the text comes.
"""

from typing import Any

from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem

from kbnf_core.integrations.tool_calls import ToolCalls, extend, may_have_calls, wanted_format
from kbnf_core.parse.calls import Delta


class KbnfDetector(BaseFormatDetector):
    """Reads the calls of one request."""

    def __init__(self) -> None:
        super().__init__()
        self._format = wanted_format()
        self._stream: ToolCalls | None = None

    def has_tool_call(self, text: str) -> bool:
        """Return whether a text has what begins calls."""
        return may_have_calls(self._format, text)

    def detect_and_parse(self, text: str, tools: list[Any]) -> StreamingParseResult:
        """Return the calls of a whole text, by the places of their tools, and the text."""
        around, found = self._reader(tools).whole(text)
        places = self._get_tool_indices(tools)
        calls = [
            ToolCallItem(
                tool_index=places.get(each["name"], -1),
                name=each["name"],
                parameters=each["arguments"],
            )
            for each in found
        ]
        return StreamingParseResult(normal_text=around, calls=calls)

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> StreamingParseResult:
        """Return what is new in a text."""
        if self._stream is None:
            self._stream = self._reader(tools)
        return self._told(self._stream, self._stream.feed(new_text))

    def finish(self, tools: list[Any]) -> StreamingParseResult:
        """Return what was held back, at the end of a text."""
        del tools
        if self._stream is None:
            return StreamingParseResult()
        return self._told(self._stream, self._stream.finish())

    def supports_structural_tag(self) -> bool:
        """Tell that calls that are required are JSON, which SGLang constrains and reads."""
        return False

    def structure_info(self) -> Any:
        """Refuse to describe a call by a beginning and an end: formats have more."""
        raise NotImplementedError("calls of kbnf have no beginning and end by name alone")

    def _told(self, stream: ToolCalls, found: list[Delta]) -> StreamingParseResult:
        calls = []
        for each in found:
            if each.call is None:
                continue
            if each.kind == "name":
                self.current_tool_id = each.call
                self.streamed_args_for_tool.append("")
                calls.append(ToolCallItem(tool_index=each.call, name=each.text, parameters=""))
            elif each.kind == "arguments":
                extend(self.streamed_args_for_tool, each.call, each.text)
                calls.append(ToolCallItem(tool_index=each.call, parameters=each.text))
        self.prev_tool_call_arr[:] = stream.begun
        return StreamingParseResult(normal_text=_text_of(found), calls=calls)

    def _reader(self, tools: list[Any]) -> ToolCalls:
        return ToolCalls(self._format, [tool.model_dump(exclude_none=True) for tool in tools])


def _text_of(found: list[Delta]) -> str:
    return "".join(each.text for each in found if each.kind == "text")
