#include <tree_sitter/parser.h>

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif

#define LANGUAGE_VERSION 14
#define STATE_COUNT 94
#define LARGE_STATE_COUNT 6
#define SYMBOL_COUNT 62
#define ALIAS_COUNT 1
#define TOKEN_COUNT 37
#define EXTERNAL_TOKEN_COUNT 0
#define FIELD_COUNT 3
#define MAX_ALIAS_SEQUENCE_LENGTH 6
#define PRODUCTION_ID_COUNT 7

enum {
  anon_sym_SEMI = 1,
  anon_sym_COLON_COLON_EQ = 2,
  anon_sym_EQ = 3,
  anon_sym_PIPE = 4,
  anon_sym_COMMA = 5,
  anon_sym_QMARK = 6,
  anon_sym_STAR = 7,
  anon_sym_PLUS = 8,
  anon_sym_LBRACE = 9,
  anon_sym_RBRACE = 10,
  anon_sym_LPAREN = 11,
  anon_sym_RPAREN = 12,
  anon_sym_LBRACK = 13,
  anon_sym_RBRACK = 14,
  anon_sym_except_BANG = 15,
  anon_sym_SQUOTE = 16,
  aux_sym_string_token1 = 17,
  anon_sym_SQUOTE2 = 18,
  anon_sym_DQUOTE = 19,
  aux_sym_string_token2 = 20,
  anon_sym_DQUOTE2 = 21,
  anon_sym_POUND = 22,
  anon_sym_POUNDe = 23,
  anon_sym_POUNDex = 24,
  anon_sym_POUNDsubstrs = 25,
  anon_sym_POUNDb = 26,
  anon_sym_POUNDtoken = 27,
  anon_sym_POUNDtoken_LBRACK = 28,
  anon_sym_CARET = 29,
  anon_sym_DASH = 30,
  sym_escape = 31,
  sym_raw_pattern = 32,
  sym_name = 33,
  sym_number = 34,
  sym_comment = 35,
  sym__odd_blank = 36,
  sym_source_file = 37,
  sym_definition = 38,
  sym__unended = 39,
  sym__definition = 40,
  sym_alternation = 41,
  sym_sequence = 42,
  sym_repetition = 43,
  sym_count = 44,
  sym__primary = 45,
  sym_bracket = 46,
  sym_exception = 47,
  sym_string = 48,
  sym__close_string = 49,
  sym_pattern = 50,
  sym_substrings = 51,
  sym_byte_string = 52,
  sym_token_name = 53,
  sym_token_set = 54,
  sym_token_range = 55,
  aux_sym_source_file_repeat1 = 56,
  aux_sym_alternation_repeat1 = 57,
  aux_sym_sequence_repeat1 = 58,
  aux_sym_string_repeat1 = 59,
  aux_sym_string_repeat2 = 60,
  aux_sym_token_set_repeat1 = 61,
  alias_sym_reference = 62,
};

static const char * const ts_symbol_names[] = {
  [ts_builtin_sym_end] = "end",
  [anon_sym_SEMI] = ";",
  [anon_sym_COLON_COLON_EQ] = "::=",
  [anon_sym_EQ] = "=",
  [anon_sym_PIPE] = "|",
  [anon_sym_COMMA] = ",",
  [anon_sym_QMARK] = "\?",
  [anon_sym_STAR] = "*",
  [anon_sym_PLUS] = "+",
  [anon_sym_LBRACE] = "{",
  [anon_sym_RBRACE] = "}",
  [anon_sym_LPAREN] = "(",
  [anon_sym_RPAREN] = ")",
  [anon_sym_LBRACK] = "[",
  [anon_sym_RBRACK] = "]",
  [anon_sym_except_BANG] = "except!",
  [anon_sym_SQUOTE] = "'",
  [aux_sym_string_token1] = "string_token1",
  [anon_sym_SQUOTE2] = "'",
  [anon_sym_DQUOTE] = "\"",
  [aux_sym_string_token2] = "string_token2",
  [anon_sym_DQUOTE2] = "\"",
  [anon_sym_POUND] = "#",
  [anon_sym_POUNDe] = "#e",
  [anon_sym_POUNDex] = "#ex",
  [anon_sym_POUNDsubstrs] = "#substrs",
  [anon_sym_POUNDb] = "#b",
  [anon_sym_POUNDtoken] = "#token",
  [anon_sym_POUNDtoken_LBRACK] = "#token[",
  [anon_sym_CARET] = "^",
  [anon_sym_DASH] = "-",
  [sym_escape] = "escape",
  [sym_raw_pattern] = "raw_pattern",
  [sym_name] = "name",
  [sym_number] = "number",
  [sym_comment] = "comment",
  [sym__odd_blank] = "_odd_blank",
  [sym_source_file] = "source_file",
  [sym_definition] = "definition",
  [sym__unended] = "definition",
  [sym__definition] = "_definition",
  [sym_alternation] = "alternation",
  [sym_sequence] = "sequence",
  [sym_repetition] = "repetition",
  [sym_count] = "count",
  [sym__primary] = "_primary",
  [sym_bracket] = "bracket",
  [sym_exception] = "exception",
  [sym_string] = "string",
  [sym__close_string] = "string",
  [sym_pattern] = "pattern",
  [sym_substrings] = "substrings",
  [sym_byte_string] = "byte_string",
  [sym_token_name] = "token_name",
  [sym_token_set] = "token_set",
  [sym_token_range] = "token_range",
  [aux_sym_source_file_repeat1] = "source_file_repeat1",
  [aux_sym_alternation_repeat1] = "alternation_repeat1",
  [aux_sym_sequence_repeat1] = "sequence_repeat1",
  [aux_sym_string_repeat1] = "string_repeat1",
  [aux_sym_string_repeat2] = "string_repeat2",
  [aux_sym_token_set_repeat1] = "token_set_repeat1",
  [alias_sym_reference] = "reference",
};

static const TSSymbol ts_symbol_map[] = {
  [ts_builtin_sym_end] = ts_builtin_sym_end,
  [anon_sym_SEMI] = anon_sym_SEMI,
  [anon_sym_COLON_COLON_EQ] = anon_sym_COLON_COLON_EQ,
  [anon_sym_EQ] = anon_sym_EQ,
  [anon_sym_PIPE] = anon_sym_PIPE,
  [anon_sym_COMMA] = anon_sym_COMMA,
  [anon_sym_QMARK] = anon_sym_QMARK,
  [anon_sym_STAR] = anon_sym_STAR,
  [anon_sym_PLUS] = anon_sym_PLUS,
  [anon_sym_LBRACE] = anon_sym_LBRACE,
  [anon_sym_RBRACE] = anon_sym_RBRACE,
  [anon_sym_LPAREN] = anon_sym_LPAREN,
  [anon_sym_RPAREN] = anon_sym_RPAREN,
  [anon_sym_LBRACK] = anon_sym_LBRACK,
  [anon_sym_RBRACK] = anon_sym_RBRACK,
  [anon_sym_except_BANG] = anon_sym_except_BANG,
  [anon_sym_SQUOTE] = anon_sym_SQUOTE,
  [aux_sym_string_token1] = aux_sym_string_token1,
  [anon_sym_SQUOTE2] = anon_sym_SQUOTE,
  [anon_sym_DQUOTE] = anon_sym_DQUOTE,
  [aux_sym_string_token2] = aux_sym_string_token2,
  [anon_sym_DQUOTE2] = anon_sym_DQUOTE,
  [anon_sym_POUND] = anon_sym_POUND,
  [anon_sym_POUNDe] = anon_sym_POUNDe,
  [anon_sym_POUNDex] = anon_sym_POUNDex,
  [anon_sym_POUNDsubstrs] = anon_sym_POUNDsubstrs,
  [anon_sym_POUNDb] = anon_sym_POUNDb,
  [anon_sym_POUNDtoken] = anon_sym_POUNDtoken,
  [anon_sym_POUNDtoken_LBRACK] = anon_sym_POUNDtoken_LBRACK,
  [anon_sym_CARET] = anon_sym_CARET,
  [anon_sym_DASH] = anon_sym_DASH,
  [sym_escape] = sym_escape,
  [sym_raw_pattern] = sym_raw_pattern,
  [sym_name] = sym_name,
  [sym_number] = sym_number,
  [sym_comment] = sym_comment,
  [sym__odd_blank] = sym__odd_blank,
  [sym_source_file] = sym_source_file,
  [sym_definition] = sym_definition,
  [sym__unended] = sym_definition,
  [sym__definition] = sym__definition,
  [sym_alternation] = sym_alternation,
  [sym_sequence] = sym_sequence,
  [sym_repetition] = sym_repetition,
  [sym_count] = sym_count,
  [sym__primary] = sym__primary,
  [sym_bracket] = sym_bracket,
  [sym_exception] = sym_exception,
  [sym_string] = sym_string,
  [sym__close_string] = sym_string,
  [sym_pattern] = sym_pattern,
  [sym_substrings] = sym_substrings,
  [sym_byte_string] = sym_byte_string,
  [sym_token_name] = sym_token_name,
  [sym_token_set] = sym_token_set,
  [sym_token_range] = sym_token_range,
  [aux_sym_source_file_repeat1] = aux_sym_source_file_repeat1,
  [aux_sym_alternation_repeat1] = aux_sym_alternation_repeat1,
  [aux_sym_sequence_repeat1] = aux_sym_sequence_repeat1,
  [aux_sym_string_repeat1] = aux_sym_string_repeat1,
  [aux_sym_string_repeat2] = aux_sym_string_repeat2,
  [aux_sym_token_set_repeat1] = aux_sym_token_set_repeat1,
  [alias_sym_reference] = alias_sym_reference,
};

static const TSSymbolMetadata ts_symbol_metadata[] = {
  [ts_builtin_sym_end] = {
    .visible = false,
    .named = true,
  },
  [anon_sym_SEMI] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_COLON_COLON_EQ] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_EQ] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_PIPE] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_COMMA] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_QMARK] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_STAR] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_PLUS] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_LBRACE] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_RBRACE] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_LPAREN] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_RPAREN] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_LBRACK] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_RBRACK] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_except_BANG] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_SQUOTE] = {
    .visible = true,
    .named = false,
  },
  [aux_sym_string_token1] = {
    .visible = false,
    .named = false,
  },
  [anon_sym_SQUOTE2] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_DQUOTE] = {
    .visible = true,
    .named = false,
  },
  [aux_sym_string_token2] = {
    .visible = false,
    .named = false,
  },
  [anon_sym_DQUOTE2] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_POUND] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_POUNDe] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_POUNDex] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_POUNDsubstrs] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_POUNDb] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_POUNDtoken] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_POUNDtoken_LBRACK] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_CARET] = {
    .visible = true,
    .named = false,
  },
  [anon_sym_DASH] = {
    .visible = true,
    .named = false,
  },
  [sym_escape] = {
    .visible = true,
    .named = true,
  },
  [sym_raw_pattern] = {
    .visible = true,
    .named = true,
  },
  [sym_name] = {
    .visible = true,
    .named = true,
  },
  [sym_number] = {
    .visible = true,
    .named = true,
  },
  [sym_comment] = {
    .visible = true,
    .named = true,
  },
  [sym__odd_blank] = {
    .visible = false,
    .named = true,
  },
  [sym_source_file] = {
    .visible = true,
    .named = true,
  },
  [sym_definition] = {
    .visible = true,
    .named = true,
  },
  [sym__unended] = {
    .visible = true,
    .named = true,
  },
  [sym__definition] = {
    .visible = false,
    .named = true,
  },
  [sym_alternation] = {
    .visible = true,
    .named = true,
  },
  [sym_sequence] = {
    .visible = true,
    .named = true,
  },
  [sym_repetition] = {
    .visible = true,
    .named = true,
  },
  [sym_count] = {
    .visible = true,
    .named = true,
  },
  [sym__primary] = {
    .visible = false,
    .named = true,
  },
  [sym_bracket] = {
    .visible = true,
    .named = true,
  },
  [sym_exception] = {
    .visible = true,
    .named = true,
  },
  [sym_string] = {
    .visible = true,
    .named = true,
  },
  [sym__close_string] = {
    .visible = true,
    .named = true,
  },
  [sym_pattern] = {
    .visible = true,
    .named = true,
  },
  [sym_substrings] = {
    .visible = true,
    .named = true,
  },
  [sym_byte_string] = {
    .visible = true,
    .named = true,
  },
  [sym_token_name] = {
    .visible = true,
    .named = true,
  },
  [sym_token_set] = {
    .visible = true,
    .named = true,
  },
  [sym_token_range] = {
    .visible = true,
    .named = true,
  },
  [aux_sym_source_file_repeat1] = {
    .visible = false,
    .named = false,
  },
  [aux_sym_alternation_repeat1] = {
    .visible = false,
    .named = false,
  },
  [aux_sym_sequence_repeat1] = {
    .visible = false,
    .named = false,
  },
  [aux_sym_string_repeat1] = {
    .visible = false,
    .named = false,
  },
  [aux_sym_string_repeat2] = {
    .visible = false,
    .named = false,
  },
  [aux_sym_token_set_repeat1] = {
    .visible = false,
    .named = false,
  },
  [alias_sym_reference] = {
    .visible = true,
    .named = true,
  },
};

enum {
  field_body = 1,
  field_name = 2,
  field_operator = 3,
};

static const char * const ts_field_names[] = {
  [0] = NULL,
  [field_body] = "body",
  [field_name] = "name",
  [field_operator] = "operator",
};

static const TSFieldMapSlice ts_field_map_slices[PRODUCTION_ID_COUNT] = {
  [1] = {.index = 0, .length = 2},
  [2] = {.index = 2, .length = 2},
  [4] = {.index = 4, .length = 2},
  [5] = {.index = 6, .length = 1},
};

static const TSFieldMapEntry ts_field_map_entries[] = {
  [0] =
    {field_body, 0, .inherited = true},
    {field_name, 0, .inherited = true},
  [2] =
    {field_body, 1, .inherited = true},
    {field_name, 1, .inherited = true},
  [4] =
    {field_body, 2},
    {field_name, 0},
  [6] =
    {field_operator, 1},
};

static const TSSymbol ts_alias_sequences[PRODUCTION_ID_COUNT][MAX_ALIAS_SEQUENCE_LENGTH] = {
  [0] = {0},
  [3] = {
    [0] = alias_sym_reference,
  },
  [6] = {
    [2] = alias_sym_reference,
  },
};

static const uint16_t ts_non_terminal_alias_map[] = {
  0,
};

static const TSStateId ts_primary_state_ids[STATE_COUNT] = {
  [0] = 0,
  [1] = 1,
  [2] = 2,
  [3] = 3,
  [4] = 4,
  [5] = 5,
  [6] = 6,
  [7] = 7,
  [8] = 8,
  [9] = 9,
  [10] = 10,
  [11] = 11,
  [12] = 12,
  [13] = 13,
  [14] = 14,
  [15] = 15,
  [16] = 16,
  [17] = 17,
  [18] = 18,
  [19] = 19,
  [20] = 20,
  [21] = 21,
  [22] = 22,
  [23] = 23,
  [24] = 24,
  [25] = 25,
  [26] = 26,
  [27] = 27,
  [28] = 28,
  [29] = 29,
  [30] = 30,
  [31] = 31,
  [32] = 32,
  [33] = 33,
  [34] = 34,
  [35] = 35,
  [36] = 36,
  [37] = 37,
  [38] = 38,
  [39] = 39,
  [40] = 40,
  [41] = 41,
  [42] = 42,
  [43] = 43,
  [44] = 44,
  [45] = 45,
  [46] = 46,
  [47] = 47,
  [48] = 48,
  [49] = 49,
  [50] = 50,
  [51] = 51,
  [52] = 52,
  [53] = 53,
  [54] = 54,
  [55] = 55,
  [56] = 56,
  [57] = 57,
  [58] = 58,
  [59] = 59,
  [60] = 60,
  [61] = 61,
  [62] = 62,
  [63] = 63,
  [64] = 64,
  [65] = 65,
  [66] = 66,
  [67] = 67,
  [68] = 68,
  [69] = 69,
  [70] = 70,
  [71] = 71,
  [72] = 72,
  [73] = 73,
  [74] = 74,
  [75] = 75,
  [76] = 76,
  [77] = 77,
  [78] = 78,
  [79] = 79,
  [80] = 80,
  [81] = 81,
  [82] = 82,
  [83] = 83,
  [84] = 84,
  [85] = 85,
  [86] = 86,
  [87] = 87,
  [88] = 88,
  [89] = 89,
  [90] = 90,
  [91] = 91,
  [92] = 92,
  [93] = 93,
};

static inline bool sym_escape_character_set_1(int32_t c) {
  return (c < 'b'
    ? (c < '/'
      ? (c < '\''
        ? c == '"'
        : c <= '\'')
      : (c <= '/' || c == '\\'))
    : (c <= 'b' || (c < 'r'
      ? (c < 'n'
        ? c == 'f'
        : c <= 'n')
      : (c <= 'r' || c == 't'))));
}

static inline bool sym__odd_blank_character_set_1(int32_t c) {
  return (c < 8192
    ? (c < 160
      ? (c < 133
        ? (c >= 11 && c <= '\f')
        : c <= 133)
      : (c <= 160 || c == 5760))
    : (c <= 8202 || (c < 8287
      ? (c < 8239
        ? (c >= 8232 && c <= 8233)
        : c <= 8239)
      : (c <= 8287 || c == 12288))));
}

static bool ts_lex(TSLexer *lexer, TSStateId state) {
  START_LEXER();
  eof = lexer->eof(lexer);
  switch (state) {
    case 0:
      if (eof) ADVANCE(33);
      if (lookahead == '"') ADVANCE(62);
      if (lookahead == '#') ADVANCE(63);
      if (lookahead == '\'') ADVANCE(55);
      if (lookahead == '(') ADVANCE(44);
      if (lookahead == ')') ADVANCE(45);
      if (lookahead == '*') ADVANCE(40);
      if (lookahead == '+') ADVANCE(41);
      if (lookahead == ',') ADVANCE(38);
      if (lookahead == '-') ADVANCE(71);
      if (lookahead == ':') ADVANCE(11);
      if (lookahead == ';') ADVANCE(34);
      if (lookahead == '=') ADVANCE(36);
      if (lookahead == '?') ADVANCE(39);
      if (lookahead == '[') ADVANCE(46);
      if (lookahead == '\\') ADVANCE(22);
      if (lookahead == ']') ADVANCE(47);
      if (lookahead == '^') ADVANCE(70);
      if (lookahead == 'e') ADVANCE(82);
      if (lookahead == '{') ADVANCE(42);
      if (lookahead == '|') ADVANCE(37);
      if (lookahead == '}') ADVANCE(43);
      if (lookahead == '\t' ||
          lookahead == '\n' ||
          lookahead == '\r' ||
          lookahead == ' ') SKIP(31)
      if (('0' <= lookahead && lookahead <= '9')) ADVANCE(84);
      if (sym__odd_blank_character_set_1(lookahead)) ADVANCE(86);
      if (('A' <= lookahead && lookahead <= '_') ||
          ('a' <= lookahead && lookahead <= 'z')) ADVANCE(83);
      END_STATE();
    case 1:
      if (lookahead == '"') ADVANCE(62);
      if (lookahead == '\'') ADVANCE(55);
      if (lookahead == '(') ADVANCE(9);
      if (lookahead == '\t' ||
          lookahead == '\n' ||
          lookahead == '\r' ||
          lookahead == ' ') SKIP(7)
      END_STATE();
    case 2:
      if (lookahead == '"') ADVANCE(62);
      if (lookahead == '(') ADVANCE(60);
      if (lookahead == '\\') ADVANCE(22);
      if (lookahead == '\t' ||
          lookahead == '\n' ||
          lookahead == '\r' ||
          lookahead == ' ') ADVANCE(57);
      if (lookahead != 0) ADVANCE(61);
      END_STATE();
    case 3:
      if (lookahead == '"') ADVANCE(4);
      if (lookahead == '\'') ADVANCE(6);
      END_STATE();
    case 4:
      if (lookahead == '"') ADVANCE(75);
      if (lookahead != 0) ADVANCE(4);
      END_STATE();
    case 5:
      if (lookahead == '\'') ADVANCE(55);
      if (lookahead == '(') ADVANCE(53);
      if (lookahead == '\\') ADVANCE(22);
      if (lookahead == '\t' ||
          lookahead == '\n' ||
          lookahead == '\r' ||
          lookahead == ' ') ADVANCE(50);
      if (lookahead != 0) ADVANCE(54);
      END_STATE();
    case 6:
      if (lookahead == '\'') ADVANCE(76);
      if (lookahead != 0) ADVANCE(6);
      END_STATE();
    case 7:
      if (lookahead == '(') ADVANCE(9);
      if (lookahead == '\t' ||
          lookahead == '\n' ||
          lookahead == '\r' ||
          lookahead == ' ') SKIP(7)
      END_STATE();
    case 8:
      if (lookahead == ')') ADVANCE(85);
      if (lookahead == '*') ADVANCE(8);
      if (lookahead != 0) ADVANCE(10);
      END_STATE();
    case 9:
      if (lookahead == '*') ADVANCE(10);
      END_STATE();
    case 10:
      if (lookahead == '*') ADVANCE(8);
      if (lookahead != 0) ADVANCE(10);
      END_STATE();
    case 11:
      if (lookahead == ':') ADVANCE(12);
      END_STATE();
    case 12:
      if (lookahead == '=') ADVANCE(35);
      END_STATE();
    case 13:
      if (lookahead == 'b') ADVANCE(19);
      END_STATE();
    case 14:
      if (lookahead == 'e') ADVANCE(16);
      END_STATE();
    case 15:
      if (lookahead == 'k') ADVANCE(14);
      END_STATE();
    case 16:
      if (lookahead == 'n') ADVANCE(68);
      END_STATE();
    case 17:
      if (lookahead == 'o') ADVANCE(15);
      END_STATE();
    case 18:
      if (lookahead == 'r') ADVANCE(20);
      END_STATE();
    case 19:
      if (lookahead == 's') ADVANCE(21);
      END_STATE();
    case 20:
      if (lookahead == 's') ADVANCE(66);
      END_STATE();
    case 21:
      if (lookahead == 't') ADVANCE(18);
      END_STATE();
    case 22:
      if (lookahead == 'u') ADVANCE(24);
      if (lookahead == 'x') ADVANCE(30);
      if (('0' <= lookahead && lookahead <= '3')) ADVANCE(74);
      if (('4' <= lookahead && lookahead <= '7')) ADVANCE(73);
      if (sym_escape_character_set_1(lookahead)) ADVANCE(72);
      END_STATE();
    case 23:
      if (lookahead == 'u') ADVANCE(13);
      END_STATE();
    case 24:
      if (lookahead == '{') ADVANCE(29);
      if (lookahead == 'D' ||
          lookahead == 'd') ADVANCE(26);
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'F') ||
          ('a' <= lookahead && lookahead <= 'f')) ADVANCE(27);
      END_STATE();
    case 25:
      if (lookahead == '}') ADVANCE(72);
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'F') ||
          ('a' <= lookahead && lookahead <= 'f')) ADVANCE(25);
      END_STATE();
    case 26:
      if (('0' <= lookahead && lookahead <= '7')) ADVANCE(30);
      END_STATE();
    case 27:
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'F') ||
          ('a' <= lookahead && lookahead <= 'f')) ADVANCE(30);
      END_STATE();
    case 28:
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'F') ||
          ('a' <= lookahead && lookahead <= 'f')) ADVANCE(72);
      END_STATE();
    case 29:
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'F') ||
          ('a' <= lookahead && lookahead <= 'f')) ADVANCE(25);
      END_STATE();
    case 30:
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'F') ||
          ('a' <= lookahead && lookahead <= 'f')) ADVANCE(28);
      END_STATE();
    case 31:
      if (eof) ADVANCE(33);
      if (lookahead == '"') ADVANCE(56);
      if (lookahead == '#') ADVANCE(63);
      if (lookahead == '\'') ADVANCE(49);
      if (lookahead == '(') ADVANCE(44);
      if (lookahead == ')') ADVANCE(45);
      if (lookahead == '*') ADVANCE(40);
      if (lookahead == '+') ADVANCE(41);
      if (lookahead == ',') ADVANCE(38);
      if (lookahead == '-') ADVANCE(71);
      if (lookahead == ':') ADVANCE(11);
      if (lookahead == ';') ADVANCE(34);
      if (lookahead == '=') ADVANCE(36);
      if (lookahead == '?') ADVANCE(39);
      if (lookahead == '[') ADVANCE(46);
      if (lookahead == ']') ADVANCE(47);
      if (lookahead == '^') ADVANCE(70);
      if (lookahead == 'e') ADVANCE(82);
      if (lookahead == '{') ADVANCE(42);
      if (lookahead == '|') ADVANCE(37);
      if (lookahead == '}') ADVANCE(43);
      if (lookahead == '\t' ||
          lookahead == '\n' ||
          lookahead == '\r' ||
          lookahead == ' ') SKIP(31)
      if (('0' <= lookahead && lookahead <= '9')) ADVANCE(84);
      if (sym__odd_blank_character_set_1(lookahead)) ADVANCE(86);
      if (('A' <= lookahead && lookahead <= 'Z') ||
          lookahead == '_' ||
          ('a' <= lookahead && lookahead <= 'z')) ADVANCE(83);
      END_STATE();
    case 32:
      if (eof) ADVANCE(33);
      if (lookahead == '"') ADVANCE(56);
      if (lookahead == '#') ADVANCE(63);
      if (lookahead == '\'') ADVANCE(49);
      if (lookahead == '(') ADVANCE(44);
      if (lookahead == ')') ADVANCE(45);
      if (lookahead == '*') ADVANCE(40);
      if (lookahead == '+') ADVANCE(41);
      if (lookahead == ',') ADVANCE(38);
      if (lookahead == ';') ADVANCE(34);
      if (lookahead == '?') ADVANCE(39);
      if (lookahead == '[') ADVANCE(46);
      if (lookahead == ']') ADVANCE(47);
      if (lookahead == 'e') ADVANCE(82);
      if (lookahead == '{') ADVANCE(42);
      if (lookahead == '|') ADVANCE(37);
      if (lookahead == '}') ADVANCE(43);
      if (lookahead == '\t' ||
          lookahead == '\n' ||
          lookahead == '\r' ||
          lookahead == ' ') SKIP(32)
      if (('0' <= lookahead && lookahead <= '9')) ADVANCE(84);
      if (('A' <= lookahead && lookahead <= 'Z') ||
          lookahead == '_' ||
          ('a' <= lookahead && lookahead <= 'z')) ADVANCE(83);
      END_STATE();
    case 33:
      ACCEPT_TOKEN(ts_builtin_sym_end);
      END_STATE();
    case 34:
      ACCEPT_TOKEN(anon_sym_SEMI);
      END_STATE();
    case 35:
      ACCEPT_TOKEN(anon_sym_COLON_COLON_EQ);
      END_STATE();
    case 36:
      ACCEPT_TOKEN(anon_sym_EQ);
      END_STATE();
    case 37:
      ACCEPT_TOKEN(anon_sym_PIPE);
      END_STATE();
    case 38:
      ACCEPT_TOKEN(anon_sym_COMMA);
      END_STATE();
    case 39:
      ACCEPT_TOKEN(anon_sym_QMARK);
      END_STATE();
    case 40:
      ACCEPT_TOKEN(anon_sym_STAR);
      END_STATE();
    case 41:
      ACCEPT_TOKEN(anon_sym_PLUS);
      END_STATE();
    case 42:
      ACCEPT_TOKEN(anon_sym_LBRACE);
      END_STATE();
    case 43:
      ACCEPT_TOKEN(anon_sym_RBRACE);
      END_STATE();
    case 44:
      ACCEPT_TOKEN(anon_sym_LPAREN);
      if (lookahead == '*') ADVANCE(10);
      END_STATE();
    case 45:
      ACCEPT_TOKEN(anon_sym_RPAREN);
      END_STATE();
    case 46:
      ACCEPT_TOKEN(anon_sym_LBRACK);
      END_STATE();
    case 47:
      ACCEPT_TOKEN(anon_sym_RBRACK);
      END_STATE();
    case 48:
      ACCEPT_TOKEN(anon_sym_except_BANG);
      END_STATE();
    case 49:
      ACCEPT_TOKEN(anon_sym_SQUOTE);
      END_STATE();
    case 50:
      ACCEPT_TOKEN(aux_sym_string_token1);
      if (lookahead == '(') ADVANCE(53);
      if (lookahead == '\t' ||
          lookahead == '\n' ||
          lookahead == '\r' ||
          lookahead == ' ') ADVANCE(50);
      if (lookahead != 0 &&
          lookahead != '\'' &&
          lookahead != '\\') ADVANCE(54);
      END_STATE();
    case 51:
      ACCEPT_TOKEN(aux_sym_string_token1);
      if (lookahead == ')') ADVANCE(54);
      if (lookahead == '*') ADVANCE(51);
      if (lookahead != 0 &&
          lookahead != '\'' &&
          lookahead != '\\') ADVANCE(52);
      END_STATE();
    case 52:
      ACCEPT_TOKEN(aux_sym_string_token1);
      if (lookahead == '*') ADVANCE(51);
      if (lookahead != 0 &&
          lookahead != '\'' &&
          lookahead != '\\') ADVANCE(52);
      END_STATE();
    case 53:
      ACCEPT_TOKEN(aux_sym_string_token1);
      if (lookahead == '*') ADVANCE(52);
      if (lookahead != 0 &&
          lookahead != '\'' &&
          lookahead != '\\') ADVANCE(54);
      END_STATE();
    case 54:
      ACCEPT_TOKEN(aux_sym_string_token1);
      if (lookahead != 0 &&
          lookahead != '\'' &&
          lookahead != '\\') ADVANCE(54);
      END_STATE();
    case 55:
      ACCEPT_TOKEN(anon_sym_SQUOTE2);
      END_STATE();
    case 56:
      ACCEPT_TOKEN(anon_sym_DQUOTE);
      END_STATE();
    case 57:
      ACCEPT_TOKEN(aux_sym_string_token2);
      if (lookahead == '(') ADVANCE(60);
      if (lookahead == '\t' ||
          lookahead == '\n' ||
          lookahead == '\r' ||
          lookahead == ' ') ADVANCE(57);
      if (lookahead != 0 &&
          lookahead != '"' &&
          lookahead != '\\') ADVANCE(61);
      END_STATE();
    case 58:
      ACCEPT_TOKEN(aux_sym_string_token2);
      if (lookahead == ')') ADVANCE(61);
      if (lookahead == '*') ADVANCE(58);
      if (lookahead != 0 &&
          lookahead != '"' &&
          lookahead != '\\') ADVANCE(59);
      END_STATE();
    case 59:
      ACCEPT_TOKEN(aux_sym_string_token2);
      if (lookahead == '*') ADVANCE(58);
      if (lookahead != 0 &&
          lookahead != '"' &&
          lookahead != '\\') ADVANCE(59);
      END_STATE();
    case 60:
      ACCEPT_TOKEN(aux_sym_string_token2);
      if (lookahead == '*') ADVANCE(59);
      if (lookahead != 0 &&
          lookahead != '"' &&
          lookahead != '\\') ADVANCE(61);
      END_STATE();
    case 61:
      ACCEPT_TOKEN(aux_sym_string_token2);
      if (lookahead != 0 &&
          lookahead != '"' &&
          lookahead != '\\') ADVANCE(61);
      END_STATE();
    case 62:
      ACCEPT_TOKEN(anon_sym_DQUOTE2);
      END_STATE();
    case 63:
      ACCEPT_TOKEN(anon_sym_POUND);
      if (lookahead == 'b') ADVANCE(67);
      if (lookahead == 'e') ADVANCE(64);
      if (lookahead == 'r') ADVANCE(3);
      if (lookahead == 's') ADVANCE(23);
      if (lookahead == 't') ADVANCE(17);
      END_STATE();
    case 64:
      ACCEPT_TOKEN(anon_sym_POUNDe);
      if (lookahead == 'x') ADVANCE(65);
      END_STATE();
    case 65:
      ACCEPT_TOKEN(anon_sym_POUNDex);
      END_STATE();
    case 66:
      ACCEPT_TOKEN(anon_sym_POUNDsubstrs);
      END_STATE();
    case 67:
      ACCEPT_TOKEN(anon_sym_POUNDb);
      END_STATE();
    case 68:
      ACCEPT_TOKEN(anon_sym_POUNDtoken);
      if (lookahead == '[') ADVANCE(69);
      END_STATE();
    case 69:
      ACCEPT_TOKEN(anon_sym_POUNDtoken_LBRACK);
      END_STATE();
    case 70:
      ACCEPT_TOKEN(anon_sym_CARET);
      END_STATE();
    case 71:
      ACCEPT_TOKEN(anon_sym_DASH);
      END_STATE();
    case 72:
      ACCEPT_TOKEN(sym_escape);
      END_STATE();
    case 73:
      ACCEPT_TOKEN(sym_escape);
      if (('0' <= lookahead && lookahead <= '7')) ADVANCE(72);
      END_STATE();
    case 74:
      ACCEPT_TOKEN(sym_escape);
      if (('0' <= lookahead && lookahead <= '7')) ADVANCE(73);
      END_STATE();
    case 75:
      ACCEPT_TOKEN(sym_raw_pattern);
      if (lookahead == '"') ADVANCE(4);
      END_STATE();
    case 76:
      ACCEPT_TOKEN(sym_raw_pattern);
      if (lookahead == '\'') ADVANCE(6);
      END_STATE();
    case 77:
      ACCEPT_TOKEN(sym_name);
      if (lookahead == '!') ADVANCE(48);
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'Z') ||
          lookahead == '_' ||
          ('a' <= lookahead && lookahead <= 'z')) ADVANCE(83);
      END_STATE();
    case 78:
      ACCEPT_TOKEN(sym_name);
      if (lookahead == 'c') ADVANCE(79);
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'Z') ||
          lookahead == '_' ||
          ('a' <= lookahead && lookahead <= 'z')) ADVANCE(83);
      END_STATE();
    case 79:
      ACCEPT_TOKEN(sym_name);
      if (lookahead == 'e') ADVANCE(80);
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'Z') ||
          lookahead == '_' ||
          ('a' <= lookahead && lookahead <= 'z')) ADVANCE(83);
      END_STATE();
    case 80:
      ACCEPT_TOKEN(sym_name);
      if (lookahead == 'p') ADVANCE(81);
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'Z') ||
          lookahead == '_' ||
          ('a' <= lookahead && lookahead <= 'z')) ADVANCE(83);
      END_STATE();
    case 81:
      ACCEPT_TOKEN(sym_name);
      if (lookahead == 't') ADVANCE(77);
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'Z') ||
          lookahead == '_' ||
          ('a' <= lookahead && lookahead <= 'z')) ADVANCE(83);
      END_STATE();
    case 82:
      ACCEPT_TOKEN(sym_name);
      if (lookahead == 'x') ADVANCE(78);
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'Z') ||
          lookahead == '_' ||
          ('a' <= lookahead && lookahead <= 'z')) ADVANCE(83);
      END_STATE();
    case 83:
      ACCEPT_TOKEN(sym_name);
      if (('0' <= lookahead && lookahead <= '9') ||
          ('A' <= lookahead && lookahead <= 'Z') ||
          lookahead == '_' ||
          ('a' <= lookahead && lookahead <= 'z')) ADVANCE(83);
      END_STATE();
    case 84:
      ACCEPT_TOKEN(sym_number);
      if (('0' <= lookahead && lookahead <= '9')) ADVANCE(84);
      END_STATE();
    case 85:
      ACCEPT_TOKEN(sym_comment);
      END_STATE();
    case 86:
      ACCEPT_TOKEN(sym__odd_blank);
      END_STATE();
    default:
      return false;
  }
}

static const TSLexMode ts_lex_modes[STATE_COUNT] = {
  [0] = {.lex_state = 0},
  [1] = {.lex_state = 0},
  [2] = {.lex_state = 32},
  [3] = {.lex_state = 32},
  [4] = {.lex_state = 32},
  [5] = {.lex_state = 32},
  [6] = {.lex_state = 32},
  [7] = {.lex_state = 32},
  [8] = {.lex_state = 32},
  [9] = {.lex_state = 32},
  [10] = {.lex_state = 32},
  [11] = {.lex_state = 32},
  [12] = {.lex_state = 32},
  [13] = {.lex_state = 32},
  [14] = {.lex_state = 32},
  [15] = {.lex_state = 32},
  [16] = {.lex_state = 32},
  [17] = {.lex_state = 32},
  [18] = {.lex_state = 32},
  [19] = {.lex_state = 32},
  [20] = {.lex_state = 32},
  [21] = {.lex_state = 32},
  [22] = {.lex_state = 32},
  [23] = {.lex_state = 32},
  [24] = {.lex_state = 32},
  [25] = {.lex_state = 32},
  [26] = {.lex_state = 32},
  [27] = {.lex_state = 32},
  [28] = {.lex_state = 32},
  [29] = {.lex_state = 32},
  [30] = {.lex_state = 32},
  [31] = {.lex_state = 32},
  [32] = {.lex_state = 32},
  [33] = {.lex_state = 32},
  [34] = {.lex_state = 32},
  [35] = {.lex_state = 32},
  [36] = {.lex_state = 32},
  [37] = {.lex_state = 0},
  [38] = {.lex_state = 0},
  [39] = {.lex_state = 0},
  [40] = {.lex_state = 0},
  [41] = {.lex_state = 0},
  [42] = {.lex_state = 0},
  [43] = {.lex_state = 5},
  [44] = {.lex_state = 5},
  [45] = {.lex_state = 5},
  [46] = {.lex_state = 2},
  [47] = {.lex_state = 2},
  [48] = {.lex_state = 2},
  [49] = {.lex_state = 2},
  [50] = {.lex_state = 2},
  [51] = {.lex_state = 32},
  [52] = {.lex_state = 5},
  [53] = {.lex_state = 5},
  [54] = {.lex_state = 0},
  [55] = {.lex_state = 1},
  [56] = {.lex_state = 0},
  [57] = {.lex_state = 0},
  [58] = {.lex_state = 0},
  [59] = {.lex_state = 0},
  [60] = {.lex_state = 0},
  [61] = {.lex_state = 1},
  [62] = {.lex_state = 1},
  [63] = {.lex_state = 0},
  [64] = {.lex_state = 0},
  [65] = {.lex_state = 1},
  [66] = {.lex_state = 0},
  [67] = {.lex_state = 0},
  [68] = {.lex_state = 0},
  [69] = {.lex_state = 0},
  [70] = {.lex_state = 0},
  [71] = {.lex_state = 0},
  [72] = {.lex_state = 0},
  [73] = {.lex_state = 0},
  [74] = {.lex_state = 0},
  [75] = {.lex_state = 0},
  [76] = {.lex_state = 0},
  [77] = {.lex_state = 0},
  [78] = {.lex_state = 0},
  [79] = {.lex_state = 0},
  [80] = {.lex_state = 0},
  [81] = {.lex_state = 0},
  [82] = {.lex_state = 0},
  [83] = {.lex_state = 0},
  [84] = {.lex_state = 0},
  [85] = {.lex_state = 0},
  [86] = {.lex_state = 0},
  [87] = {.lex_state = 0},
  [88] = {.lex_state = 0},
  [89] = {.lex_state = 0},
  [90] = {.lex_state = 0},
  [91] = {.lex_state = 0},
  [92] = {.lex_state = 0},
  [93] = {.lex_state = 0},
};

static const uint16_t ts_parse_table[LARGE_STATE_COUNT][SYMBOL_COUNT] = {
  [0] = {
    [ts_builtin_sym_end] = ACTIONS(1),
    [anon_sym_SEMI] = ACTIONS(1),
    [anon_sym_COLON_COLON_EQ] = ACTIONS(1),
    [anon_sym_EQ] = ACTIONS(1),
    [anon_sym_PIPE] = ACTIONS(1),
    [anon_sym_COMMA] = ACTIONS(1),
    [anon_sym_QMARK] = ACTIONS(1),
    [anon_sym_STAR] = ACTIONS(1),
    [anon_sym_PLUS] = ACTIONS(1),
    [anon_sym_LBRACE] = ACTIONS(1),
    [anon_sym_RBRACE] = ACTIONS(1),
    [anon_sym_LPAREN] = ACTIONS(1),
    [anon_sym_RPAREN] = ACTIONS(1),
    [anon_sym_LBRACK] = ACTIONS(1),
    [anon_sym_RBRACK] = ACTIONS(1),
    [anon_sym_except_BANG] = ACTIONS(1),
    [anon_sym_SQUOTE] = ACTIONS(1),
    [anon_sym_SQUOTE2] = ACTIONS(1),
    [anon_sym_DQUOTE] = ACTIONS(1),
    [anon_sym_DQUOTE2] = ACTIONS(1),
    [anon_sym_POUND] = ACTIONS(1),
    [anon_sym_POUNDe] = ACTIONS(1),
    [anon_sym_POUNDex] = ACTIONS(1),
    [anon_sym_POUNDsubstrs] = ACTIONS(1),
    [anon_sym_POUNDb] = ACTIONS(1),
    [anon_sym_POUNDtoken] = ACTIONS(1),
    [anon_sym_POUNDtoken_LBRACK] = ACTIONS(1),
    [anon_sym_CARET] = ACTIONS(1),
    [anon_sym_DASH] = ACTIONS(1),
    [sym_escape] = ACTIONS(1),
    [sym_raw_pattern] = ACTIONS(1),
    [sym_name] = ACTIONS(1),
    [sym_number] = ACTIONS(1),
    [sym_comment] = ACTIONS(3),
    [sym__odd_blank] = ACTIONS(1),
  },
  [1] = {
    [sym_source_file] = STATE(80),
    [sym_definition] = STATE(38),
    [sym__unended] = STATE(82),
    [sym__definition] = STATE(74),
    [aux_sym_source_file_repeat1] = STATE(38),
    [ts_builtin_sym_end] = ACTIONS(5),
    [sym_name] = ACTIONS(7),
    [sym_comment] = ACTIONS(3),
    [sym__odd_blank] = ACTIONS(9),
  },
  [2] = {
    [sym_repetition] = STATE(3),
    [sym_count] = STATE(34),
    [sym__primary] = STATE(12),
    [sym_bracket] = STATE(12),
    [sym_exception] = STATE(12),
    [sym_string] = STATE(12),
    [sym_pattern] = STATE(12),
    [sym_substrings] = STATE(12),
    [sym_byte_string] = STATE(12),
    [sym_token_name] = STATE(12),
    [sym_token_set] = STATE(12),
    [aux_sym_sequence_repeat1] = STATE(3),
    [ts_builtin_sym_end] = ACTIONS(11),
    [anon_sym_SEMI] = ACTIONS(11),
    [anon_sym_PIPE] = ACTIONS(11),
    [anon_sym_COMMA] = ACTIONS(13),
    [anon_sym_QMARK] = ACTIONS(15),
    [anon_sym_STAR] = ACTIONS(15),
    [anon_sym_PLUS] = ACTIONS(15),
    [anon_sym_LBRACE] = ACTIONS(17),
    [anon_sym_RBRACE] = ACTIONS(11),
    [anon_sym_LPAREN] = ACTIONS(19),
    [anon_sym_RPAREN] = ACTIONS(11),
    [anon_sym_LBRACK] = ACTIONS(21),
    [anon_sym_RBRACK] = ACTIONS(11),
    [anon_sym_except_BANG] = ACTIONS(23),
    [anon_sym_SQUOTE] = ACTIONS(25),
    [anon_sym_DQUOTE] = ACTIONS(27),
    [anon_sym_POUND] = ACTIONS(29),
    [anon_sym_POUNDe] = ACTIONS(29),
    [anon_sym_POUNDex] = ACTIONS(31),
    [anon_sym_POUNDsubstrs] = ACTIONS(33),
    [anon_sym_POUNDb] = ACTIONS(35),
    [anon_sym_POUNDtoken] = ACTIONS(37),
    [anon_sym_POUNDtoken_LBRACK] = ACTIONS(39),
    [sym_raw_pattern] = ACTIONS(41),
    [sym_name] = ACTIONS(43),
    [sym_comment] = ACTIONS(3),
  },
  [3] = {
    [sym_repetition] = STATE(5),
    [sym__primary] = STATE(12),
    [sym_bracket] = STATE(12),
    [sym_exception] = STATE(12),
    [sym_string] = STATE(12),
    [sym_pattern] = STATE(12),
    [sym_substrings] = STATE(12),
    [sym_byte_string] = STATE(12),
    [sym_token_name] = STATE(12),
    [sym_token_set] = STATE(12),
    [aux_sym_sequence_repeat1] = STATE(5),
    [ts_builtin_sym_end] = ACTIONS(45),
    [anon_sym_SEMI] = ACTIONS(45),
    [anon_sym_PIPE] = ACTIONS(45),
    [anon_sym_COMMA] = ACTIONS(13),
    [anon_sym_LBRACE] = ACTIONS(47),
    [anon_sym_RBRACE] = ACTIONS(45),
    [anon_sym_LPAREN] = ACTIONS(19),
    [anon_sym_RPAREN] = ACTIONS(45),
    [anon_sym_LBRACK] = ACTIONS(21),
    [anon_sym_RBRACK] = ACTIONS(45),
    [anon_sym_except_BANG] = ACTIONS(23),
    [anon_sym_SQUOTE] = ACTIONS(25),
    [anon_sym_DQUOTE] = ACTIONS(27),
    [anon_sym_POUND] = ACTIONS(29),
    [anon_sym_POUNDe] = ACTIONS(29),
    [anon_sym_POUNDex] = ACTIONS(31),
    [anon_sym_POUNDsubstrs] = ACTIONS(33),
    [anon_sym_POUNDb] = ACTIONS(35),
    [anon_sym_POUNDtoken] = ACTIONS(37),
    [anon_sym_POUNDtoken_LBRACK] = ACTIONS(39),
    [sym_raw_pattern] = ACTIONS(41),
    [sym_name] = ACTIONS(43),
    [sym_comment] = ACTIONS(3),
  },
  [4] = {
    [sym_repetition] = STATE(3),
    [sym__primary] = STATE(12),
    [sym_bracket] = STATE(12),
    [sym_exception] = STATE(12),
    [sym_string] = STATE(12),
    [sym_pattern] = STATE(12),
    [sym_substrings] = STATE(12),
    [sym_byte_string] = STATE(12),
    [sym_token_name] = STATE(12),
    [sym_token_set] = STATE(12),
    [aux_sym_sequence_repeat1] = STATE(3),
    [ts_builtin_sym_end] = ACTIONS(11),
    [anon_sym_SEMI] = ACTIONS(11),
    [anon_sym_PIPE] = ACTIONS(11),
    [anon_sym_COMMA] = ACTIONS(13),
    [anon_sym_LBRACE] = ACTIONS(47),
    [anon_sym_RBRACE] = ACTIONS(11),
    [anon_sym_LPAREN] = ACTIONS(19),
    [anon_sym_RPAREN] = ACTIONS(11),
    [anon_sym_LBRACK] = ACTIONS(21),
    [anon_sym_RBRACK] = ACTIONS(11),
    [anon_sym_except_BANG] = ACTIONS(23),
    [anon_sym_SQUOTE] = ACTIONS(25),
    [anon_sym_DQUOTE] = ACTIONS(27),
    [anon_sym_POUND] = ACTIONS(29),
    [anon_sym_POUNDe] = ACTIONS(29),
    [anon_sym_POUNDex] = ACTIONS(31),
    [anon_sym_POUNDsubstrs] = ACTIONS(33),
    [anon_sym_POUNDb] = ACTIONS(35),
    [anon_sym_POUNDtoken] = ACTIONS(37),
    [anon_sym_POUNDtoken_LBRACK] = ACTIONS(39),
    [sym_raw_pattern] = ACTIONS(41),
    [sym_name] = ACTIONS(43),
    [sym_comment] = ACTIONS(3),
  },
  [5] = {
    [sym_repetition] = STATE(5),
    [sym__primary] = STATE(12),
    [sym_bracket] = STATE(12),
    [sym_exception] = STATE(12),
    [sym_string] = STATE(12),
    [sym_pattern] = STATE(12),
    [sym_substrings] = STATE(12),
    [sym_byte_string] = STATE(12),
    [sym_token_name] = STATE(12),
    [sym_token_set] = STATE(12),
    [aux_sym_sequence_repeat1] = STATE(5),
    [ts_builtin_sym_end] = ACTIONS(49),
    [anon_sym_SEMI] = ACTIONS(49),
    [anon_sym_PIPE] = ACTIONS(49),
    [anon_sym_COMMA] = ACTIONS(51),
    [anon_sym_LBRACE] = ACTIONS(54),
    [anon_sym_RBRACE] = ACTIONS(49),
    [anon_sym_LPAREN] = ACTIONS(57),
    [anon_sym_RPAREN] = ACTIONS(49),
    [anon_sym_LBRACK] = ACTIONS(60),
    [anon_sym_RBRACK] = ACTIONS(49),
    [anon_sym_except_BANG] = ACTIONS(63),
    [anon_sym_SQUOTE] = ACTIONS(66),
    [anon_sym_DQUOTE] = ACTIONS(69),
    [anon_sym_POUND] = ACTIONS(72),
    [anon_sym_POUNDe] = ACTIONS(72),
    [anon_sym_POUNDex] = ACTIONS(75),
    [anon_sym_POUNDsubstrs] = ACTIONS(78),
    [anon_sym_POUNDb] = ACTIONS(81),
    [anon_sym_POUNDtoken] = ACTIONS(84),
    [anon_sym_POUNDtoken_LBRACK] = ACTIONS(87),
    [sym_raw_pattern] = ACTIONS(90),
    [sym_name] = ACTIONS(93),
    [sym_comment] = ACTIONS(3),
  },
};

static const uint16_t ts_small_parse_table[] = {
  [0] = 21,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(19), 1,
      anon_sym_LPAREN,
    ACTIONS(21), 1,
      anon_sym_LBRACK,
    ACTIONS(23), 1,
      anon_sym_except_BANG,
    ACTIONS(25), 1,
      anon_sym_SQUOTE,
    ACTIONS(27), 1,
      anon_sym_DQUOTE,
    ACTIONS(31), 1,
      anon_sym_POUNDex,
    ACTIONS(33), 1,
      anon_sym_POUNDsubstrs,
    ACTIONS(35), 1,
      anon_sym_POUNDb,
    ACTIONS(37), 1,
      anon_sym_POUNDtoken,
    ACTIONS(39), 1,
      anon_sym_POUNDtoken_LBRACK,
    ACTIONS(43), 1,
      sym_name,
    ACTIONS(47), 1,
      anon_sym_LBRACE,
    ACTIONS(96), 1,
      anon_sym_COMMA,
    ACTIONS(98), 1,
      sym_raw_pattern,
    ACTIONS(100), 1,
      sym_number,
    STATE(4), 1,
      sym_repetition,
    STATE(37), 1,
      sym_sequence,
    STATE(79), 1,
      sym_alternation,
    ACTIONS(29), 2,
      anon_sym_POUND,
      anon_sym_POUNDe,
    STATE(2), 9,
      sym__primary,
      sym_bracket,
      sym_exception,
      sym_string,
      sym_pattern,
      sym_substrings,
      sym_byte_string,
      sym_token_name,
      sym_token_set,
  [73] = 19,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(19), 1,
      anon_sym_LPAREN,
    ACTIONS(21), 1,
      anon_sym_LBRACK,
    ACTIONS(23), 1,
      anon_sym_except_BANG,
    ACTIONS(25), 1,
      anon_sym_SQUOTE,
    ACTIONS(27), 1,
      anon_sym_DQUOTE,
    ACTIONS(31), 1,
      anon_sym_POUNDex,
    ACTIONS(33), 1,
      anon_sym_POUNDsubstrs,
    ACTIONS(35), 1,
      anon_sym_POUNDb,
    ACTIONS(37), 1,
      anon_sym_POUNDtoken,
    ACTIONS(39), 1,
      anon_sym_POUNDtoken_LBRACK,
    ACTIONS(43), 1,
      sym_name,
    ACTIONS(47), 1,
      anon_sym_LBRACE,
    ACTIONS(98), 1,
      sym_raw_pattern,
    STATE(4), 1,
      sym_repetition,
    STATE(37), 1,
      sym_sequence,
    STATE(93), 1,
      sym_alternation,
    ACTIONS(29), 2,
      anon_sym_POUND,
      anon_sym_POUNDe,
    STATE(2), 9,
      sym__primary,
      sym_bracket,
      sym_exception,
      sym_string,
      sym_pattern,
      sym_substrings,
      sym_byte_string,
      sym_token_name,
      sym_token_set,
  [140] = 19,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(19), 1,
      anon_sym_LPAREN,
    ACTIONS(21), 1,
      anon_sym_LBRACK,
    ACTIONS(23), 1,
      anon_sym_except_BANG,
    ACTIONS(25), 1,
      anon_sym_SQUOTE,
    ACTIONS(27), 1,
      anon_sym_DQUOTE,
    ACTIONS(31), 1,
      anon_sym_POUNDex,
    ACTIONS(33), 1,
      anon_sym_POUNDsubstrs,
    ACTIONS(35), 1,
      anon_sym_POUNDb,
    ACTIONS(37), 1,
      anon_sym_POUNDtoken,
    ACTIONS(39), 1,
      anon_sym_POUNDtoken_LBRACK,
    ACTIONS(43), 1,
      sym_name,
    ACTIONS(47), 1,
      anon_sym_LBRACE,
    ACTIONS(98), 1,
      sym_raw_pattern,
    STATE(4), 1,
      sym_repetition,
    STATE(37), 1,
      sym_sequence,
    STATE(79), 1,
      sym_alternation,
    ACTIONS(29), 2,
      anon_sym_POUND,
      anon_sym_POUNDe,
    STATE(2), 9,
      sym__primary,
      sym_bracket,
      sym_exception,
      sym_string,
      sym_pattern,
      sym_substrings,
      sym_byte_string,
      sym_token_name,
      sym_token_set,
  [207] = 19,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(19), 1,
      anon_sym_LPAREN,
    ACTIONS(21), 1,
      anon_sym_LBRACK,
    ACTIONS(23), 1,
      anon_sym_except_BANG,
    ACTIONS(25), 1,
      anon_sym_SQUOTE,
    ACTIONS(27), 1,
      anon_sym_DQUOTE,
    ACTIONS(31), 1,
      anon_sym_POUNDex,
    ACTIONS(33), 1,
      anon_sym_POUNDsubstrs,
    ACTIONS(35), 1,
      anon_sym_POUNDb,
    ACTIONS(37), 1,
      anon_sym_POUNDtoken,
    ACTIONS(39), 1,
      anon_sym_POUNDtoken_LBRACK,
    ACTIONS(43), 1,
      sym_name,
    ACTIONS(47), 1,
      anon_sym_LBRACE,
    ACTIONS(98), 1,
      sym_raw_pattern,
    STATE(4), 1,
      sym_repetition,
    STATE(37), 1,
      sym_sequence,
    STATE(77), 1,
      sym_alternation,
    ACTIONS(29), 2,
      anon_sym_POUND,
      anon_sym_POUNDe,
    STATE(2), 9,
      sym__primary,
      sym_bracket,
      sym_exception,
      sym_string,
      sym_pattern,
      sym_substrings,
      sym_byte_string,
      sym_token_name,
      sym_token_set,
  [274] = 19,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(19), 1,
      anon_sym_LPAREN,
    ACTIONS(21), 1,
      anon_sym_LBRACK,
    ACTIONS(23), 1,
      anon_sym_except_BANG,
    ACTIONS(25), 1,
      anon_sym_SQUOTE,
    ACTIONS(27), 1,
      anon_sym_DQUOTE,
    ACTIONS(31), 1,
      anon_sym_POUNDex,
    ACTIONS(33), 1,
      anon_sym_POUNDsubstrs,
    ACTIONS(35), 1,
      anon_sym_POUNDb,
    ACTIONS(37), 1,
      anon_sym_POUNDtoken,
    ACTIONS(39), 1,
      anon_sym_POUNDtoken_LBRACK,
    ACTIONS(43), 1,
      sym_name,
    ACTIONS(47), 1,
      anon_sym_LBRACE,
    ACTIONS(98), 1,
      sym_raw_pattern,
    STATE(4), 1,
      sym_repetition,
    STATE(37), 1,
      sym_sequence,
    STATE(85), 1,
      sym_alternation,
    ACTIONS(29), 2,
      anon_sym_POUND,
      anon_sym_POUNDe,
    STATE(2), 9,
      sym__primary,
      sym_bracket,
      sym_exception,
      sym_string,
      sym_pattern,
      sym_substrings,
      sym_byte_string,
      sym_token_name,
      sym_token_set,
  [341] = 18,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(19), 1,
      anon_sym_LPAREN,
    ACTIONS(21), 1,
      anon_sym_LBRACK,
    ACTIONS(23), 1,
      anon_sym_except_BANG,
    ACTIONS(25), 1,
      anon_sym_SQUOTE,
    ACTIONS(27), 1,
      anon_sym_DQUOTE,
    ACTIONS(31), 1,
      anon_sym_POUNDex,
    ACTIONS(33), 1,
      anon_sym_POUNDsubstrs,
    ACTIONS(35), 1,
      anon_sym_POUNDb,
    ACTIONS(37), 1,
      anon_sym_POUNDtoken,
    ACTIONS(39), 1,
      anon_sym_POUNDtoken_LBRACK,
    ACTIONS(43), 1,
      sym_name,
    ACTIONS(47), 1,
      anon_sym_LBRACE,
    ACTIONS(98), 1,
      sym_raw_pattern,
    STATE(4), 1,
      sym_repetition,
    STATE(41), 1,
      sym_sequence,
    ACTIONS(29), 2,
      anon_sym_POUND,
      anon_sym_POUNDe,
    STATE(2), 9,
      sym__primary,
      sym_bracket,
      sym_exception,
      sym_string,
      sym_pattern,
      sym_substrings,
      sym_byte_string,
      sym_token_name,
      sym_token_set,
  [405] = 6,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(104), 1,
      anon_sym_LBRACE,
    STATE(34), 1,
      sym_count,
    ACTIONS(15), 3,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
    ACTIONS(107), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(102), 16,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [445] = 6,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(109), 1,
      anon_sym_LBRACE,
    STATE(34), 1,
      sym_count,
    ACTIONS(15), 3,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
    ACTIONS(112), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(49), 16,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [485] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(116), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(114), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [518] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(120), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(118), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [551] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(124), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(122), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [584] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(128), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(126), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [617] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(132), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(130), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [650] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(136), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(134), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [683] = 17,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(19), 1,
      anon_sym_LPAREN,
    ACTIONS(21), 1,
      anon_sym_LBRACK,
    ACTIONS(23), 1,
      anon_sym_except_BANG,
    ACTIONS(25), 1,
      anon_sym_SQUOTE,
    ACTIONS(27), 1,
      anon_sym_DQUOTE,
    ACTIONS(31), 1,
      anon_sym_POUNDex,
    ACTIONS(33), 1,
      anon_sym_POUNDsubstrs,
    ACTIONS(35), 1,
      anon_sym_POUNDb,
    ACTIONS(37), 1,
      anon_sym_POUNDtoken,
    ACTIONS(39), 1,
      anon_sym_POUNDtoken_LBRACK,
    ACTIONS(43), 1,
      sym_name,
    ACTIONS(47), 1,
      anon_sym_LBRACE,
    ACTIONS(138), 1,
      sym_raw_pattern,
    STATE(33), 1,
      sym_repetition,
    ACTIONS(29), 2,
      anon_sym_POUND,
      anon_sym_POUNDe,
    STATE(13), 9,
      sym__primary,
      sym_bracket,
      sym_exception,
      sym_string,
      sym_pattern,
      sym_substrings,
      sym_byte_string,
      sym_token_name,
      sym_token_set,
  [744] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(142), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(140), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [777] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(146), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(144), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [810] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(150), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(148), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [843] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(154), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(152), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [876] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(158), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(156), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [909] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(162), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(160), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [942] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(166), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(164), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [975] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(170), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(168), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [1008] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(174), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(172), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [1041] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(178), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(176), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [1074] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(182), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(180), 20,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_QMARK,
      anon_sym_STAR,
      anon_sym_PLUS,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [1107] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(186), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(184), 17,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [1137] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(112), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(49), 17,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [1167] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(190), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(188), 17,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [1197] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(194), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(192), 17,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [1227] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(198), 5,
      anon_sym_LPAREN,
      anon_sym_POUND,
      anon_sym_POUNDe,
      anon_sym_POUNDtoken,
      sym_name,
    ACTIONS(196), 17,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_COMMA,
      anon_sym_LBRACE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_LBRACK,
      anon_sym_RBRACK,
      anon_sym_except_BANG,
      anon_sym_SQUOTE,
      anon_sym_DQUOTE,
      anon_sym_POUNDex,
      anon_sym_POUNDsubstrs,
      anon_sym_POUNDb,
      anon_sym_POUNDtoken_LBRACK,
      sym_raw_pattern,
  [1257] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(202), 1,
      anon_sym_PIPE,
    STATE(40), 1,
      aux_sym_alternation_repeat1,
    ACTIONS(200), 5,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_RBRACK,
  [1274] = 7,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(7), 1,
      sym_name,
    ACTIONS(204), 1,
      ts_builtin_sym_end,
    ACTIONS(206), 1,
      sym__odd_blank,
    STATE(74), 1,
      sym__definition,
    STATE(92), 1,
      sym__unended,
    STATE(42), 2,
      sym_definition,
      aux_sym_source_file_repeat1,
  [1297] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(210), 1,
      anon_sym_PIPE,
    STATE(39), 1,
      aux_sym_alternation_repeat1,
    ACTIONS(208), 5,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_RBRACK,
  [1314] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(202), 1,
      anon_sym_PIPE,
    STATE(39), 1,
      aux_sym_alternation_repeat1,
    ACTIONS(213), 5,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_RBRACK,
  [1331] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(208), 6,
      ts_builtin_sym_end,
      anon_sym_SEMI,
      anon_sym_PIPE,
      anon_sym_RBRACE,
      anon_sym_RPAREN,
      anon_sym_RBRACK,
  [1343] = 6,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(215), 1,
      ts_builtin_sym_end,
    ACTIONS(217), 1,
      sym_name,
    ACTIONS(220), 1,
      sym__odd_blank,
    STATE(83), 1,
      sym__definition,
    STATE(42), 2,
      sym_definition,
      aux_sym_source_file_repeat1,
  [1363] = 4,
    ACTIONS(225), 1,
      anon_sym_SQUOTE2,
    ACTIONS(227), 1,
      sym_comment,
    STATE(52), 1,
      aux_sym_string_repeat1,
    ACTIONS(223), 2,
      aux_sym_string_token1,
      sym_escape,
  [1377] = 4,
    ACTIONS(227), 1,
      sym_comment,
    ACTIONS(232), 1,
      anon_sym_SQUOTE2,
    STATE(44), 1,
      aux_sym_string_repeat1,
    ACTIONS(229), 2,
      aux_sym_string_token1,
      sym_escape,
  [1391] = 4,
    ACTIONS(227), 1,
      sym_comment,
    ACTIONS(236), 1,
      anon_sym_SQUOTE2,
    STATE(44), 1,
      aux_sym_string_repeat1,
    ACTIONS(234), 2,
      aux_sym_string_token1,
      sym_escape,
  [1405] = 4,
    ACTIONS(227), 1,
      sym_comment,
    ACTIONS(236), 1,
      anon_sym_DQUOTE2,
    STATE(48), 1,
      aux_sym_string_repeat2,
    ACTIONS(238), 2,
      aux_sym_string_token2,
      sym_escape,
  [1419] = 4,
    ACTIONS(227), 1,
      sym_comment,
    ACTIONS(242), 1,
      anon_sym_DQUOTE2,
    STATE(46), 1,
      aux_sym_string_repeat2,
    ACTIONS(240), 2,
      aux_sym_string_token2,
      sym_escape,
  [1433] = 4,
    ACTIONS(227), 1,
      sym_comment,
    ACTIONS(247), 1,
      anon_sym_DQUOTE2,
    STATE(48), 1,
      aux_sym_string_repeat2,
    ACTIONS(244), 2,
      aux_sym_string_token2,
      sym_escape,
  [1447] = 4,
    ACTIONS(225), 1,
      anon_sym_DQUOTE2,
    ACTIONS(227), 1,
      sym_comment,
    STATE(50), 1,
      aux_sym_string_repeat2,
    ACTIONS(249), 2,
      aux_sym_string_token2,
      sym_escape,
  [1461] = 4,
    ACTIONS(227), 1,
      sym_comment,
    ACTIONS(251), 1,
      anon_sym_DQUOTE2,
    STATE(48), 1,
      aux_sym_string_repeat2,
    ACTIONS(238), 2,
      aux_sym_string_token2,
      sym_escape,
  [1475] = 5,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(25), 1,
      anon_sym_SQUOTE,
    ACTIONS(27), 1,
      anon_sym_DQUOTE,
    ACTIONS(253), 1,
      sym_name,
    STATE(76), 1,
      sym_string,
  [1491] = 4,
    ACTIONS(227), 1,
      sym_comment,
    ACTIONS(251), 1,
      anon_sym_SQUOTE2,
    STATE(44), 1,
      aux_sym_string_repeat1,
    ACTIONS(234), 2,
      aux_sym_string_token1,
      sym_escape,
  [1505] = 4,
    ACTIONS(227), 1,
      sym_comment,
    ACTIONS(242), 1,
      anon_sym_SQUOTE2,
    STATE(45), 1,
      aux_sym_string_repeat1,
    ACTIONS(255), 2,
      aux_sym_string_token1,
      sym_escape,
  [1519] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(257), 1,
      anon_sym_COMMA,
    ACTIONS(260), 1,
      anon_sym_RBRACK,
    STATE(54), 1,
      aux_sym_token_set_repeat1,
  [1532] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(262), 1,
      anon_sym_SQUOTE2,
    ACTIONS(264), 1,
      anon_sym_DQUOTE2,
    STATE(21), 1,
      sym__close_string,
  [1545] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(266), 1,
      anon_sym_COMMA,
    ACTIONS(268), 1,
      anon_sym_RBRACK,
    STATE(60), 1,
      aux_sym_token_set_repeat1,
  [1558] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(266), 1,
      anon_sym_COMMA,
    ACTIONS(270), 1,
      anon_sym_RBRACK,
    STATE(63), 1,
      aux_sym_token_set_repeat1,
  [1571] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(274), 1,
      anon_sym_DASH,
    ACTIONS(272), 2,
      anon_sym_COMMA,
      anon_sym_RBRACK,
  [1582] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(276), 3,
      ts_builtin_sym_end,
      sym_name,
      sym__odd_blank,
  [1591] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(266), 1,
      anon_sym_COMMA,
    ACTIONS(270), 1,
      anon_sym_RBRACK,
    STATE(54), 1,
      aux_sym_token_set_repeat1,
  [1604] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(262), 1,
      anon_sym_SQUOTE2,
    ACTIONS(264), 1,
      anon_sym_DQUOTE2,
    STATE(18), 1,
      sym__close_string,
  [1617] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(262), 1,
      anon_sym_SQUOTE2,
    ACTIONS(264), 1,
      anon_sym_DQUOTE2,
    STATE(19), 1,
      sym__close_string,
  [1630] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(266), 1,
      anon_sym_COMMA,
    ACTIONS(278), 1,
      anon_sym_RBRACK,
    STATE(54), 1,
      aux_sym_token_set_repeat1,
  [1643] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(280), 1,
      anon_sym_CARET,
    ACTIONS(282), 1,
      sym_number,
    STATE(56), 1,
      sym_token_range,
  [1656] = 4,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(262), 1,
      anon_sym_SQUOTE2,
    ACTIONS(264), 1,
      anon_sym_DQUOTE2,
    STATE(16), 1,
      sym__close_string,
  [1669] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(282), 1,
      sym_number,
    STATE(71), 1,
      sym_token_range,
  [1679] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(284), 2,
      anon_sym_COLON_COLON_EQ,
      anon_sym_EQ,
  [1687] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(282), 1,
      sym_number,
    STATE(57), 1,
      sym_token_range,
  [1697] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(96), 1,
      anon_sym_COMMA,
    ACTIONS(100), 1,
      sym_number,
  [1707] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(286), 1,
      anon_sym_COMMA,
    ACTIONS(288), 1,
      anon_sym_RBRACE,
  [1717] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(260), 2,
      anon_sym_COMMA,
      anon_sym_RBRACK,
  [1725] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(290), 2,
      anon_sym_COMMA,
      anon_sym_RBRACK,
  [1733] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(292), 1,
      anon_sym_RBRACE,
    ACTIONS(294), 1,
      sym_number,
  [1743] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(296), 1,
      ts_builtin_sym_end,
    ACTIONS(298), 1,
      anon_sym_SEMI,
  [1753] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(300), 1,
      anon_sym_COMMA,
    ACTIONS(302), 1,
      anon_sym_RPAREN,
  [1763] = 3,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(304), 1,
      anon_sym_COMMA,
    ACTIONS(306), 1,
      anon_sym_RPAREN,
  [1773] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(308), 2,
      ts_builtin_sym_end,
      anon_sym_SEMI,
  [1781] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(292), 1,
      anon_sym_RBRACE,
  [1788] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(310), 1,
      anon_sym_RBRACE,
  [1795] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(312), 1,
      ts_builtin_sym_end,
  [1802] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(314), 1,
      sym_number,
  [1809] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(316), 1,
      ts_builtin_sym_end,
  [1816] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(298), 1,
      anon_sym_SEMI,
  [1823] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(318), 1,
      sym_number,
  [1830] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(310), 1,
      anon_sym_RBRACK,
  [1837] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(320), 1,
      anon_sym_RPAREN,
  [1844] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(322), 1,
      anon_sym_RPAREN,
  [1851] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(324), 1,
      anon_sym_LPAREN,
  [1858] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(326), 1,
      sym_number,
  [1865] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(328), 1,
      anon_sym_RBRACE,
  [1872] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(330), 1,
      sym_number,
  [1879] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(332), 1,
      ts_builtin_sym_end,
  [1886] = 2,
    ACTIONS(3), 1,
      sym_comment,
    ACTIONS(310), 1,
      anon_sym_RPAREN,
};

static const uint32_t ts_small_parse_table_map[] = {
  [SMALL_STATE(6)] = 0,
  [SMALL_STATE(7)] = 73,
  [SMALL_STATE(8)] = 140,
  [SMALL_STATE(9)] = 207,
  [SMALL_STATE(10)] = 274,
  [SMALL_STATE(11)] = 341,
  [SMALL_STATE(12)] = 405,
  [SMALL_STATE(13)] = 445,
  [SMALL_STATE(14)] = 485,
  [SMALL_STATE(15)] = 518,
  [SMALL_STATE(16)] = 551,
  [SMALL_STATE(17)] = 584,
  [SMALL_STATE(18)] = 617,
  [SMALL_STATE(19)] = 650,
  [SMALL_STATE(20)] = 683,
  [SMALL_STATE(21)] = 744,
  [SMALL_STATE(22)] = 777,
  [SMALL_STATE(23)] = 810,
  [SMALL_STATE(24)] = 843,
  [SMALL_STATE(25)] = 876,
  [SMALL_STATE(26)] = 909,
  [SMALL_STATE(27)] = 942,
  [SMALL_STATE(28)] = 975,
  [SMALL_STATE(29)] = 1008,
  [SMALL_STATE(30)] = 1041,
  [SMALL_STATE(31)] = 1074,
  [SMALL_STATE(32)] = 1107,
  [SMALL_STATE(33)] = 1137,
  [SMALL_STATE(34)] = 1167,
  [SMALL_STATE(35)] = 1197,
  [SMALL_STATE(36)] = 1227,
  [SMALL_STATE(37)] = 1257,
  [SMALL_STATE(38)] = 1274,
  [SMALL_STATE(39)] = 1297,
  [SMALL_STATE(40)] = 1314,
  [SMALL_STATE(41)] = 1331,
  [SMALL_STATE(42)] = 1343,
  [SMALL_STATE(43)] = 1363,
  [SMALL_STATE(44)] = 1377,
  [SMALL_STATE(45)] = 1391,
  [SMALL_STATE(46)] = 1405,
  [SMALL_STATE(47)] = 1419,
  [SMALL_STATE(48)] = 1433,
  [SMALL_STATE(49)] = 1447,
  [SMALL_STATE(50)] = 1461,
  [SMALL_STATE(51)] = 1475,
  [SMALL_STATE(52)] = 1491,
  [SMALL_STATE(53)] = 1505,
  [SMALL_STATE(54)] = 1519,
  [SMALL_STATE(55)] = 1532,
  [SMALL_STATE(56)] = 1545,
  [SMALL_STATE(57)] = 1558,
  [SMALL_STATE(58)] = 1571,
  [SMALL_STATE(59)] = 1582,
  [SMALL_STATE(60)] = 1591,
  [SMALL_STATE(61)] = 1604,
  [SMALL_STATE(62)] = 1617,
  [SMALL_STATE(63)] = 1630,
  [SMALL_STATE(64)] = 1643,
  [SMALL_STATE(65)] = 1656,
  [SMALL_STATE(66)] = 1669,
  [SMALL_STATE(67)] = 1679,
  [SMALL_STATE(68)] = 1687,
  [SMALL_STATE(69)] = 1697,
  [SMALL_STATE(70)] = 1707,
  [SMALL_STATE(71)] = 1717,
  [SMALL_STATE(72)] = 1725,
  [SMALL_STATE(73)] = 1733,
  [SMALL_STATE(74)] = 1743,
  [SMALL_STATE(75)] = 1753,
  [SMALL_STATE(76)] = 1763,
  [SMALL_STATE(77)] = 1773,
  [SMALL_STATE(78)] = 1781,
  [SMALL_STATE(79)] = 1788,
  [SMALL_STATE(80)] = 1795,
  [SMALL_STATE(81)] = 1802,
  [SMALL_STATE(82)] = 1809,
  [SMALL_STATE(83)] = 1816,
  [SMALL_STATE(84)] = 1823,
  [SMALL_STATE(85)] = 1830,
  [SMALL_STATE(86)] = 1837,
  [SMALL_STATE(87)] = 1844,
  [SMALL_STATE(88)] = 1851,
  [SMALL_STATE(89)] = 1858,
  [SMALL_STATE(90)] = 1865,
  [SMALL_STATE(91)] = 1872,
  [SMALL_STATE(92)] = 1879,
  [SMALL_STATE(93)] = 1886,
};

static const TSParseActionEntry ts_parse_actions[] = {
  [0] = {.entry = {.count = 0, .reusable = false}},
  [1] = {.entry = {.count = 1, .reusable = false}}, RECOVER(),
  [3] = {.entry = {.count = 1, .reusable = true}}, SHIFT_EXTRA(),
  [5] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_source_file, 0),
  [7] = {.entry = {.count = 1, .reusable = true}}, SHIFT(67),
  [9] = {.entry = {.count = 1, .reusable = true}}, SHIFT(38),
  [11] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_sequence, 1),
  [13] = {.entry = {.count = 1, .reusable = true}}, SHIFT(20),
  [15] = {.entry = {.count = 1, .reusable = true}}, SHIFT(34),
  [17] = {.entry = {.count = 1, .reusable = true}}, SHIFT(6),
  [19] = {.entry = {.count = 1, .reusable = false}}, SHIFT(7),
  [21] = {.entry = {.count = 1, .reusable = true}}, SHIFT(10),
  [23] = {.entry = {.count = 1, .reusable = true}}, SHIFT(88),
  [25] = {.entry = {.count = 1, .reusable = true}}, SHIFT(43),
  [27] = {.entry = {.count = 1, .reusable = true}}, SHIFT(49),
  [29] = {.entry = {.count = 1, .reusable = false}}, SHIFT(65),
  [31] = {.entry = {.count = 1, .reusable = true}}, SHIFT(65),
  [33] = {.entry = {.count = 1, .reusable = true}}, SHIFT(55),
  [35] = {.entry = {.count = 1, .reusable = true}}, SHIFT(61),
  [37] = {.entry = {.count = 1, .reusable = false}}, SHIFT(62),
  [39] = {.entry = {.count = 1, .reusable = true}}, SHIFT(64),
  [41] = {.entry = {.count = 1, .reusable = true}}, SHIFT(12),
  [43] = {.entry = {.count = 1, .reusable = false}}, SHIFT(14),
  [45] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_sequence, 2),
  [47] = {.entry = {.count = 1, .reusable = true}}, SHIFT(8),
  [49] = {.entry = {.count = 1, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2),
  [51] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(20),
  [54] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(8),
  [57] = {.entry = {.count = 2, .reusable = false}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(7),
  [60] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(10),
  [63] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(88),
  [66] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(43),
  [69] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(49),
  [72] = {.entry = {.count = 2, .reusable = false}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(65),
  [75] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(65),
  [78] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(55),
  [81] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(61),
  [84] = {.entry = {.count = 2, .reusable = false}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(62),
  [87] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(64),
  [90] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(12),
  [93] = {.entry = {.count = 2, .reusable = false}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT_REPEAT(14),
  [96] = {.entry = {.count = 1, .reusable = true}}, SHIFT(81),
  [98] = {.entry = {.count = 1, .reusable = true}}, SHIFT(2),
  [100] = {.entry = {.count = 1, .reusable = true}}, SHIFT(70),
  [102] = {.entry = {.count = 1, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 1),
  [104] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 1), SHIFT(69),
  [107] = {.entry = {.count = 1, .reusable = false}}, REDUCE(aux_sym_sequence_repeat1, 1),
  [109] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_sequence_repeat1, 2), SHIFT(69),
  [112] = {.entry = {.count = 1, .reusable = false}}, REDUCE(aux_sym_sequence_repeat1, 2),
  [114] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym__primary, 1, .production_id = 3),
  [116] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym__primary, 1, .production_id = 3),
  [118] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_exception, 6),
  [120] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_exception, 6),
  [122] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_pattern, 2),
  [124] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_pattern, 2),
  [126] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_string, 2),
  [128] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_string, 2),
  [130] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_byte_string, 2),
  [132] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_byte_string, 2),
  [134] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_token_name, 2),
  [136] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_token_name, 2),
  [138] = {.entry = {.count = 1, .reusable = true}}, SHIFT(13),
  [140] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_substrings, 2),
  [142] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_substrings, 2),
  [144] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_bracket, 3),
  [146] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_bracket, 3),
  [148] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym__close_string, 2),
  [150] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym__close_string, 2),
  [152] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_token_set, 3),
  [154] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_token_set, 3),
  [156] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_string, 3),
  [158] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_string, 3),
  [160] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_exception, 4, .production_id = 6),
  [162] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_exception, 4, .production_id = 6),
  [164] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_exception, 4),
  [166] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_exception, 4),
  [168] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym__close_string, 3),
  [170] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym__close_string, 3),
  [172] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_token_set, 4),
  [174] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_token_set, 4),
  [176] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_token_set, 5),
  [178] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_token_set, 5),
  [180] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_exception, 6, .production_id = 6),
  [182] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_exception, 6, .production_id = 6),
  [184] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_count, 5),
  [186] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_count, 5),
  [188] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_repetition, 2, .production_id = 5),
  [190] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_repetition, 2, .production_id = 5),
  [192] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_count, 4),
  [194] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_count, 4),
  [196] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_count, 3),
  [198] = {.entry = {.count = 1, .reusable = false}}, REDUCE(sym_count, 3),
  [200] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_alternation, 1),
  [202] = {.entry = {.count = 1, .reusable = true}}, SHIFT(11),
  [204] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_source_file, 1),
  [206] = {.entry = {.count = 1, .reusable = true}}, SHIFT(42),
  [208] = {.entry = {.count = 1, .reusable = true}}, REDUCE(aux_sym_alternation_repeat1, 2),
  [210] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_alternation_repeat1, 2), SHIFT_REPEAT(11),
  [213] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_alternation, 2),
  [215] = {.entry = {.count = 1, .reusable = true}}, REDUCE(aux_sym_source_file_repeat1, 2),
  [217] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_source_file_repeat1, 2), SHIFT_REPEAT(67),
  [220] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_source_file_repeat1, 2), SHIFT_REPEAT(42),
  [223] = {.entry = {.count = 1, .reusable = true}}, SHIFT(52),
  [225] = {.entry = {.count = 1, .reusable = true}}, SHIFT(17),
  [227] = {.entry = {.count = 1, .reusable = false}}, SHIFT_EXTRA(),
  [229] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_string_repeat1, 2), SHIFT_REPEAT(44),
  [232] = {.entry = {.count = 1, .reusable = true}}, REDUCE(aux_sym_string_repeat1, 2),
  [234] = {.entry = {.count = 1, .reusable = true}}, SHIFT(44),
  [236] = {.entry = {.count = 1, .reusable = true}}, SHIFT(28),
  [238] = {.entry = {.count = 1, .reusable = true}}, SHIFT(48),
  [240] = {.entry = {.count = 1, .reusable = true}}, SHIFT(46),
  [242] = {.entry = {.count = 1, .reusable = true}}, SHIFT(23),
  [244] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_string_repeat2, 2), SHIFT_REPEAT(48),
  [247] = {.entry = {.count = 1, .reusable = true}}, REDUCE(aux_sym_string_repeat2, 2),
  [249] = {.entry = {.count = 1, .reusable = true}}, SHIFT(50),
  [251] = {.entry = {.count = 1, .reusable = true}}, SHIFT(25),
  [253] = {.entry = {.count = 1, .reusable = true}}, SHIFT(75),
  [255] = {.entry = {.count = 1, .reusable = true}}, SHIFT(45),
  [257] = {.entry = {.count = 2, .reusable = true}}, REDUCE(aux_sym_token_set_repeat1, 2), SHIFT_REPEAT(66),
  [260] = {.entry = {.count = 1, .reusable = true}}, REDUCE(aux_sym_token_set_repeat1, 2),
  [262] = {.entry = {.count = 1, .reusable = true}}, SHIFT(53),
  [264] = {.entry = {.count = 1, .reusable = true}}, SHIFT(47),
  [266] = {.entry = {.count = 1, .reusable = true}}, SHIFT(66),
  [268] = {.entry = {.count = 1, .reusable = true}}, SHIFT(24),
  [270] = {.entry = {.count = 1, .reusable = true}}, SHIFT(29),
  [272] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_token_range, 1),
  [274] = {.entry = {.count = 1, .reusable = true}}, SHIFT(91),
  [276] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_definition, 2, .production_id = 1),
  [278] = {.entry = {.count = 1, .reusable = true}}, SHIFT(30),
  [280] = {.entry = {.count = 1, .reusable = true}}, SHIFT(68),
  [282] = {.entry = {.count = 1, .reusable = true}}, SHIFT(58),
  [284] = {.entry = {.count = 1, .reusable = true}}, SHIFT(9),
  [286] = {.entry = {.count = 1, .reusable = true}}, SHIFT(73),
  [288] = {.entry = {.count = 1, .reusable = true}}, SHIFT(36),
  [290] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_token_range, 3),
  [292] = {.entry = {.count = 1, .reusable = true}}, SHIFT(35),
  [294] = {.entry = {.count = 1, .reusable = true}}, SHIFT(90),
  [296] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym__unended, 1, .production_id = 1),
  [298] = {.entry = {.count = 1, .reusable = true}}, SHIFT(59),
  [300] = {.entry = {.count = 1, .reusable = true}}, SHIFT(84),
  [302] = {.entry = {.count = 1, .reusable = true}}, SHIFT(26),
  [304] = {.entry = {.count = 1, .reusable = true}}, SHIFT(89),
  [306] = {.entry = {.count = 1, .reusable = true}}, SHIFT(27),
  [308] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym__definition, 3, .production_id = 4),
  [310] = {.entry = {.count = 1, .reusable = true}}, SHIFT(22),
  [312] = {.entry = {.count = 1, .reusable = true}},  ACCEPT_INPUT(),
  [314] = {.entry = {.count = 1, .reusable = true}}, SHIFT(78),
  [316] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_source_file, 1, .production_id = 1),
  [318] = {.entry = {.count = 1, .reusable = true}}, SHIFT(86),
  [320] = {.entry = {.count = 1, .reusable = true}}, SHIFT(31),
  [322] = {.entry = {.count = 1, .reusable = true}}, SHIFT(15),
  [324] = {.entry = {.count = 1, .reusable = false}}, SHIFT(51),
  [326] = {.entry = {.count = 1, .reusable = true}}, SHIFT(87),
  [328] = {.entry = {.count = 1, .reusable = true}}, SHIFT(32),
  [330] = {.entry = {.count = 1, .reusable = true}}, SHIFT(72),
  [332] = {.entry = {.count = 1, .reusable = true}}, REDUCE(sym_source_file, 2, .production_id = 2),
};

#ifdef __cplusplus
extern "C" {
#endif
#ifdef _WIN32
#define extern __declspec(dllexport)
#endif

extern const TSLanguage *tree_sitter_kbnf(void) {
  static const TSLanguage language = {
    .version = LANGUAGE_VERSION,
    .symbol_count = SYMBOL_COUNT,
    .alias_count = ALIAS_COUNT,
    .token_count = TOKEN_COUNT,
    .external_token_count = EXTERNAL_TOKEN_COUNT,
    .state_count = STATE_COUNT,
    .large_state_count = LARGE_STATE_COUNT,
    .production_id_count = PRODUCTION_ID_COUNT,
    .field_count = FIELD_COUNT,
    .max_alias_sequence_length = MAX_ALIAS_SEQUENCE_LENGTH,
    .parse_table = &ts_parse_table[0][0],
    .small_parse_table = ts_small_parse_table,
    .small_parse_table_map = ts_small_parse_table_map,
    .parse_actions = ts_parse_actions,
    .symbol_names = ts_symbol_names,
    .field_names = ts_field_names,
    .field_map_slices = ts_field_map_slices,
    .field_map_entries = ts_field_map_entries,
    .symbol_metadata = ts_symbol_metadata,
    .public_symbol_map = ts_symbol_map,
    .alias_map = ts_non_terminal_alias_map,
    .alias_sequences = &ts_alias_sequences[0][0],
    .lex_modes = ts_lex_modes,
    .lex_fn = ts_lex,
    .primary_state_ids = ts_primary_state_ids,
  };
  return &language;
}
#ifdef __cplusplus
}
#endif
