#!/usr/bin/env python3
"""Verify a closed accounting period from a file, trusting nobody who made it.

    python3 verify_close.py FILE [--expect ROOT|CLOSEHASH]

FILE is a bundle (`ledgerctl-bundle-v1`, one JSON object a line) or a proof (`ledgerctl-proof-v1`, one JSON
object). The two are told apart by their `format`. A FILE of `-` is standard input.

Every hash is computed here from the content of the file. A file that agrees with itself proves little, as
whoever can write one file can write another. So give the `closeHash` (or the `merkleRoot`) that you have
received from another source with `--expect`: 64 hexadecimal digits. A `closeHash` covers everything, a
`merkleRoot` the entries alone.

What is printed at the end, and the exit code:

    verified: ...                  0   all is consistent, and --expect is the record's
    consistent, NOT anchored: ...  0   all is consistent, but --expect was not given
    NOT verified: ...              3   something does not match, or the file is cut off or not of these formats
    (a message on standard error)  2   bad usage, or the file can't be read; also after --help

This is one file of Python 3.9 or later with nothing but the standard library. It is written from
docs/proofs.md, which describes the formats and the steps. A bundle is read line by line; what is kept is one
row for each account and one hash for each level of the tree.
"""

import argparse
import hashlib
import math
import re
import sys
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from json import JSONDecodeError, JSONDecoder
from typing import Any, BinaryIO, Callable, Dict, FrozenSet, List, NoReturn, Optional, Tuple

BUNDLE = "ledgerctl-bundle-v1"
PROOF = "ledgerctl-proof-v1"
ALGORITHM = "rfc6962-sha256-jcs-v1"

EXIT_OK = 0
EXIT_USAGE = 2
EXIT_MISMATCH = 3

MAX_FINDINGS = 20
MAX_LINE = 64 * 1024 * 1024  # bytes of one line of a bundle, or of a whole proof
MAX_DEPTH = 500  # arrays and objects within each other
MAX_DIGITS = 4000  # digits of an amount
MAX_INTEGER = 2**53 - 1  # beyond it, doubles are not exact

Document = Dict[str, Any]
# A kind of value: its types (a boolean is none of int's), a test of a value that is not null, and its name.
Kind = Tuple[FrozenSet[type], Optional[Callable[[Any], Any]], str]
Spec = Dict[str, Kind]
Where = Callable[[], str]


# --- findings ---------------------------------------------------------------------------------------------


class TooManyFindings(Exception):
    """Raised when enough was found to stop."""


class Findings:
    """What does not match, in the order in which it was found."""

    def __init__(self) -> None:
        self.texts: List[str] = []

    def add(self, where: str, text: str) -> None:
        """Note one finding; stop the verification at the last one that is collected."""
        self.texts.append(f"{where}: {text}")
        if len(self.texts) >= MAX_FINDINGS:
            raise TooManyFindings

    def differs(self, where: str, what: str, expected: str, found: str) -> None:
        """Note something that has another value than expected."""
        self.add(where, f"{what}: expected {expected}, found {found}")


def counted(count: int, one: str, several: str) -> str:
    """1 entry, 2 entries."""
    return f"{count} {one if count == 1 else several}"


def show(value: Any) -> str:
    """A value from the file as one short line of text without control characters."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, str):
        text = repr(value)
        return text if len(text) <= 160 else f"{text[:160]}... ({len(value)} characters)"
    return scalar(value)


# --- reading JSON -----------------------------------------------------------------------------------------


class ReadError(ValueError):
    """The text is not a JSON document of the kind that can be hashed."""


def normal(number: float) -> Any:
    """A double, as an int where it is an integer that doubles hold exactly."""
    if math.isinf(number):
        raise ReadError("a number is too large for a double")
    return int(number) if number.is_integer() and abs(number) <= 2**53 else number


def exact(text: str) -> Any:
    """A JSON number as a double; ReadError if it is another number, which would have the same hash."""
    number = normal(float(text))
    try:
        same = Decimal(text) == Decimal(repr(number))
    except InvalidOperation:  # an exponent beyond all bounds
        same = False
    if not same:
        raise ReadError(f"a number that a double can't hold: {text[:40]}")
    return number


def read_int(text: str) -> Any:
    """A JSON number without fraction and exponent, read as a double."""
    return int(text) if len(text) <= 15 else exact(text)


def read_constant(text: str) -> NoReturn:
    """NaN and the infinities are not JSON."""
    raise ReadError(f"{text} is not JSON")


def read_object(pairs: List[Tuple[str, Any]]) -> Document:
    """The members of an object, no name twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        seen = set()
        for name, _ in pairs:
            if name in seen:
                raise ReadError(f"the member {ascii(name)} is twice in one object")
            seen.add(name)
    return members


DECODER = JSONDecoder(
    object_pairs_hook=read_object, parse_int=read_int, parse_float=exact, parse_constant=read_constant
)


def check_string(text: str) -> None:
    """Reject half of a surrogate pair, which is not a character."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ReadError(f"the string {ascii(text)[:80]} has a lone surrogate") from None


def check_inside(value: Any) -> None:
    """Check all strings and the depth of a value."""
    waiting = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise ReadError(f"nested more than {MAX_DEPTH} deep, which is not read")
        if isinstance(item, str):
            check_string(item)
        elif isinstance(item, list):
            waiting.extend((inner, depth + 1) for inner in item)
        elif isinstance(item, dict):
            for name, inner in item.items():
                check_string(name)
                waiting.append((inner, depth + 1))


def read_json(data: bytes) -> Any:
    """Read one JSON text; ReadError if it is not one."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReadError(f"not UTF-8 at byte {error.start}") from None
    if text.startswith("\ufeff"):
        raise ReadError("begins with a byte order mark")
    try:
        value = DECODER.decode(text)
    except JSONDecodeError as error:
        raise ReadError(f"not JSON at character {error.pos}: {error.msg}") from None
    except RecursionError:
        raise ReadError(f"nested more than {MAX_DEPTH} deep, which is not read") from None
    if "\\u" in text or text.count("{") + text.count("[") > MAX_DEPTH:
        check_inside(value)
    return value


# --- canonical bytes (RFC 8785) ---------------------------------------------------------------------------

ESCAPED = re.compile(r'[\x00-\x1f"\\]')
has_escapes = ESCAPED.search
SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(match: "re.Match[str]") -> str:
    """The shortest escape of one character."""
    character = match.group()
    return SHORT_ESCAPES.get(character) or f"\\u{ord(character):04x}"


def quote(text: str) -> str:
    """A canonical string."""
    return f'"{ESCAPED.sub(escape, text)}"' if has_escapes(text) else f'"{text}"'


def double(number: float) -> str:
    """A finite double as ECMAScript prints it (Number::toString)."""
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the power of point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"{sign}{digits[0]}{'.' + digits[1:] if count > 1 else ''}{power}"


def scalar(value: Any) -> str:
    """A canonical number, boolean or null."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    return str(value) if type(value) is int else double(value)


def member_order(names: Tuple[str, ...]) -> List[Tuple[str, str]]:
    """The names by their UTF-16 code units, each with the text in front of its value."""
    return [(name, quote(name) + ":") for name in sorted(names, key=lambda name: name.encode("utf-16-be"))]


remembered_order = lru_cache(maxsize=1024)(member_order)


def canonical_object(members: Document) -> str:
    """A canonical object."""
    parts = []
    order = remembered_order if len(members) <= 32 else member_order
    for name, front in order(tuple(members)):
        value = members[name]
        if value is None:
            parts.append(front + "null")
        elif type(value) is str:
            parts.append(f'{front}"{value}"' if not has_escapes(value) else front + quote(value))
        else:
            parts.append(front + canonical_text(value))
    return "{" + ",".join(parts) + "}"


def canonical_text(value: Any) -> str:
    """Any value in canonical form."""
    if type(value) is str:
        return quote(value)
    if type(value) is dict:
        return canonical_object(value) if value else "{}"
    if type(value) is list:
        return "[" + ",".join([canonical_text(item) for item in value]) + "]"
    return scalar(value)


def canonical(value: Any) -> bytes:
    """The canonical bytes of a value."""
    return canonical_text(value).encode("utf-8")


# --- trees (RFC 6962) -------------------------------------------------------------------------------------


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """A Merkle tree of which only the roots of the complete subtrees are kept, the largest first."""

    def __init__(self) -> None:
        self.size = 0
        self.roots: List[bytes] = []

    def add(self, leaf: bytes) -> None:
        """Append a leaf."""
        size = self.size
        while size & 1:
            leaf = node_hash(self.roots.pop(), leaf)
            size >>= 1
        self.roots.append(leaf)
        self.size += 1

    def root(self) -> str:
        """The root over the leaves up to now, in hexadecimal."""
        if not self.roots:
            return hashlib.sha256(b"").hexdigest()
        root = self.roots[-1]
        for left in reversed(self.roots[:-1]):
            root = node_hash(left, root)
        return root.hex()


def root_from_path(leaf: bytes, index: int, size: int, path: List[bytes]) -> Tuple[Optional[str], str]:
    """The root to which an audit path leads, or None and what is wrong with the path's length."""
    fn, sn, root = index, size - 1, leaf
    for step, neighbour in enumerate(path):
        if sn == 0:
            return None, f"the path is too long: the root is reached after {counted(step, 'hash', 'hashes')}, it has {len(path)}"
        if fn & 1 or fn == sn:
            root = node_hash(neighbour, root)
            while fn and not fn & 1:
                fn >>= 1
                sn >>= 1
        else:
            root = node_hash(root, neighbour)
        fn >>= 1
        sn >>= 1
    if sn:
        return None, f"the path is too short: with {counted(len(path), 'hash', 'hashes')} it does not lead to the root"
    return root.hex(), ""


# --- members and their types ------------------------------------------------------------------------------

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
HASH = re.compile(r"[0-9a-f]{64}")
AMOUNT = re.compile(r"-?[1-9][0-9]*|0")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z")
ENTRY_TYPES = ("STANDARD", "ADJUSTING", "OPENING", "CLOSING", "REVERSAL")


@lru_cache(maxsize=4096)
def is_date(text: str) -> bool:
    """YYYY-MM-DD that the calendar has."""
    try:
        date(2000 + int(text[:4]) % 400, int(text[5:7]), int(text[8:]))  # the calendar repeats after 400 years
    except ValueError:
        return False
    return True


def is_time(text: str) -> bool:
    """A moment as YYYY-MM-DDTHH:mm:ss.sssZ that the calendar has."""
    return TIME.fullmatch(text) is not None and is_date(text[:10])


def is_amount(text: str) -> bool:
    """An integer as a string."""
    return len(text) <= MAX_DIGITS and AMOUNT.fullmatch(text) is not None


def is_count(value: int) -> bool:
    """An integer from 0 that a double holds exactly."""
    return 0 <= value <= MAX_INTEGER


def is_ordinal(value: int) -> bool:
    """An integer from 1 that a double holds exactly."""
    return 1 <= value <= MAX_INTEGER


def is_two_or_more(value: List[Any]) -> bool:
    """An array of two or more."""
    return len(value) >= 2


def or_null(kind: Kind) -> Kind:
    """The same kind of value, or null."""
    types, test, description = kind
    return types | {NULL}, test, description + " or null"


NULL = type(None)
STRING: Kind = (frozenset({str}), None, "a string")
STRING_OR_NULL = or_null(STRING)
UUID_TYPE: Kind = (frozenset({str}), UUID.fullmatch, "a UUID in lower case")
HASH_TYPE: Kind = (frozenset({str}), HASH.fullmatch, "64 lower-case hexadecimal digits")
HASH_OR_NULL = or_null(HASH_TYPE)
TIME_TYPE: Kind = (frozenset({str}), is_time, "a time as YYYY-MM-DDTHH:mm:ss.sssZ")
TIME_OR_NULL = or_null(TIME_TYPE)
AMOUNT_TYPE: Kind = (frozenset({str}), is_amount, f"an integer as a string (up to {MAX_DIGITS} characters)")
COUNT: Kind = (frozenset({int}), is_count, "an integer from 0")
ORDINAL: Kind = (frozenset({int}), is_ordinal, "an integer from 1")
NUMBER_OR_NULL = or_null((frozenset({int, float}), None, "a number"))
ENTRY_TYPE: Kind = (frozenset({str}), ENTRY_TYPES.__contains__, "one of " + ", ".join(ENTRY_TYPES))
POSTED: Kind = (frozenset({str}), "POSTED".__eq__, "'POSTED'")
OBJECT: Kind = (frozenset({dict}), None, "an object")
HASHES: Kind = (frozenset({list}), None, "an array of hashes")
LINES: Kind = (frozenset({list}), is_two_or_more, "an array of two or more lines")

ENTRY: Spec = {
    "journalId": UUID_TYPE,
    "ledgerId": UUID_TYPE,
    "sequence": ORDINAL,
    "persistedAt": TIME_TYPE,
    "transactionDate": TIME_TYPE,
    "entryType": ENTRY_TYPE,
    "postingStatus": POSTED,
    "externalId": STRING_OR_NULL,
    "originSystem": STRING_OR_NULL,
    "originAccount": STRING_OR_NULL,
    "eventType": STRING_OR_NULL,
    "description": STRING_OR_NULL,
    "reversesJournalId": STRING_OR_NULL,
    "metadata": OBJECT,
    "lines": LINES,
}
LINE: Spec = {
    "glAccountCode": STRING,
    "functionalCurrency": STRING,
    "transactionCurrency": STRING,
    "functionalAmount": AMOUNT_TYPE,
    "transactionAmount": AMOUNT_TYPE,
    "spotRate": NUMBER_OR_NULL,
    "description": STRING_OR_NULL,
}
ROW: Spec = {
    "glAccountCode": STRING,
    "opening": AMOUNT_TYPE,
    "debits": AMOUNT_TYPE,
    "credits": AMOUNT_TYPE,
    "closing": AMOUNT_TYPE,
    "entryCount": COUNT,
}
CLOSE: Spec = {
    "ledgerId": UUID_TYPE,
    "closeId": UUID_TYPE,
    "number": ORDINAL,
    "periodId": STRING,
    "reason": STRING_OR_NULL,
    "startsAt": TIME_OR_NULL,
    "endsAt": TIME_TYPE,
    "closedAt": TIME_TYPE,
    "lastSequence": COUNT,
    "entryCount": COUNT,
    "merkleRoot": HASH_TYPE,
    "balancesRoot": HASH_TYPE,
    "merkleAlgorithm": STRING,
    "previousCloseHash": HASH_OR_NULL,
    "closeHash": HASH_TYPE,
}
PROOF_FILE: Spec = {
    "format": STRING,
    "leafIndex": COUNT,
    "treeSize": COUNT,
    "auditPath": HASHES,
    "entry": OBJECT,
    "close": OBJECT,
}
BUNDLE_LINES: Dict[str, Spec] = {
    "close": {"kind": STRING, "format": STRING, "close": OBJECT},
    "account": {"kind": STRING, "account": OBJECT},
    "entry": {"kind": STRING, "entry": OBJECT},
    "trailer": {"kind": STRING, "accounts": COUNT, "entries": COUNT},
}
KIND_ORDER = {"close": 0, "account": 1, "entry": 2, "trailer": 3}


def is_kind(value: Any, kind: Kind) -> bool:
    """Whether a value is of a kind."""
    types, test, _ = kind
    return type(value) in types and (test is None or value is None or bool(test(value)))


def checked(document: Any, spec: Spec, where: Where, findings: Findings) -> Document:
    """Check that a document has exactly the members of a spec; return those that are right."""
    if type(document) is not dict:
        findings.differs(where(), "the document", "an object", show(document))
        return {}
    if document.keys() != spec.keys():
        return right_members(document, spec, where, findings)
    for name, (types, test, _) in spec.items():
        value = document[name]
        if type(value) not in types or not (test is None or value is None or test(value)):
            return right_members(document, spec, where, findings)
    return document


def right_members(document: Document, spec: Spec, where: Where, findings: Findings) -> Document:
    """Note each member that is missing, too many or of a wrong kind; return the others."""
    right = {}
    for name, kind in spec.items():
        if name not in document:
            findings.differs(where(), name, kind[2], "nothing (the member is missing)")
        elif not is_kind(document[name], kind):
            findings.differs(where(), name, kind[2], show(document[name]))
        else:
            right[name] = document[name]
    for name in document:
        if name not in spec:
            findings.differs(where(), f"the member {show(name)}", "no such member", show(document[name]))
    return right


# --- close records, entries and rows ----------------------------------------------------------------------


def check_close(record: Any, where: str, findings: Findings) -> Document:
    """Check a close record by itself; return its members that are of the right types."""
    close = checked(record, CLOSE, lambda: where, findings)
    algorithm = close.get("merkleAlgorithm", ALGORITHM)
    if algorithm != ALGORITHM:
        findings.differs(where, "merkleAlgorithm", show(ALGORITHM), show(algorithm))
    if "number" in close and "previousCloseHash" in close:
        previous = close["previousCloseHash"]
        if close["number"] == 1 and previous is not None:
            findings.differs(where, "previousCloseHash", "null, as it is the first close", show(previous))
        if close["number"] > 1 and previous is None:
            findings.differs(where, "previousCloseHash", f"the hash of close {close['number'] - 1}", "null")
    if "closeHash" in close:
        rest = {name: value for name, value in record.items() if name != "closeHash"}
        computed = hashlib.sha256(canonical(rest)).hexdigest()
        if computed != close["closeHash"]:
            findings.differs(where, "closeHash", f"{computed} (computed from the record)", close["closeHash"])
    return close


def entry_place(entry: Any, number: Optional[int]) -> str:
    """Which entry it is, and where."""
    members = entry if isinstance(entry, dict) else {}
    name = f"entry {show(members.get('journalId'))} (sequence {show(members.get('sequence'))})"
    return name if number is None else f"line {number}: {name}"


def check_entry_in_close(entry: Document, close: Document, where: Where, findings: Findings) -> None:
    """Check that an entry belongs to the ledger and the period of a close record."""
    if "ledgerId" in entry and "ledgerId" in close and entry["ledgerId"] != close["ledgerId"]:
        findings.differs(where(), "ledgerId", show(close["ledgerId"]), show(entry["ledgerId"]))
    when = entry.get("transactionDate")
    starts, ends, closed = close.get("startsAt"), close.get("endsAt"), close.get("closedAt")
    if when is not None and starts is not None and when < starts:
        findings.differs(where(), "transactionDate", f"startsAt {starts} or later", when)
    if when is not None and ends is not None and when >= ends:
        findings.differs(where(), "transactionDate", f"earlier than endsAt {ends}", when)
    if "sequence" in entry and entry["sequence"] > close.get("lastSequence", MAX_INTEGER):
        findings.differs(
            where(), "sequence", f"at most lastSequence {close['lastSequence']}", str(entry["sequence"])
        )
    persisted = entry.get("persistedAt")
    if persisted is not None and closed is not None and persisted >= closed:
        findings.differs(where(), "persistedAt", f"earlier than closedAt {closed}", persisted)


def check_lines(entry: Document, where: Where, findings: Findings) -> List[Tuple[str, int, Optional[str]]]:
    """Check the lines of an entry and that they sum to zero; return account, amount and currency of each."""
    postings: List[Tuple[str, int, Optional[str]]] = []
    lines = entry.get("lines", [])
    total = 0
    for index, line in enumerate(lines):
        good = checked(line, LINE, lambda: f"{where()}, lines[{index}]", findings)
        if "glAccountCode" in good and "functionalAmount" in good:
            amount = int(good["functionalAmount"])
            total += amount
            postings.append((good["glAccountCode"], amount, good.get("functionalCurrency")))
    if total and len(postings) == len(lines):
        findings.differs(where(), "the sum of functionalAmount over the lines", "0", str(total))
    return postings


def check_entry(
    document: Any, close: Document, where: Where, findings: Findings
) -> Tuple[Document, List[Tuple[str, int, Optional[str]]]]:
    """Check one entry document; return its right members and its postings."""
    entry = checked(document, ENTRY, where, findings)
    check_entry_in_close(entry, close, where, findings)
    return entry, check_lines(entry, where, findings)


class Totals:
    """What the entries of the period say about one account."""

    __slots__ = ("debits", "credits", "entries", "last")

    def __init__(self) -> None:
        self.debits = 0
        self.credits = 0
        self.entries = 0
        self.last = 0  # the number of the entry that was counted last


# --- bundles ----------------------------------------------------------------------------------------------


class Verdict:
    """The result of a verification so far."""

    def __init__(self) -> None:
        self.findings = Findings()
        self.close: Document = {}
        self.about: List[str] = []  # what was checked
        self.limits: List[str] = []  # what could not be recomputed
        self.bound = ""  # what a merkleRoot covers
        self.unbound = ""  # what it does not


def read_line(stream: BinaryIO, number: int, findings: Findings) -> Optional[bytes]:
    """The next line with its line feed, b"" at the end, or None if it is too long to go on."""
    line = stream.readline(MAX_LINE + 1)
    if len(line) > MAX_LINE:
        findings.add(f"line {number}", f"longer than {MAX_LINE} bytes, which is not read")
        return None
    return line


class BundleCheck:
    """The verification of a bundle, fed line by line."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.findings = verdict.findings
        self.close: Document = {}
        self.stage = -1  # the order of the kind of the line before
        self.rows: Dict[str, Tuple[int, Document]] = {}
        self.row_tree = Tree()
        self.last_code: Optional[bytes] = None
        self.openings: Optional[int] = 0  # None if they can't be summed
        self.totals: Dict[str, Totals] = {}
        self.entry_tree = Tree()
        self.last_sequence: Optional[int] = None
        self.currencies: Dict[str, str] = {}
        self.complete = True  # all lines could be read

    def run(self, first: bytes, stream: BinaryIO) -> None:
        """Check the first line, all that follow, and then their totals."""
        line: Optional[bytes] = first
        number = 1
        while line:
            if not line.endswith(b"\n"):
                self.findings.add(f"line {number}", "no line feed at its end: the file was cut off")
            self.take(line, number)
            if self.stage == KIND_ORDER["trailer"]:
                break
            number += 1
            line = read_line(stream, number, self.findings)
        if self.stage != KIND_ORDER["trailer"]:
            self.findings.add(f"line {number}", "the trailer is missing: the file was cut off")
        elif stream.read(1):
            self.findings.add(f"line {number + 1}", "there is something behind the trailer")
        self.finish()

    def take(self, line: bytes, number: int) -> None:
        """Check one line."""
        place = f"line {number}"
        try:
            value = read_json(line)
        except ReadError as error:
            self.findings.add(place, str(error))
            self.complete = False
            return
        kind = value.get("kind") if isinstance(value, dict) else None
        if type(kind) is not str or kind not in KIND_ORDER:
            self.findings.differs(place, "kind", "one of " + ", ".join(KIND_ORDER), show(kind))
            self.complete = False
            return
        if KIND_ORDER[kind] < self.stage or (kind == "close") != (number == 1):
            self.findings.add(place, f"a line of kind {kind} is not in its place")
        self.stage = max(self.stage, KIND_ORDER[kind])
        good = checked(value, BUNDLE_LINES[kind], lambda: place, self.findings)
        if kind == "entry":
            self.take_entry(value.get("entry"), number)
        elif kind == "account":
            self.take_row(value.get("account"), number)
        elif kind == "trailer":
            self.take_trailer(good, number)
        elif number == 1:
            self.close = check_close(good.get("close", {}), f"{place}: close record", self.findings)
            self.verdict.close = self.close

    def take_row(self, document: Any, number: int) -> None:
        """Check a balance row by itself and in its order, and add it to its tree."""
        self.row_tree.add(leaf_hash(canonical(document)))

        def where() -> str:
            code = document.get("glAccountCode") if isinstance(document, dict) else None
            return f"line {number}: account {show(code)}"

        row = checked(document, ROW, where, self.findings)
        if len(row) == len(ROW):
            expected = int(row["opening"]) + int(row["debits"]) + int(row["credits"])
            if expected != int(row["closing"]):
                self.findings.differs(
                    where(), "closing", f"{expected} (opening + debits + credits)", row["closing"]
                )
        if "opening" in row and self.openings is not None:
            self.openings += int(row["opening"])
        else:
            self.openings = None
        if "glAccountCode" in row:
            code = row["glAccountCode"].encode("utf-8")
            if self.last_code is not None and code <= self.last_code:
                before = show(self.last_code.decode("utf-8"))
                self.findings.differs(
                    where(), "glAccountCode", f"a code behind {before}", show(row["glAccountCode"])
                )
            self.last_code = code
            self.rows.setdefault(row["glAccountCode"], (number, row))

    def take_entry(self, document: Any, number: int) -> None:
        """Check an entry by itself and in its order, and add it to its tree and to the totals."""
        self.entry_tree.add(leaf_hash(canonical(document)))

        def where() -> str:
            return entry_place(document, number)

        entry, postings = check_entry(document, self.close, where, self.findings)
        sequence = entry.get("sequence")
        if sequence is not None:
            if self.last_sequence is not None and sequence <= self.last_sequence:
                self.findings.differs(where(), "sequence", f"more than {self.last_sequence}", str(sequence))
            self.last_sequence = sequence
        count = self.entry_tree.size
        for code, amount, currency in postings:
            totals = self.totals.get(code)
            if totals is None:
                totals = self.totals[code] = Totals()
            if amount > 0:
                totals.debits += amount
            else:
                totals.credits += amount
            if totals.last != count:
                totals.last = count
                totals.entries += 1
            if currency is not None and currency not in self.currencies and len(self.currencies) < 3:
                self.currencies[currency] = where()

    def take_trailer(self, trailer: Document, number: int) -> None:
        """Check the counts of the trailer."""
        for name, count in (("accounts", self.row_tree.size), ("entries", self.entry_tree.size)):
            if name in trailer and trailer[name] != count:
                self.findings.differs(
                    f"line {number}: trailer", name, f"{count} (lines in the file)", str(trailer[name])
                )

    def finish(self) -> None:
        """Check the totals of all lines."""
        record = "close record"
        count = self.entry_tree.size
        if self.close.get("entryCount", count) != count:
            self.findings.differs(
                record, "entryCount", f"{count} (entries in the file)", str(self.close["entryCount"])
            )
        self.check_root("merkleRoot", self.entry_tree, "entry", "entries")
        self.check_root("balancesRoot", self.row_tree, "balance row", "balance rows")
        if self.complete:
            self.check_rows()
            self.check_openings()
        self.describe()

    def check_root(self, name: str, tree: Tree, one: str, several: str) -> None:
        """Compare a root of the record with the one that was computed."""
        computed = tree.root()
        if self.close.get(name, computed) != computed:
            expected = f"{computed} (computed from {counted(tree.size, one, several)})"
            self.findings.differs("close record", name, expected, self.close[name])

    def check_rows(self) -> None:
        """Compare the rows with the totals of the entries."""
        for code, (number, row) in self.rows.items():
            place = f"line {number}: account {show(code)}"
            totals = self.totals.get(code) or Totals()
            expected = (("debits", totals.debits), ("credits", totals.credits), ("entryCount", totals.entries))
            for name, value in expected:
                if name in row and int(row[name]) != value:
                    self.findings.differs(place, name, f"{value} (from the entries)", str(row[name]))
        for code, totals in self.totals.items():
            if code not in self.rows:
                used_by = counted(totals.entries, "entry", "entries")
                self.findings.differs(
                    f"account {show(code)}", "its balance row", f"one, as it is used by {used_by}", "none"
                )

    def nothing_before(self) -> str:
        """Why no entry that counts can be dated before the period; empty if one can."""
        if "startsAt" in self.close and self.close["startsAt"] is None:
            return "the period has no beginning"
        if "lastSequence" in self.close and self.close["lastSequence"] == self.close.get("entryCount"):
            return "the ledger's entries up to lastSequence are all in the period"
        return ""

    def check_openings(self) -> None:
        """Check what one period shows of the openings."""
        if self.openings:
            self.findings.differs("balance rows", "the sum of the openings", "0", str(self.openings))
        reason = self.nothing_before()
        if not reason:
            return
        for code, (number, row) in self.rows.items():
            place = f"line {number}: account {show(code)}"
            if row.get("opening", "0") != "0":
                self.findings.differs(place, "opening", f"0, as {reason}", row["opening"])
            if code not in self.totals:
                self.findings.differs(place, "the row", f"none without entries, as {reason}", "a row")

    def describe(self) -> None:
        """Say what was checked and what was not."""
        verdict = self.verdict
        entries = counted(self.entry_tree.size, "entry", "entries")
        rows = counted(self.row_tree.size, "balance row", "balance rows")
        verdict.about.append(f"a bundle of {entries} and {rows}")
        reason = self.nothing_before()
        if reason and self.rows:
            verdict.about.append(f"The openings are all zero, as they must be: {reason}.")
        elif not reason:
            verdict.limits.append(
                "the openings (only that they sum to zero was checked), and whether each account with earlier "
                "entries alone has its row: this takes the entries from the beginning, or the close before"
            )
        verdict.limits.append(
            "lastSequence, and whether the entries which are not in this file are dated outside the period"
        )
        if self.close.get("previousCloseHash") is not None:
            verdict.limits.append("previousCloseHash: this takes the record of the close before")
        if len(self.currencies) > 1:
            verdict.about.append("Beware: the lines are in more than one functional currency, which are added up:")
            verdict.about += [f"  {show(name)} first in {place}" for name, place in self.currencies.items()]
        verdict.bound = "the entries"
        verdict.unbound = "the balances (openings, debits, credits, closings)"


# --- proofs -----------------------------------------------------------------------------------------------


def check_path(proof: Document, close: Document, findings: Findings) -> None:
    """Check that the entry's leaf and the audit path lead to the record's merkleRoot."""
    path = proof.get("auditPath", [])
    for index, item in enumerate(path):
        if not is_kind(item, HASH_TYPE):
            findings.differs("proof", f"auditPath[{index}]", HASH_TYPE[2], show(item))
    needed = {"leafIndex", "treeSize", "entry", "auditPath"}
    if not needed <= proof.keys() or not all(is_kind(item, HASH_TYPE) for item in path):
        return
    index, size = proof["leafIndex"], proof["treeSize"]
    if index >= size:
        findings.differs("proof", "leafIndex", f"less than treeSize {size}", str(index))
        return
    leaf = leaf_hash(canonical(proof["entry"]))
    root, problem = root_from_path(leaf, index, size, [bytes.fromhex(item) for item in path])
    if root is None:
        findings.add(f"proof: auditPath of leaf {index} of {size}", problem)
    elif close.get("merkleRoot", root) != root:
        place = entry_place(proof["entry"], None)
        findings.differs(place, "the root that its leaf and path lead to", close["merkleRoot"], root)


def check_proof(document: Document, verdict: Verdict) -> None:
    """Verify a proof."""
    findings = verdict.findings
    proof = checked(document, PROOF_FILE, lambda: "proof", findings)
    close: Document = {}
    if "close" in proof:
        close = verdict.close = check_close(proof["close"], "close record", findings)
    if "treeSize" in proof and close.get("entryCount", proof["treeSize"]) != proof["treeSize"]:
        findings.differs("proof", "treeSize", f"entryCount {close['entryCount']}", str(proof["treeSize"]))
    if "entry" in proof:
        check_entry(proof["entry"], close, lambda: entry_place(proof["entry"], None), findings)
    check_path(proof, close, findings)
    verdict.about.append(
        f"a proof of {entry_place(document.get('entry'), None)}, "
        f"leaf {show(document.get('leafIndex'))} of {show(document.get('treeSize'))}"
    )
    verdict.limits.append("the other entries and the balances with their openings: a proof does not have them")
    if close.get("previousCloseHash") is not None:
        verdict.limits.append("previousCloseHash: this takes the record of the close before")
    verdict.bound = "the entry"
    verdict.unbound = "the balances (balancesRoot)"


# --- files ------------------------------------------------------------------------------------------------


def attempt(data: bytes) -> Tuple[Any, str]:
    """The JSON value of some bytes, or None and why there is none."""
    try:
        return read_json(data), ""
    except ReadError as error:
        return None, str(error)


def format_of(value: Any) -> Any:
    """The format that a file says it has."""
    return value.get("format") if isinstance(value, dict) else None


def check_stream(stream: BinaryIO, verdict: Verdict) -> None:
    """Tell a bundle from a proof and verify it."""
    findings = verdict.findings
    first = read_line(stream, 1, findings)
    if first is None:
        return
    if not first:
        findings.add("file", "it is empty")
        return
    value, problem = attempt(first)
    if format_of(value) == BUNDLE or (problem and f'"{BUNDLE}"'.encode() in first):
        BundleCheck(verdict).run(first, stream)
        return
    data = first + stream.read(MAX_LINE)
    if len(data) > MAX_LINE:
        findings.add("file", f"no bundle, and longer than {MAX_LINE} bytes, which is not read")
        return
    value, problem = attempt(data)
    if problem:
        findings.add("file", f"neither a bundle nor a proof: {problem}")
    elif format_of(value) != PROOF:
        findings.differs("file", "format", f"{BUNDLE} (in the first line) or {PROOF}", show(format_of(value)))
    else:
        check_proof(value, verdict)


def check_expected(expect: str, verdict: Verdict) -> None:
    """Compare the hash from another source with those of the record."""
    hashes = [verdict.close.get("closeHash"), verdict.close.get("merkleRoot")]
    if expect not in hashes:
        found = f"closeHash {show(hashes[0])} and merkleRoot {show(hashes[1])}"
        verdict.findings.differs("--expect", "closeHash or merkleRoot of the record", expect, found)


def verify(stream: BinaryIO, expect: Optional[str]) -> Tuple[Verdict, bool]:
    """Verify a stream; also say if the verification was ended early by too many findings."""
    verdict = Verdict()
    try:
        check_stream(stream, verdict)
        if expect is not None:
            check_expected(expect, verdict)
    except TooManyFindings:
        return verdict, True
    return verdict, False


# --- report -----------------------------------------------------------------------------------------------


def report_findings(verdict: Verdict, stopped: bool) -> int:
    """Print what does not match."""
    texts = verdict.findings.texts
    for text in texts:
        print(text)
    if stopped:
        print(f"NOT verified: {counted(len(texts), 'finding', 'findings')}, there may be more: stopped there")
    else:
        print(f"NOT verified: {counted(len(texts), 'finding', 'findings')}")
    return EXIT_MISMATCH


def report_consistent(verdict: Verdict, expect: Optional[str]) -> int:
    """Print what was checked, what was not, and if it is anchored."""
    close = verdict.close
    print(f"This is {verdict.about[0]}.")
    print(f"Close {close['number']} of ledger {close['ledgerId']}, period {show(close['periodId'])},")
    begins = close["startsAt"] or "the beginning"
    print(f"from {begins} to before {close['endsAt']}, closed at {close['closedAt']}.")
    for text in verdict.about[1:]:
        print(text)
    print("Not recomputed, as the file does not have what it takes:")
    for text in verdict.limits:
        print(f"  - {text}")
    if expect is None:
        print(
            "consistent, NOT anchored: compare with what you got from another source: "
            f"merkleRoot {close['merkleRoot']} closeHash {close['closeHash']}"
        )
    elif expect == close["closeHash"]:
        print(f"verified: closeHash {expect} is the one that was given, it covers the whole record")
    else:
        print("The hash that was given is the merkleRoot. It does not cover:")
        print(f"  - {verdict.unbound}")
        print("  - the bounds of the period (startsAt, endsAt), lastSequence and closedAt")
        print("  - the number, periodId, closeId and reason of the close, and the closes before it")
        if close["entryCount"] == 0:
            print("  - anything at all of this period: every period without entries has this root")
        print(f"To cover them, compare closeHash {close['closeHash']}.")
        print(f"verified: {verdict.bound} alone: merkleRoot {expect} is the one that was given")
    return EXIT_OK


# --- command line -----------------------------------------------------------------------------------------


def expected_hash(text: str) -> str:
    """The value of --expect in lower case."""
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise argparse.ArgumentTypeError("must be 64 hexadecimal digits")
    return text.lower()


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="verify_close.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="a bundle or a proof, - for standard input")
    parser.add_argument(
        "--expect", metavar="HASH", type=expected_hash, help="the closeHash or merkleRoot from another source"
    )
    parser.add_argument("-h", "--help", action="store_true", help="print this; the exit code is 2")
    return parser


def main(argv: Optional[List[str]] = None) -> int:
    """Run the command line; return the exit code."""
    parser = arguments()
    options = parser.parse_args(argv)
    if options.help:
        parser.print_help()
        return EXIT_USAGE
    if options.file is None:
        parser.error("FILE is missing")
    try:
        if options.file == "-":
            verdict, stopped = verify(sys.stdin.buffer, options.expect)
        else:
            with open(options.file, "rb") as stream:
                verdict, stopped = verify(stream, options.expect)
    except OSError as error:
        print(f"verify_close.py: can't read {options.file}: {error.strerror or error}", file=sys.stderr)
        return EXIT_USAGE
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    if verdict.findings.texts:
        return report_findings(verdict, stopped)
    return report_consistent(verdict, options.expect)


if __name__ == "__main__":
    sys.exit(main())
