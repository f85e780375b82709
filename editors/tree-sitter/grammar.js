// KBNF for tree-sitter, after `core/kbnf_core/kbnf/grammar.lark`, whose words it keeps.
// After a change: `tree-sitter generate --abi 14`, and `pytest tests/editors`.

const separated = (part, sign) => seq(part, repeat(seq(sign, part)));

// A quoted text: no blank or comment is skipped in it.
const quoted = ($, open, plain, close) =>
  seq(open, repeat(choice(token.immediate(prec(1, plain)), $.escape)), token.immediate(close));

const quotedBy = ($, open) =>
  choice(quoted($, open("'"), /[^'\\]+/, "'"), quoted($, open('"'), /[^"\\]+/, '"'));

module.exports = grammar({
  name: "kbnf",

  extras: ($) => [/[ \t\r\n]+/, $.comment],

  // Whether `{` opens a count or a bracket is told by what follows it.
  conflicts: ($) => [[$.sequence, $.repetition]],

  rules: {
    source_file: ($) =>
      seq(repeat(choice($.definition, $._odd_blank)), optional(alias($._unended, $.definition))),

    definition: ($) => seq($._definition, ";"),
    // The last `;` may be missing.
    _unended: ($) => $._definition,
    _definition: ($) =>
      seq(field("name", $.name), choice("::=", "="), field("body", $.alternation)),

    alternation: ($) => separated($.sequence, "|"),
    sequence: ($) => separated(choice($._primary, $.repetition), optional(",")),

    repetition: ($) => seq($._primary, field("operator", choice("?", "*", "+", $.count))),
    count: ($) =>
      seq("{", choice($.number, seq($.number, ",", optional($.number)), seq(",", $.number)), "}"),

    _primary: ($) =>
      choice(
        alias($.name, $.reference),
        $.string,
        $.pattern,
        $.raw_pattern,
        $.substrings,
        $.byte_string,
        $.bracket,
        $.exception,
        $.token_name,
        $.token_set,
      ),

    bracket: ($) =>
      choice(
        seq("(", $.alternation, ")"),
        seq("[", $.alternation, "]"),
        seq("{", $.alternation, "}"),
      ),
    exception: ($) =>
      seq(
        "except!",
        "(",
        choice($.string, alias($.name, $.reference)),
        optional(seq(",", $.number)),
        ")",
      ),

    string: ($) => quotedBy($, (quote) => quote),
    // Behind a mark, without a blank.
    _close_string: ($) => quotedBy($, token.immediate),
    pattern: ($) => seq(choice("#", "#e", "#ex"), alias($._close_string, $.string)),
    substrings: ($) => seq("#substrs", alias($._close_string, $.string)),
    byte_string: ($) => seq("#b", alias($._close_string, $.string)),
    token_name: ($) => seq("#token", alias($._close_string, $.string)),
    token_set: ($) => seq("#token[", optional("^"), separated($.token_range, ","), "]"),
    token_range: ($) => seq($.number, optional(seq("-", $.number))),

    escape: () =>
      token.immediate(
        seq(
          "\\",
          choice(
            /[tnrbf\/\\'"]/,
            /x[0-9A-Fa-f]{2}/,
            /u([0-9A-CE-Fa-ce-f][0-9A-Fa-f]{3}|[dD][0-7][0-9A-Fa-f]{2})/,
            /u\{[0-9A-Fa-f]+\}/,
            /[0-3][0-7]{0,2}|[4-7][0-7]?/,
          ),
        ),
      ),
    // Nothing is an escape; the quote itself is written twice.
    raw_pattern: () => token(seq("#r", choice(/'[^']*(''[^']*)*'/, /"[^"]*(""[^"]*)*"/))),

    name: () => /[A-Za-z_][A-Za-z0-9_]*/,
    number: () => /[0-9]+/,
    comment: () => /\(\*([^*]|\*+[^*)])*\*+\)/,
    // Blanks that Unicode knows and KBNF does not; legal between definitions only.
    _odd_blank: () =>
      /[\u000b\u000c\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/,
  },
});
