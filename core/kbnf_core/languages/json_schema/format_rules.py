"""The formats of JSON Schema as rules, for texts that people read.

They have the languages of ``formats``, spelt as JSON strings; a test compares the automata. The
first rule that a name is looked up by is the format's, with its quotes.
"""

from functools import cache

from kbnf_core.languages.json_schema.formats import ATOM_CHARACTERS
from kbnf_core.languages.kbnf.parse import parse_kbnf
from kbnf_core.source import Source
from kbnf_core.syntax import tree


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
date_time_string ::= '"' full_date #'[Tt]' full_time '"';
full_date ::=
    #r'[0-9]{{4}}-(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])'
  | #r'[0-9]{{4}}-(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)'
  | #r'[0-9]{{4}}-02-(?:0[1-9]|1[0-9]|2[0-8])'
  | leap_year '-02-29';
leap_year ::=
    #r'[0-9]{{2}}(?:0[48]|[2468][048]|[13579][26])' | #r'(?:[02468][048]|[13579][26])00';
full_time ::=
    #r'(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]' fraction? time_offset | leap_second;
fraction ::= #r'\.[0-9]+';
time_offset ::= #'[Zz]' | #r'[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]';
leap_second ::= '23:59:60' fraction? #'[Zz]' | {_leap_seconds()};

duration_string ::= '"P' (days clock? | clock | #'[0-9]+W') '"';
days ::= #'[0-9]+D' | #'[0-9]+M(?:[0-9]+D)?' | #'[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?';
clock ::= 'T' (#'[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?' | #'[0-9]+M(?:[0-9]+S)?' | #'[0-9]+S');

email_string ::= '"' (local_part | quoted_part) '@' (domain | address_literal) '"';
hostname_string ::= '"' domain '"';
local_part ::= atom ('.' atom)*;
atom ::= #r"[{ATOM_CHARACTERS}]+";
quoted_part ::= '\\"' (#r'[\x20\x21\x23-\x5b\x5d-\x7e]' | quoted_pair)* '\\"';
quoted_pair ::= '\\\\' (#r'[\x20\x21\x23-\x5b\x5d-\x7e]' | '\\"' | '\\\\');
domain ::= label ('.' label)*;
label ::= #'[A-Za-z0-9](?:[A-Za-z0-9-]{{0,61}}[A-Za-z0-9])?';
address_literal ::= '[' (ipv4 | 'IPv6:' ipv6) ']';

ipv4_string ::= '"' ipv4 '"';
ipv6_string ::= '"' ipv6 '"';
ipv4 ::= octet ('.' octet){{3}};
octet ::= #'25[0-5]|2[0-4][0-9]|1[0-9]{{2}}|[1-9]?[0-9]';
ipv6 ::= {_ipv6()};
group ::= #'[0-9A-Fa-f]{{1,4}}';
last_groups ::= group ':' group | ipv4;

uuid_string ::= #'"[0-9A-Fa-f]{{8}}-(?:[0-9A-Fa-f]{{4}}-){{3}}[0-9A-Fa-f]{{12}}"';

uri_string ::= '"' uri '"';
uri_reference_string ::= '"' (uri | relative_reference) '"';
uri ::= scheme ':' (rooted_path | path_segment ('/' path_character*)*)? query? fragment_part?;
relative_reference ::=
    (rooted_path | first_segment ('/' path_character*)*)? query? fragment_part?;
scheme ::= #'[A-Za-z][A-Za-z0-9+.-]*';
rooted_path ::= '//' authority ('/' path_character*)* | '/' (path_segment ('/' path_character*)*)?;
authority ::= (user '@')? (ip_literal | host_name) (':' #'[0-9]*')?;
user ::= #r"(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{{2}})*";
host_name ::= #r"(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{{2}})*";
ip_literal ::= '[' (ipv6 | #r"[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+") ']';
path_segment ::= path_character+;
first_segment ::= #r"(?:[A-Za-z0-9._~!$&'()*+,;=@-]|%[0-9A-Fa-f]{{2}})+";
path_character ::= #r"[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{{2}}";
query ::= '?' (path_character | #'[/?]')*;
fragment_part ::= '#' (path_character | #'[/?]')*;
"""

FORMAT_RULES = frozenset(
    {
        "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri",
        "uri-reference", "uuid",
    }
)  # fmt: skip
"""The formats that have rules."""


@cache
def format_rules(name: str) -> tuple[tuple[str, tree.Expression], ...]:
    """Return the rules of a format and what they call, its own first."""
    parsed = _parsed()
    order = [f"{name.replace('-', '_')}_string"]
    for rule in order:
        nodes = tree.postorder(parsed[rule])
        called = [node.name.value for node in nodes if isinstance(node, tree.Reference)]
        order.extend(each for each in dict.fromkeys(called) if each not in order)
    return tuple((rule, parsed[rule]) for rule in order)


@cache
def _parsed() -> dict[str, tree.Expression]:
    document = parse_kbnf(Source(_TEXT)).document
    return {definition.name.value: definition.body for definition in document.definitions}
