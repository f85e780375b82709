"""The formats of JSON Schema as rules, for texts that people read.

They have the languages of ``formats``, spelt as JSON strings; a test compares the automata. The
first rule that a name is looked up by is the format's, with its quotes.
"""

from functools import cache

from kbnf_core.kbnf import tree
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.languages.json_schema.formats import ATOM_CHARACTERS, PORT, formats_of
from kbnf_core.languages.json_schema.options import Formats, Standard
from kbnf_core.languages.json_schema.regex_syntax import RULES
from kbnf_core.text.source import Source


def _leap_seconds() -> str:
    """Return the times that are 23:59:60 in UTC, a line for each hour of local time."""
    lines = []
    for hour in range(24):
        east, west = (hour + 1) % 24, 23 - hour
        whole = rf"59:60(?:\.[0-9]+)?(?:\+{east:02}|-{west:02}):00"
        half = rf"29:60(?:\.[0-9]+)?(?:\+{hour:02}|-{west:02}):30"
        lines.append(f"#r'{hour:02}:(?:{whole}|{half})'")
    return " | ".join(lines)


def _ipv6() -> str:
    """Return the forms of an address: as many groups before `::` as are left out behind it."""
    lines = ["(group ':'){6} last_groups", "'::' (group ':'){5} last_groups"]
    for before in range(5):
        head = "group?" if before == 0 else f"((group ':'){{0,{before}}} group)?"
        tail = f"(group ':'){{{4 - before}}} " if before < 3 else "group ':' " if before < 4 else ""
        lines.append(f"{head} '::' {tail}last_groups")
    lines += ["((group ':'){0,5} group)? '::' group", "((group ':'){0,6} group)? '::'"]
    return " | ".join(lines)


_TEXT = rf"""
date_string ::= '"' full_date '"';
time_string ::= '"' full_time '"';
time_of_day ::= #'(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]';

duration_string ::= '"P' (days clock? | clock | some 'W') '"';
days ::= some 'D' | some 'M' (some 'D')? | some 'Y' (some 'M' (some 'D')?)?;
clock ::= 'T' (some 'H' (some 'M' (some 'S')?)? | some 'M' (some 'S')? | some 'S');

hostname_string ::= '"' domain '"';
ipv4_string ::= '"' ipv4 '"';
ipv6_string ::= '"' ipv6 '"';
ipv4 ::= octet ('.' octet){{3}};
octet ::= #'25[0-5]|2[0-4][0-9]|1[0-9]{{2}}|[1-9]?[0-9]';
ipv6 ::= {_ipv6()};
group ::= #'[0-9A-Fa-f]{{1,4}}';
last_groups ::= group ':' group | ipv4;
domain ::= label ('.' label)*;
label ::= #'[A-Za-z0-9](?:[A-Za-z0-9-]{{0,61}}[A-Za-z0-9])?';

uuid_string ::= #'"[0-9A-Fa-f]{{8}}-(?:[0-9A-Fa-f]{{4}}-){{3}}[0-9A-Fa-f]{{12}}"';

uri_reference_string ::= '"' (uri | relative_reference) '"';
uri ::= scheme ':' (rooted_path | path_segment ('/' path_character*)*)? query? fragment_part?;
relative_reference ::=
    (rooted_path | first_segment ('/' path_character*)*)? query? fragment_part?;
scheme ::= #'[A-Za-z][A-Za-z0-9+.-]*';
rooted_path ::= '//' authority ('/' path_character*)* | '/' (path_segment ('/' path_character*)*)?;
authority ::= (user '@')? (ip_literal | host_name) (':' port)?;
user ::= #r"(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{{2}})*";
host_name ::= #r"(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{{2}})*";
ip_literal ::= '[' (ipv6 | #r"[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+") ']';
path_segment ::= path_character+;
first_segment ::= #r"(?:[A-Za-z0-9._~!$&'()*+,;=@-]|%[0-9A-Fa-f]{{2}})+";
path_character ::= #r"[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{{2}}";
query ::= '?' (path_character | #'[/?]')*;
fragment_part ::= '#' (path_character | #'[/?]')*;
"""

_PLAIN = rf"""
date_time_string ::= '"' full_date 'T' full_time '"';
full_date ::=
    year '-' ( #'(?:0[13578]|1[02])-31|(?:0[13-9]|1[0-2])-(?:29|30)'
             | #'(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])' )
  | leap_year '-02-29';
year ::= #'[1-9][0-9]{{3}}|0[1-9][0-9]{{2}}|00[1-9][0-9]|000[1-9]';
leap_year ::= #'[0-9]{{2}}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00';
full_time ::= time_of_day #r'(?:\.[0-9]{{1,9}})?' ('Z' | #'[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]');
some ::= #'[0-9]{{1,6}}';
email_string ::= '"' local_part '@' (mail_label '.'){{1,3}} #'[A-Za-z]{{2,24}}"';
local_part ::= #r"[{ATOM_CHARACTERS}](?:\.?[{ATOM_CHARACTERS}]){{0,31}}";
mail_label ::= #'[A-Za-z0-9](?:-?[A-Za-z0-9]){{0,30}}';
uri_string ::=
    '"'
    ( scheme '://' user_part? host (':' port)? ('/' rest_of_path)? query? fragment_part?
    | 'file:///' rest_of_path
    | ('data:' | 'mailto:' | 'tel:' | 'urn:') path_character rest_of_path query? fragment_part?
    )
    '"';
user_part ::= #'[A-Za-z0-9._~-]+(?::[A-Za-z0-9._~-]*)?@';
host ::= (word '.')* #'[A-Za-z](?:-?[A-Za-z0-9])*' | ipv4 | '[' ipv6 ']';
word ::= #'[A-Za-z0-9](?:-?[A-Za-z0-9])*';
rest_of_path ::= (path_character | '/')*;
port ::= #'{PORT}';
"""

_RFC = rf"""
date_time_string ::= '"' full_date #'[Tt]' full_time '"';
full_date ::=
    #'[0-9]{{4}}-(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])'
  | #'[0-9]{{4}}-(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)'
  | #'[0-9]{{4}}-02-(?:0[1-9]|1[0-9]|2[0-8])'
  | leap_year '-02-29';
leap_year ::=
    #'[0-9]{{2}}(?:0[48]|[2468][048]|[13579][26])' | #'(?:[02468][048]|[13579][26])00';
full_time ::= time_of_day fraction? time_offset | leap_second;
fraction ::= #r'\.[0-9]+';
time_offset ::= #'[Zz]' | #'[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]';
leap_second ::= '23:59:60' fraction? #'[Zz]' | {_leap_seconds()};
some ::= #'[0-9]+';
email_string ::= '"' (local_part | quoted_part) '@' (domain | address_literal) '"';
local_part ::= atom ('.' atom)*;
atom ::= #r"[{ATOM_CHARACTERS}]+";
quoted_part ::= '\\"' (#r'[\x20\x21\x23-\x5b\x5d-\x7e]' | quoted_pair)* '\\"';
quoted_pair ::= '\\\\' (#r'[\x20\x21\x23-\x5b\x5d-\x7e]' | '\\"' | '\\\\');
address_literal ::= '[' (ipv4 | 'IPv6:' ipv6) ']';
uri_string ::= '"' uri '"';
port ::= #'[0-9]*';
"""

FORMAT_RULES = frozenset(
    {
        "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "regex", "time",
        "uri", "uri-reference", "uuid",
    }
)  # fmt: skip
"""The formats that have rules."""


@cache
def format_rules(name: str, pattern: str) -> tuple[tuple[str, tree.Expression], ...]:
    """Return the rules of a format and what they call, its own first; none where it has none.

    ``pattern`` is its expression in ``formats``, which distinguishes plain formats from those of
    RFCs.
    """
    if name not in FORMAT_RULES:
        return ()
    is_plain = formats_of(Standard.JSON_SCHEMA, Formats.PLAIN)[name] == pattern
    parsed = _parsed(RULES if name == "regex" else _TEXT + (_PLAIN if is_plain else _RFC))
    order = [f"{name.replace('-', '_')}_string"]
    for rule in order:
        nodes = tree.postorder(parsed[rule])
        called = [node.name.value for node in nodes if isinstance(node, tree.Reference)]
        order.extend(each for each in dict.fromkeys(called) if each not in order)
    return tuple((rule, parsed[rule]) for rule in order)


@cache
def _parsed(text: str) -> dict[str, tree.Expression]:
    document = parse_kbnf(Source(text)).document
    return {definition.name.value: definition.body for definition in document.definitions}
