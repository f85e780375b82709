; No two patterns take the same node: programs differ in which of them would win.
; Two names where Neovim and Helix have different ones.

(comment) @comment

(definition name: (name) @function)
(reference) @variable

(sequence (string) @string)
(repetition (string) @string)
(exception (string) @string)
(substrings (string) @string)
(byte_string (string) @string)
(pattern (string) @string.regexp)
(raw_pattern) @string.regexp
(token_name (string) @string.special)
(escape) @string.escape @constant.character.escape

(number) @number @constant.numeric

["except!" "#" "#e" "#ex" "#substrs" "#b" "#token" "#token["] @keyword
["::=" "=" "|" "?" "*" "+" "^" "-"] @operator
["," ";"] @punctuation.delimiter
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
