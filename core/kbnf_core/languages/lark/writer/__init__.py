"""From KBNF to LLGuidance's Lark."""
