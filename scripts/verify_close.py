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

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections import Counter, defaultdict
from datetime import date
from decimal import Decimal, InvalidOperation
from json import JSONDecodeError, JSONDecoder, JSONEncoder
from typing import Any, BinaryIO, Callable, Dict, List, NamedTuple, NoReturn, Optional, Tuple

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
# A kind of value: a test of any value, and its name.
Kind = Tuple[Callable[[Any], Any], str]
Spec = Dict[str, Kind]


# --- findings ---------------------------------------------------------------------------------------------


class Stopped(Exception):
    """Raised when the verification can't go on, or has found enough."""


class Findings:
    """What does not match, in the order in which it was found."""

    def __init__(self) -> None:
        self.texts: List[str] = []

    def add(self, where: str, text: str) -> None:
        """Note one finding; stop the verification at the last one that is collected."""
        self.texts.append(f"{where}: {text}")
        if len(self.texts) >= MAX_FINDINGS:
            raise Stopped

    def stop(self, where: str, text: str) -> NoReturn:
        """Note a finding after which nothing else can be checked."""
        self.add(where, text)
        raise Stopped

    def differs(self, where: str, what: str, expected: str, found: Any) -> None:
        """Note something that has another value than expected."""
        self.add(where, f"{what}: expected {expected}, found {found}")

    def comes_to(self, where: str, what: str, found: Any, computed: Any, source: str) -> None:
        """Note something that has another value than what was computed for it, and from what that was."""
        self.add(where, f"{what} is {found}, but comes to {computed} ({source})")


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
    return canonical_text(value)


# --- reading JSON -----------------------------------------------------------------------------------------


class ReadError(ValueError):
    """The text is not a JSON document of the kind that can be hashed."""


def read_number(text: str) -> Any:
    """
    A JSON number as a double, which is an int if it is an integer that doubles hold exactly. ReadError if the
    text is another number than its double, as the two would have the same hash.
    """
    number: Any = float(text)
    if number.is_integer() and abs(number) <= 2**53:
        number = int(number)
    try:
        is_same = Decimal(text) == Decimal(repr(number))
    except InvalidOperation:  # an exponent beyond all bounds
        is_same = False
    if not is_same:
        raise ReadError(f"a number that a double can't hold: {text[:40]}")
    return number


def read_constant(text: str) -> NoReturn:
    """NaN and the infinities are not JSON."""
    raise ReadError(f"{text} is not JSON")


def read_object(pairs: List[Tuple[str, Any]]) -> Document:
    """The members of an object, no name twice."""
    members: Document = {}
    for name, value in pairs:
        if name in members:
            raise ReadError(f"the member {ascii(name)} is twice in one object")
        members[name] = value
    return members


DECODER = JSONDecoder(
    object_pairs_hook=read_object, parse_int=read_number, parse_float=read_number, parse_constant=read_constant
)
# Strings with the shortest escapes, as RFC 8785 has them.
ENCODER = JSONEncoder(ensure_ascii=False)


def is_too_deep(value: Any) -> bool:
    """Whether arrays and objects are nested more than MAX_DEPTH deep."""
    level = [value]
    for _ in range(MAX_DEPTH):
        objects = [item.values() for item in level if isinstance(item, dict)]
        arrays = [item for item in level if isinstance(item, list)]
        level = [inner for items in (*objects, *arrays) for inner in items]
    return bool(level)


def read_json(data: bytes) -> Any:
    """Read one JSON text; ReadError if it is not one."""
    try:
        text = data.decode("utf-8")
        if text.startswith("\ufeff"):
            raise ReadError("begins with a byte order mark")
        value = DECODER.decode(text)
        if text.count("{") + text.count("[") > MAX_DEPTH and is_too_deep(value):
            raise RecursionError
        if "\\u" in text:
            ENCODER.encode(value).encode("utf-8")
    except UnicodeDecodeError as error:
        raise ReadError(f"not UTF-8 at byte {error.start}") from None
    except JSONDecodeError as error:
        raise ReadError(f"not JSON at character {error.pos}: {error.msg}") from None
    except RecursionError:
        raise ReadError(f"nested more than {MAX_DEPTH} deep, which is not read") from None
    except UnicodeEncodeError as error:
        raise ReadError(f"a string has the lone surrogate {ascii(error.object[error.start])}") from None
    return value


# --- canonical bytes (RFC 8785) ---------------------------------------------------------------------------


def double(number: float) -> str:
    """A finite double other than zero as ECMAScript prints it (Number::toString)."""
    sign, numerals, exponent = Decimal(repr(number)).normalize().as_tuple()
    minus = "-" if sign else ""
    digits = "".join(map(str, numerals))
    count = len(digits)
    # The value is 0.DIGITS times ten to the power of point.
    point = count + int(exponent)
    if count <= point <= 21:
        return minus + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"{minus}{digits[0]}{'.' + digits[1:] if count > 1 else ''}{power}"


def utf16(member: Tuple[str, Any]) -> bytes:
    """The UTF-16 code units of a member's name."""
    return member[0].encode("utf-16-be")


def canonical_text(value: Any) -> str:
    """Any value in canonical form."""
    if type(value) is dict:
        members = sorted(value.items(), key=utf16)
        return "{" + ",".join([f"{ENCODER.encode(name)}:{canonical_text(item)}" for name, item in members]) + "}"
    if type(value) is list:
        return "[" + ",".join([canonical_text(item) for item in value]) + "]"
    if type(value) is float:
        return double(value)
    return "null" if value is None else ENCODER.encode(value)  # a string, an int or a boolean


def canonical(value: Any) -> bytes:
    """The canonical bytes of a value."""
    return canonical_text(value).encode("utf-8")


# --- trees (RFC 6962) -------------------------------------------------------------------------------------


def leaf_hash(document: Any) -> bytes:
    """The hash of a leaf, from the content of its document."""
    return hashlib.sha256(b"\x00" + canonical(document)).digest()


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


def is_time(text: str) -> bool:
    """A moment as YYYY-MM-DDTHH:mm:ss.sssZ that the calendar has."""
    if not TIME.fullmatch(text):
        return False
    try:
        date(2000 + int(text[:4]) % 400, int(text[5:7]), int(text[8:10]))  # the calendar repeats after 400 years
    except ValueError:
        return False
    return True


def is_amount(text: str) -> bool:
    """An integer as a string."""
    return len(text) <= MAX_DIGITS and AMOUNT.fullmatch(text) is not None


def is_hash(value: Any) -> bool:
    """A hash in hexadecimal."""
    return type(value) is str and HASH.fullmatch(value) is not None


def string(description: str, test: Callable[[str], Any] = lambda text: True) -> Kind:
    """Strings that pass a test."""
    return lambda value: type(value) is str and test(value), description


def integer_from(least: int) -> Kind:
    """Integers from a bound that a double holds exactly; a boolean is none."""
    return lambda value: type(value) is int and least <= value <= MAX_INTEGER, f"an integer from {least}"


def or_null(kind: Kind) -> Kind:
    """The same kind of value, or null."""
    test, description = kind
    return lambda value: value is None or test(value), f"{description} or null"


STRING = string("a string")
STRING_OR_NULL = or_null(STRING)
UUID_TYPE = string("a UUID in lower case", UUID.fullmatch)
HASH_TYPE: Kind = (is_hash, "64 lower-case hexadecimal digits")
TIME_TYPE = string("a time as YYYY-MM-DDTHH:mm:ss.sssZ", is_time)
AMOUNT_TYPE = string(f"an integer as a string (up to {MAX_DIGITS} characters)", is_amount)
COUNT = integer_from(0)
ORDINAL = integer_from(1)
NUMBER_OR_NULL = or_null((lambda value: type(value) in (int, float), "a number"))
ENTRY_TYPE = string("one of " + ", ".join(ENTRY_TYPES), ENTRY_TYPES.__contains__)
POSTED = string("'POSTED'", "POSTED".__eq__)
OBJECT: Kind = (lambda value: type(value) is dict, "an object")
HASHES: Kind = (lambda value: type(value) is list and all(map(is_hash, value)), "an array of hashes in lower case")
LINES: Kind = (lambda value: type(value) is list and len(value) >= 2, "an array of two or more lines")

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
    "startsAt": or_null(TIME_TYPE),
    "endsAt": TIME_TYPE,
    "closedAt": TIME_TYPE,
    "lastSequence": COUNT,
    "entryCount": COUNT,
    "merkleRoot": HASH_TYPE,
    "balancesRoot": HASH_TYPE,
    "merkleAlgorithm": STRING,
    "previousCloseHash": or_null(HASH_TYPE),
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
CLOSE_LINE: Spec = {"kind": string("'close'", "close".__eq__), "format": STRING, "close": OBJECT}
# The lines of a bundle after its first, in the order in which they must be.
BUNDLE_LINES: Dict[str, Spec] = {
    "account": {"kind": STRING, "account": OBJECT},
    "entry": {"kind": STRING, "entry": OBJECT},
    "trailer": {"kind": STRING, "accounts": COUNT, "entries": COUNT},
}
KINDS = list(BUNDLE_LINES)


def has_members(document: Any, spec: Spec, where: str, findings: Findings) -> bool:
    """Check that a document has exactly the members of a spec, each of its kind."""
    if type(document) is not dict:
        findings.differs(where, "the document", "an object", show(document))
        return False
    before = len(findings.texts)
    for name, (test, description) in spec.items():
        if name not in document:
            findings.differs(where, name, description, "nothing (the member is missing)")
        elif not test(document[name]):
            findings.differs(where, name, description, show(document[name]))
    for name in document:
        if name not in spec:
            findings.differs(where, f"the member {show(name)}", "no such member", show(document[name]))
    return len(findings.texts) == before


# --- close records and entries ----------------------------------------------------------------------------


def check_close(close: Any, where: str, findings: Findings) -> None:
    """Check a close record by itself; stop if its members are not right."""
    if not has_members(close, CLOSE, where, findings):
        raise Stopped
    if close["merkleAlgorithm"] != ALGORITHM:
        findings.differs(where, "merkleAlgorithm", show(ALGORITHM), show(close["merkleAlgorithm"]))
    number, previous = close["number"], close["previousCloseHash"]
    if number == 1 and previous is not None:
        findings.differs(where, "previousCloseHash", "null, as it is the first close", show(previous))
    if number > 1 and previous is None:
        findings.differs(where, "previousCloseHash", f"the hash of close {number - 1}", "null")
    rest = {name: value for name, value in close.items() if name != "closeHash"}
    computed = hashlib.sha256(canonical(rest)).hexdigest()
    if computed != close["closeHash"]:
        findings.comes_to(where, "closeHash", close["closeHash"], computed, "computed from the record")


def entry_name(entry: Any) -> str:
    """Which entry it is."""
    members = entry if isinstance(entry, dict) else {}
    return f"entry {show(members.get('journalId'))} (sequence {show(members.get('sequence'))})"


def check_entry(entry: Any, close: Document, where: str, findings: Findings) -> bool:
    """
    Check that an entry is of the ledger and the period of a close record and sums to zero. False if its members are
    not right, so that nothing else could be checked.
    """
    if not has_members(entry, ENTRY, where, findings):
        return False
    lines = entry["lines"]
    if not all([has_members(line, LINE, f"{where}, lines[{index}]", findings) for index, line in enumerate(lines)]):
        return False
    if entry["ledgerId"] != close["ledgerId"]:
        findings.differs(where, "ledgerId", show(close["ledgerId"]), show(entry["ledgerId"]))
    when, starts, ends = entry["transactionDate"], close["startsAt"], close["endsAt"]
    if starts is not None and when < starts:
        findings.differs(where, "transactionDate", f"startsAt {starts} or later", when)
    if when >= ends:
        findings.differs(where, "transactionDate", f"earlier than endsAt {ends}", when)
    if entry["sequence"] > close["lastSequence"]:
        findings.differs(where, "sequence", f"at most lastSequence {close['lastSequence']}", entry["sequence"])
    if entry["persistedAt"] >= close["closedAt"]:
        findings.differs(where, "persistedAt", f"earlier than closedAt {close['closedAt']}", entry["persistedAt"])
    total = sum(int(line["functionalAmount"]) for line in lines)
    if total:
        findings.differs(where, "the sum of functionalAmount over the lines", "0", total)
    return True


class Checked(NamedTuple):
    """What was checked, for the report."""

    close: Document
    about: List[str]  # what was checked, first the kind of file
    limits: List[str]  # what could not be recomputed
    bound: str  # what a merkleRoot covers
    unbound: str  # what it does not


# --- bundles ----------------------------------------------------------------------------------------------


def read_line(stream: BinaryIO, number: int, findings: Findings) -> bytes:
    """The next line with its line feed, b"" at the end."""
    line = stream.readline(MAX_LINE + 1)
    if len(line) > MAX_LINE:
        findings.stop(f"line {number}", f"longer than {MAX_LINE} bytes, which is not read")
    return line


class BundleCheck:
    """The verification of a bundle, fed line by line."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.close: Document = {}
        self.kind = KINDS[0]  # of the last line that was in its place
        self.rows: Dict[str, Tuple[str, Document]] = {}  # by account, each with its place
        self.row_tree = Tree()
        self.totals: Dict[str, Counter[str]] = defaultdict(Counter)  # what the rows should say, by account
        self.entry_tree = Tree()
        self.last_sequence = 0
        self.currencies: Dict[str, str] = {}  # each with the place where it is first

    def run(self, first: Document, stream: BinaryIO) -> Checked:
        """Check the first line, all that follow, and then their totals."""
        if not has_members(first, CLOSE_LINE, "line 1", self.findings):
            raise Stopped
        self.close = first["close"]
        check_close(self.close, "line 1: close record", self.findings)
        are_right = True
        number = 2
        while line := read_line(stream, number, self.findings):
            place = f"line {number}"
            if self.kind == "trailer":
                self.findings.add(place, "there is something behind the trailer")
                break
            if not line.endswith(b"\n"):
                self.findings.add(place, "no line feed at its end: the file may have been cut off")
            if not self.take(line, place):
                are_right = False
            number += 1
        if self.kind != "trailer":
            self.findings.add(f"line {number}", "the trailer is missing: the file was cut off")
        self.check_record()
        if are_right:
            self.check_rows()
            self.check_openings()
        return self.describe()

    def take(self, line: bytes, place: str) -> bool:
        """Check one line; False if it can't be read or its members are not right, so that totals have no sense."""
        try:
            value = read_json(line)
        except ReadError as error:
            self.findings.add(place, str(error))
            return False
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind not in KINDS:
            self.findings.differs(place, "kind", "one of " + ", ".join(KINDS), show(kind))
            return False
        if KINDS.index(kind) < KINDS.index(self.kind):
            self.findings.add(place, f"a line of kind {kind} is not in its place")
        else:
            self.kind = kind
        if not has_members(value, BUNDLE_LINES[kind], place, self.findings):
            return False
        if kind == "account":
            return self.take_row(value["account"], place)
        if kind == "entry":
            return self.take_entry(value["entry"], place)
        for name, tree in (("accounts", self.row_tree), ("entries", self.entry_tree)):
            if value[name] != tree.size:
                self.findings.comes_to(f"{place}: trailer", name, value[name], tree.size, "lines in the file")
        return True

    def take_row(self, row: Document, place: str) -> bool:
        """Check a balance row by itself and in its order, and add it to its tree."""
        self.row_tree.add(leaf_hash(row))
        code = row.get("glAccountCode")
        where = f"{place}: account {show(code)}"
        if not has_members(row, ROW, where, self.findings):
            return False
        closing = int(row["opening"]) + int(row["debits"]) + int(row["credits"])
        if closing != int(row["closing"]):
            self.findings.comes_to(where, "closing", row["closing"], closing, "opening + debits + credits")
        before = next(reversed(self.rows), None)
        if before is not None and code.encode("utf-8") <= before.encode("utf-8"):
            self.findings.differs(where, "glAccountCode", f"a code behind {show(before)}", show(code))
        self.rows.setdefault(code, (where, row))
        return True

    def take_entry(self, entry: Document, place: str) -> bool:
        """Check an entry by itself and in its order, and add it to its tree and to the totals."""
        self.entry_tree.add(leaf_hash(entry))
        where = f"{place}: {entry_name(entry)}"
        if not check_entry(entry, self.close, where, self.findings):
            return False
        sequence = entry["sequence"]
        if sequence <= self.last_sequence:
            self.findings.differs(where, "sequence", f"more than {self.last_sequence}", sequence)
        self.last_sequence = sequence
        for line in entry["lines"]:
            amount = int(line["functionalAmount"])
            self.totals[line["glAccountCode"]]["debits" if amount > 0 else "credits"] += amount
            if len(self.currencies) < 3:
                self.currencies.setdefault(line["functionalCurrency"], where)
        for code in {line["glAccountCode"] for line in entry["lines"]}:
            self.totals[code]["entryCount"] += 1
        return True

    def check_record(self) -> None:
        """Compare the count and the roots of the record with those of the file."""
        count = self.entry_tree.size
        if self.close["entryCount"] != count:
            claimed = self.close["entryCount"]
            self.findings.comes_to("close record", "entryCount", claimed, count, "entries in the file")
        for name, tree, one, several in (
            ("merkleRoot", self.entry_tree, "entry", "entries"),
            ("balancesRoot", self.row_tree, "balance row", "balance rows"),
        ):
            if self.close[name] != tree.root():
                source = f"computed from {counted(tree.size, one, several)}"
                self.findings.comes_to("close record", name, self.close[name], tree.root(), source)

    def check_rows(self) -> None:
        """Compare the rows with the totals of the entries."""
        for code, (where, row) in self.rows.items():
            totals = self.totals.get(code, Counter())
            for name in ("debits", "credits", "entryCount"):
                if int(row[name]) != totals[name]:
                    self.findings.comes_to(where, name, row[name], totals[name], "from the entries")
        for code, totals in self.totals.items():
            if code not in self.rows:
                expected = f"one, as it is used by {counted(totals['entryCount'], 'entry', 'entries')}"
                self.findings.differs(f"account {show(code)}", "its balance row", expected, "none")

    def nothing_before(self) -> str:
        """Why no entry that counts can be dated before the period; empty if one can."""
        if self.close["startsAt"] is None:
            return "the period has no beginning"
        if self.close["lastSequence"] == self.close["entryCount"]:
            return "the ledger's entries up to lastSequence are all in the period"
        return ""

    def check_openings(self) -> None:
        """Check what one period shows of the openings."""
        total = sum(int(row["opening"]) for _, row in self.rows.values())
        if total:
            self.findings.differs("balance rows", "the sum of the openings", "0", total)
        reason = self.nothing_before()
        if not reason:
            return
        for code, (where, row) in self.rows.items():
            if row["opening"] != "0":
                self.findings.differs(where, "opening", f"0, as {reason}", row["opening"])
            if code not in self.totals:
                self.findings.differs(where, "the row", f"none without entries, as {reason}", "a row")

    def describe(self) -> Checked:
        """Say what was checked and what was not."""
        entries = counted(self.entry_tree.size, "entry", "entries")
        about = [f"a bundle of {entries} and {counted(self.row_tree.size, 'balance row', 'balance rows')}"]
        limits = ["lastSequence, and whether the entries which are not in this file are dated outside the period"]
        reason = self.nothing_before()
        if not reason:
            limits.insert(
                0,
                "the openings (only that they sum to zero was checked), and whether each account with earlier "
                "entries alone has its row: this takes the entries from the beginning, or the close before",
            )
        elif self.rows:
            about.append(f"The openings are all zero, as they must be: {reason}.")
        if len(self.currencies) > 1:
            about.append("Beware: the lines are in more than one functional currency, which are added up:")
            about += [f"  {show(name)} first in {where}" for name, where in self.currencies.items()]
        unbound = "the balances (openings, debits, credits, closings)"
        return Checked(self.close, about, limits, "the entries", unbound)


# --- proofs -----------------------------------------------------------------------------------------------


def check_proof(proof: Document, findings: Findings) -> Checked:
    """Verify a proof."""
    if not has_members(proof, PROOF_FILE, "proof", findings):
        raise Stopped
    close, entry, index, size = proof["close"], proof["entry"], proof["leafIndex"], proof["treeSize"]
    check_close(close, "close record", findings)
    check_entry(entry, close, entry_name(entry), findings)
    if size != close["entryCount"]:
        findings.differs("proof", "treeSize", f"entryCount {close['entryCount']}", size)
    if index >= size:
        findings.stop("proof", f"leafIndex: expected less than treeSize {size}, found {index}")
    path = [bytes.fromhex(item) for item in proof["auditPath"]]
    root, problem = root_from_path(leaf_hash(entry), index, size, path)
    if root is None:
        findings.add(f"proof: auditPath of leaf {index} of {size}", problem)
    elif root != close["merkleRoot"]:
        source = f"computed from {entry_name(entry)} and its path"
        findings.comes_to("close record", "merkleRoot", close["merkleRoot"], root, source)
    about = [f"a proof of {entry_name(entry)}, leaf {index} of {size}"]
    limits = ["the other entries and the balances with their openings: a proof does not have them"]
    return Checked(close, about, limits, "the entry", "the balances (balancesRoot)")


# --- files ------------------------------------------------------------------------------------------------


def attempt(data: bytes) -> Tuple[Document, str]:
    """The JSON object of some bytes, or an empty one and why there is none."""
    try:
        value = read_json(data)
    except ReadError as error:
        return {}, str(error)
    return (value, "") if isinstance(value, dict) else ({}, "not an object")


def check_stream(stream: BinaryIO, findings: Findings) -> Checked:
    """Tell a bundle from a proof and verify it."""
    first = read_line(stream, 1, findings)
    if not first:
        findings.stop("file", "it is empty")
    value, problem = attempt(first)
    if value.get("format") == BUNDLE:
        return BundleCheck(findings).run(value, stream)
    if problem and f'"{BUNDLE}"'.encode() in first:
        findings.stop("line 1", problem)
    data = first + stream.read(MAX_LINE)
    if len(data) > MAX_LINE:
        findings.stop("file", f"no bundle, and longer than {MAX_LINE} bytes, which is not read")
    value, problem = attempt(data)
    if problem:
        findings.stop("file", f"neither a bundle nor a proof: {problem}")
    if value.get("format") != PROOF:
        found = show(value.get("format"))
        findings.stop("file", f"format: expected {BUNDLE} (in the first line) or {PROOF}, found {found}")
    return check_proof(value, findings)


def check_expected(expect: str, close: Document, findings: Findings) -> None:
    """Compare the hash from another source with those of the record."""
    if expect not in (close["closeHash"], close["merkleRoot"]):
        found = f"closeHash {show(close['closeHash'])} and merkleRoot {show(close['merkleRoot'])}"
        findings.differs("--expect", "closeHash or merkleRoot of the record", expect, found)


# --- report -----------------------------------------------------------------------------------------------


def report_findings(findings: Findings, is_stopped: bool) -> None:
    """Print what does not match."""
    for text in findings.texts:
        print(text)
    more = ", there may be more: stopped there" if is_stopped else ""
    print(f"NOT verified: {counted(len(findings.texts), 'finding', 'findings')}{more}")


def report_consistent(checked: Checked, expect: Optional[str]) -> None:
    """Print what was checked, what was not, and if it is anchored."""
    close, about, limits, bound, unbound = checked
    print(f"This is {about[0]}.")
    print(f"Close {close['number']} of ledger {close['ledgerId']}, period {show(close['periodId'])},")
    begins = close["startsAt"] or "the beginning"
    print(f"from {begins} to before {close['endsAt']}, closed at {close['closedAt']}.")
    for text in about[1:]:
        print(text)
    print("Not recomputed, as the file does not have what it takes:")
    for text in limits:
        print(f"  - {text}")
    if close["previousCloseHash"] is not None:
        print("  - previousCloseHash: this takes the record of the close before")
    if expect is None:
        print(
            "consistent, NOT anchored: compare with what you got from another source: "
            f"merkleRoot {close['merkleRoot']} closeHash {close['closeHash']}"
        )
    elif expect == close["closeHash"]:
        print(f"verified: closeHash {expect} is the one that was given, it covers the whole record")
    else:
        print("The hash that was given is the merkleRoot. It does not cover:")
        print(f"  - {unbound}")
        print("  - the bounds of the period (startsAt, endsAt), lastSequence and closedAt")
        print("  - the number, periodId, closeId and reason of the close, and the closes before it")
        if close["entryCount"] == 0:
            print("  - anything at all of this period: every period without entries has this root")
        print(f"To cover them, compare closeHash {close['closeHash']}.")
        print(f"verified: {bound} alone: merkleRoot {expect} is the one that was given")


# --- command line -----------------------------------------------------------------------------------------


def expected_hash(text: str) -> str:
    """The value of --expect in lower case."""
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise argparse.ArgumentTypeError("must be 64 hexadecimal digits")
    return text.lower()


def arguments() -> argparse.Namespace:
    """What the command line says; ends the process with EXIT_USAGE if it is wrong or asks for help."""
    parser = argparse.ArgumentParser(
        prog="verify_close.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", help="a bundle or a proof, - for standard input")
    parser.add_argument(
        "--expect", metavar="HASH", type=expected_hash, help="the closeHash or merkleRoot from another source"
    )
    try:
        return parser.parse_args()
    except SystemExit:  # of --help too: 0 is for files that are consistent
        sys.exit(EXIT_USAGE)


def main() -> int:
    """Run the command line; return the exit code."""
    options = arguments()
    sys.setrecursionlimit(10 * MAX_DEPTH)  # a level of a document takes a few calls
    sys.stdout.reconfigure(errors="backslashreplace")
    findings = Findings()
    try:
        with sys.stdin.buffer if options.file == "-" else open(options.file, "rb") as stream:
            checked = check_stream(stream, findings)
        if options.expect is not None:
            check_expected(options.expect, checked.close, findings)
    except Stopped:
        report_findings(findings, True)
        return EXIT_MISMATCH
    except OSError as error:
        print(f"verify_close.py: can't read {options.file}: {error.strerror or error}", file=sys.stderr)
        return EXIT_USAGE
    if findings.texts:
        report_findings(findings, False)
        return EXIT_MISMATCH
    report_consistent(checked, options.expect)
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
