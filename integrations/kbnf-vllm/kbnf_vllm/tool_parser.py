"""The tool parser ``kbnf`` of vLLM: calls in the format that the environment names.

``required`` and a named tool are constrained and read by vLLM itself, as JSON; other calls are read
here, whole and while the text comes. vLLM says no end to a parser: where a text ends with what may
be the beginning of a call, that is not sent.
"""

from collections.abc import Sequence
from typing import Any

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.tool_parsers.abstract_tool_parser import ToolParser

from kbnf_core.integrations.tool_calls import ToolCalls, extend, wanted_format


class KbnfToolParser(ToolParser):
    """Reads the calls of one request."""

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        super().__init__(tokenizer, tools)
        self._format = wanted_format()
        self._stream: ToolCalls | None = None

    def adjust_request(self, request: Any) -> Any:
        """Keep special tokens, in which a format may be written."""
        request = super().adjust_request(request)
        if request.tools and request.tool_choice != "none":
            request.skip_special_tokens = False
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> ExtractedToolCallInformation:
        """Return the calls of a whole text, and what is text around them."""
        text, found = self._reader(request).whole(model_output)
        calls = [
            ToolCall(
                type="function",
                function=FunctionCall(name=each["name"], arguments=each["arguments"]),
            )
            for each in found
        ]
        return ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=text or None
        )

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> DeltaMessage | None:
        """Return what is new in a text, None while nothing is certain."""
        del current_text, previous_token_ids, current_token_ids, delta_token_ids
        if self._stream is None or not previous_text:
            self._stream = self._reader(request)
            self.prev_tool_call_arr.clear()
            self.streamed_args_for_tool.clear()
        text, calls = "", []
        for each in self._stream.feed(delta_text):
            if each.call is None:
                text += each.text if each.kind == "text" else ""
                continue
            if each.kind == "name":
                self.current_tool_id = each.call
                self.streamed_args_for_tool.append("")
                function = DeltaFunctionCall(name=each.text, arguments="")
                made = self._new_call(each.call, function)
            elif each.kind == "arguments":
                extend(self.streamed_args_for_tool, each.call, each.text)
                made = DeltaToolCall(
                    index=each.call, function=DeltaFunctionCall(arguments=each.text)
                )
            else:
                # vLLM has no way to take a call back, or to say that it does not fit.
                continue
            calls.append(made)
        self.prev_tool_call_arr[:] = self._stream.begun
        return DeltaMessage(content=text or None, tool_calls=calls) if text or calls else None

    @staticmethod
    def _new_call(index: int, function: DeltaFunctionCall) -> DeltaToolCall:
        # The identifier is made as that of a call in a whole text.
        call_id = ToolCall(function=FunctionCall(name=str(function.name), arguments="")).id
        return DeltaToolCall(id=call_id, type="function", index=index, function=function)

    def _reader(self, request: Any) -> ToolCalls:
        tools = [tool.model_dump(exclude_none=True) for tool in request.tools or ()]
        return ToolCalls(self._format, tools)
