#!/usr/bin/env python3
"""Verify a closed accounting period from a file, trusting nobody who made it.

    python3 verify_close.py FILE [--expect ROOT|CLOSEHASH] [--proof PROOF KEYS]
    python3 verify_close.py FILE... KEYS [--json]

KEYS are --policy POLICY, or --verifier-key VKEY (once for each log), and --witness-key VKEY (once for each witness
that must have signed).

In the first form FILE is a bundle (`ledgerctl-bundle-v1`, one JSON object a line) or a proof
(`ledgerctl-proof-v1`, one JSON object). The two are told apart by their `format`. A FILE of `-` is standard input.

Every hash is computed here from the content of the file. A file that agrees with itself proves little, as
whoever can write one file can write another. So give the `closeHash` (or the `merkleRoot`) that you have
received from another source with `--expect`: 64 hexadecimal digits. A `closeHash` covers everything, a
`merkleRoot` the entries alone. Or give the keys of the ledger's log `closes`, and with `--proof` the tlog-proof
that this close is in it.

In the second form each FILE is a signed checkpoint of a log, or a tlog-proof of an entry or a close in one
(c2sp.org/tlog-checkpoint, c2sp.org/tlog-proof). POLICY is a file (c2sp.org/tlog-policy).

What is printed at the end, and the exit code:

    verified: ...                  0   all is consistent, and --expect is the record's, or it is in the log that
                                       was signed
    consistent, NOT anchored: ...  0   all is consistent, but neither --expect nor --proof was given
    NOT verified: ...              3   something does not match, or the file is cut off or not of these formats
    (a message on standard error)  2   bad usage, a key or a policy that is none, or a file that can't be read;
                                       also after --help

This is one file of Python 3.9 or later with nothing but the standard library. It is written from
docs/proofs.md, which describes the formats and the steps, and from the specifications that are named above. A
bundle is read line by line; what is kept is one row for each account and one hash for each level of the tree.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import re
import sys
from collections import Counter, defaultdict
from contextlib import contextmanager
from datetime import date, datetime, timezone
from decimal import Decimal, InvalidOperation
from json import JSONDecodeError, JSONDecoder, JSONEncoder
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, NamedTuple, NoReturn, Optional, Set, Tuple

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
MAX_NOTE = 1_000_000  # bytes of a signed note
MAX_SIGNATURES = 100  # of a signed note
MAX_DEFINITIONS = 1000  # of a policy

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
TIME = re.compile(r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z")
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
    "reversesJournalId": or_null(UUID_TYPE),
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


def has_entry_members(entry: Any, where: str, findings: Findings) -> bool:
    """Check that an entry and its lines have exactly their members, each of its kind."""
    if not has_members(entry, ENTRY, where, findings):
        return False
    lines = enumerate(entry["lines"])
    return all([has_members(line, LINE, f"{where}, lines[{index}]", findings) for index, line in lines])


def check_sum(entry: Document, where: str, findings: Findings) -> None:
    """Check that the lines of an entry sum to zero."""
    total = sum(int(line["functionalAmount"]) for line in entry["lines"])
    if total:
        findings.differs(where, "the sum of functionalAmount over the lines", "0", total)


def check_entry(entry: Any, close: Document, where: str, findings: Findings) -> bool:
    """
    Check that an entry is of the ledger and the period of a close record and sums to zero. False if its members are
    not right, so that nothing else could be checked.
    """
    if not has_entry_members(entry, where, findings):
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
    check_sum(entry, where, findings)
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


# --- Ed25519 (RFC 8032, section 5.1) ----------------------------------------------------------------------

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, PRIME) % PRIME
ROOT_OF_MINUS_ONE = pow(2, (PRIME - 1) // 4, PRIME)
# A point (x, y) as (X, Y, Z, T): x = X / Z, y = Y / Z and x * y = T / Z.
Point = Tuple[int, int, int, int]
NEUTRAL: Point = (0, 1, 1, 0)


def add_points(one: Point, other: Point) -> Point:
    """The sum of two points (section 5.1.4)."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % PRIME
    b = (one[1] + one[0]) * (other[1] + other[0]) % PRIME
    c = 2 * one[3] * other[3] * D % PRIME
    d = 2 * one[2] * other[2] % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def decode_point(data: bytes) -> Optional[Point]:
    """The point that 32 bytes are the one encoding of (section 5.1.3), or None."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= PRIME:
        return None
    u, v = (y * y - 1) % PRIME, (D * y * y + 1) % PRIME
    x = u * pow(v, 3, PRIME) * pow(u * pow(v, 7, PRIME), (PRIME - 5) // 8, PRIME) % PRIME
    if v * x * x % PRIME != u:
        x = x * ROOT_OF_MINUS_ONE % PRIME
    if v * x * x % PRIME != u or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = PRIME - x
    return x, y, 1, x * y % PRIME


def encode_point(point: Point) -> bytes:
    """The encoding of a point (section 5.1.2)."""
    inverse = pow(point[2], -1, PRIME)
    x, y = point[0] * inverse % PRIME, point[1] * inverse % PRIME
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE = decode_point((4 * pow(5, -1, PRIME) % PRIME).to_bytes(32, "little")) or NEUTRAL


def is_of_small_order(point: Point) -> bool:
    """Whether eight times a point is the neutral one."""
    for _ in range(3):
        point = add_points(point, point)
    return encode_point(point) == encode_point(NEUTRAL)


def is_ed25519(text: bytes, signature: bytes, public_key: bytes) -> bool:
    """
    Whether a signature over a text is that of a public key (section 5.1.7). The equation is the one without the
    cofactor; R is compared by its bytes, as OpenSSL and Go do. Keys of small order, for which anybody can sign,
    have no signatures, and no signature has an R of small order: versions of OpenSSL differ in that with R = 1.
    """
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key = decode_point(public_key)
    r = decode_point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if key is None or r is None or s >= ORDER:
        return False
    if is_of_small_order(key) or is_of_small_order(r):
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public_key + text).digest(), "little") % ORDER
    minus_key = (PRIME - key[0], key[1], 1, PRIME - key[3])
    # s * BASE - k * key, both multiplications in one pass over the bits.
    summands = (NEUTRAL, BASE, minus_key, add_points(BASE, minus_key))
    sum_of_both = NEUTRAL
    for bit in range(252, -1, -1):
        sum_of_both = add_points(sum_of_both, sum_of_both)
        sum_of_both = add_points(sum_of_both, summands[(s >> bit & 1) + 2 * (k >> bit & 1)])
    return encode_point(sum_of_both) == signature[:32]


# --- signed notes (c2sp.org/signed-note) ------------------------------------------------------------------


class Refused(ValueError):
    """A note, proof, key or policy that does not hold, and why."""


LOG_KEY = 0x01  # Ed25519 over the text of a note
WITNESS_KEY = 0x04  # Ed25519 over a time and a checkpoint (c2sp.org/tlog-cosignature)
# Without spaces (Unicode's White_Space), control characters and plus signs.
KEY_NAME = re.compile(r"[^\x00-\x20\x7f-\xa0+\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
DECIMAL = re.compile(r"0|[1-9][0-9]{0,15}")


class Key(NamedTuple):
    """A public key, and the name that it signs under."""

    name: str
    key_id: bytes
    public_key: bytes


class Note(NamedTuple):
    """A text with its last newline, and its signatures: names, key ids, and what is behind these."""

    text: bytes
    signatures: List[Tuple[str, bytes, bytes]]


def decode_utf8(data: bytes) -> str:
    """Text, or Refused."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("is not UTF-8") from None


def decode_base64(text: str, what: str) -> bytes:
    """Bytes from standard base64, in the one form that encodes them; or Refused, which names it."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        data = b""
    if base64.b64encode(data).decode() != text:
        raise Refused(f"{what} is not base64")
    return data


def decode_hash(text: str) -> bytes:
    """A hash from base64."""
    data = decode_base64(text, show(text))
    if len(data) != 32:
        raise Refused(f"{show(text)} is not a hash of 32 bytes in base64")
    return data


def decode_decimal(text: str, what: str) -> int:
    """A whole number without sign and leading zeros."""
    if not DECIMAL.fullmatch(text) or int(text) > MAX_INTEGER:
        raise Refused(f"the {what} {show(text)} is not a decimal number up to 2^53 - 1")
    return int(text)


def parse_key(data: bytes, kind: int) -> Key:
    """A verifier key of this type: name, key id in hexadecimal, and base64 of type and key, joined by plus signs."""
    text = decode_utf8(data)
    if text.count("+") < 2:
        raise Refused(f"{show(text)} is no verifier key: name, key ID and key are joined by +")
    name, key_id, encoded = text.split("+", 2)
    if not KEY_NAME.fullmatch(name):
        raise Refused(f"{show(text)} is no verifier key: its name is empty, or has spaces or control characters")
    key = decode_base64(encoded, f"the key in {show(text)}")
    computed = hashlib.sha256(name.encode() + b"\n" + key).digest()[:4]
    if not key or computed.hex() != key_id:
        raise Refused(f"the key ID in {show(text)} is not that of its name and key")
    if key[0] != kind or len(key) != 33:
        raise Refused(f"the key of {name} is not one of 32 bytes and of type 0x{kind:02x}")
    return Key(name, computed, key[1:])


def parse_note(data: bytes) -> Note:
    """The text of a signed note and its signatures, of which none is checked."""
    if len(data) > MAX_NOTE:
        raise Refused("is longer than a megabyte")
    text = decode_utf8(data)
    if re.search(r"[\x00-\x09\x0b-\x1f]", text):
        raise Refused("has control characters")
    body, blank, rest = text.rpartition("\n\n")
    *lines, end = rest.split("\n")
    if not blank or not lines or end:
        raise Refused("does not have a text, an empty line, and lines of signatures up to its end")
    if len(lines) > MAX_SIGNATURES:
        raise Refused(f"has more than {MAX_SIGNATURES} signatures")
    return Note(f"{body}\n".encode(), [parse_signature(line) for line in lines])


def parse_signature(line: str) -> Tuple[str, bytes, bytes]:
    """The name, the key id and the signature of a line."""
    dash, _, rest = line.partition(" ")
    name, _, encoded = rest.partition(" ")
    if dash != "\u2014" or not KEY_NAME.fullmatch(name):
        raise Refused(f"{show(line)} is not the line of a signature")
    data = decode_base64(encoded, f"the signature in {show(line)}")
    if len(data) <= 4:
        raise Refused(f"the signature in {show(line)} is too short")
    return name, data[:4], data[4:]


def signature_of(note: Note, key: Key) -> Optional[bytes]:
    """The one signature of a key, or None."""
    found = [data for name, key_id, data in note.signatures if (name, key_id) == (key.name, key.key_id)]
    if len(found) > 1:
        raise Refused(f"has two signatures of {key.name}+{key.key_id.hex()}")
    return found[0] if found else None


# --- policies (c2sp.org/tlog-policy) ----------------------------------------------------------------------

# Who has to have cosigned: names, of which so many.
Group = Tuple[bytes, int, List[bytes]]


class Policy:
    """The keys of logs and witnesses that are trusted, and which of the witnesses have to cosign."""

    def __init__(self) -> None:
        self.logs: List[Key] = []
        self.witnesses: Dict[bytes, Key] = {}  # by their names in the policy
        self.groups: List[Group] = []  # each only of witnesses and of groups before it
        self.quorum: Optional[bytes] = None
        self.required: List[Key] = []  # witnesses without whom no quorum is enough
        self.members: Set[bytes] = set()  # of groups
        self.definitions = 0

    def read(self, line: bytes) -> None:
        """Read a line of a policy file."""
        if re.search(rb"[^\t\x20-\x7e\x80-\xff]", line):
            raise Refused("has a control character")
        keyword, *items = re.findall(rb"[^\t ]+", line) or [b"#"]
        if keyword.startswith(b"#"):
            return
        self.definitions += 1
        if self.definitions > MAX_DEFINITIONS:
            raise Refused(f"the policy has more than {MAX_DEFINITIONS} definitions")
        readers = {
            b"log": self.read_log,
            b"witness": self.read_witness,
            b"group": self.read_group,
            b"quorum": self.read_quorum,
        }
        if keyword not in readers:
            raise Refused(f"{name_of(keyword)} is none of log, witness, group, quorum")
        readers[keyword](items)

    def read_log(self, items: List[bytes]) -> None:
        """A key, and perhaps a URL."""
        if not 1 <= len(items) <= 2:
            raise Refused("log takes a key and a URL")
        key = parse_key(items[0], LOG_KEY)
        require_new(key, self.logs)
        self.logs.append(key)

    def read_witness(self, items: List[bytes]) -> None:
        """A name, a key, and perhaps a URL."""
        if not 2 <= len(items) <= 3:
            raise Refused("witness takes a name, a key and a URL")
        key = parse_key(items[1], WITNESS_KEY)
        require_new(key, self.witnesses.values())
        self.require_undefined(items[0])
        self.witnesses[items[0]] = key

    def read_group(self, items: List[bytes]) -> None:
        """A name, how many of its members have to cosign, and these."""
        if len(items) < 3:
            raise Refused("group takes a name, a threshold and members")
        name, threshold, *members = items
        for member in members:
            if member == b"none":
                raise Refused("none can't be a member of a group")
            if member in self.members:
                raise Refused(f"{name_of(member)} is a member of a group already")
            self.require_defined(member)
            self.members.add(member)
        counts = {b"any": 1, b"all": len(members)}
        count = counts.get(threshold) or decode_decimal(threshold.decode("latin-1"), "threshold")
        if not 1 <= count <= len(members):
            raise Refused(f"the threshold {count} is not between 1 and {len(members)}")
        self.require_undefined(name)
        self.groups.append((name, count, members))

    def read_quorum(self, items: List[bytes]) -> None:
        """The name of the witness or the group that has to cosign, or none."""
        if len(items) != 1:
            raise Refused("quorum takes one name")
        if self.quorum is not None:
            raise Refused("quorum is given twice")
        if items[0] != b"none":
            self.require_defined(items[0])
        self.quorum = items[0]

    def is_defined(self, name: bytes) -> bool:
        """Whether a witness or a group has this name."""
        return name in self.witnesses or any(name == group for group, _, _ in self.groups)

    def require_defined(self, name: bytes) -> None:
        """Refuse a name that nothing before has."""
        if not self.is_defined(name):
            raise Refused(f"{name_of(name)} is not defined on a line before")

    def require_undefined(self, name: bytes) -> None:
        """Refuse a name that something before has."""
        if name == b"none" or self.is_defined(name):
            raise Refused(f"{name_of(name)} is defined already")

    def is_enough(self, cosigned: Set[Key]) -> bool:
        """Whether cosignatures of these witnesses are enough."""
        names = {name for name, key in self.witnesses.items() if key in cosigned}
        for name, count, members in self.groups:
            if sum(member in names for member in members) >= count:
                names.add(name)
        return self.quorum in (None, b"none", *names) and cosigned.issuperset(self.required)


def name_of(octets: bytes) -> str:
    """A name of a policy, for messages."""
    return show(octets.decode("utf-8", "replace"))


def require_new(key: Key, others: Iterable[Key]) -> None:
    """Refuse a key whose public key others have already."""
    if key.public_key in [other.public_key for other in others]:
        raise Refused(f"the public key of {key.name} is on a line before")


def parse_policy(data: bytes) -> Policy:
    """A policy file."""
    policy = Policy()
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            policy.read(line)
        except Refused as error:
            raise Refused(f"line {number}: {error}") from None
    if policy.quorum is None:
        raise Refused("the policy has no line quorum")
    return policy


# --- checkpoints, cosignatures and proofs (c2sp.org/tlog-checkpoint, tlog-cosignature, tlog-proof) ----------

TLOG_PROOF = b"c2sp.org/tlog-proof@v1\n"
ORIGIN = re.compile(rf".+/({UUID.pattern})/(journal|closes)(?:\.(?:[2-9]|[1-9][0-9]{{1,8}}))?")
HASHED_CLOSE = {name: kind for name, kind in CLOSE.items() if name != "closeHash"}


class Checkpoint(NamedTuple):
    """What a log says of itself, and who signed it: the log, then witnesses with their times in Unix seconds."""

    origin: str
    size: int
    root: str
    signers: List[Tuple[str, Optional[int]]]


def parse_checkpoint(text: bytes) -> Tuple[str, int, str]:
    """Origin, size and root of the text of a note, which has exactly these three lines."""
    lines = text.decode().split("\n")
    if len(lines) != 4 or not lines[0]:
        raise Refused("a checkpoint has three lines: origin, size and root")
    return lines[0], decode_decimal(lines[1], "size"), decode_hash(lines[2]).hex()


def cosignature_time(text: bytes, signature: bytes, key: Key) -> int:
    """When a witness cosigned a checkpoint, in Unix seconds."""
    time = int.from_bytes(signature[:8], "big")
    message = b"cosignature/v1\ntime %d\n%s" % (time, text)
    # A time of 0 says that there is none.
    if not 0 < time <= MAX_INTEGER or not is_ed25519(message, signature[8:], key.public_key):
        raise Refused(f"the cosignature of {key.name} is not valid")
    return time


def verify_checkpoint(data: bytes, policy: Policy) -> Checkpoint:
    """
    Check a signed note: a log of the policy with its origin signed it, all signatures of keys that are trusted are
    valid, and enough witnesses cosigned.
    """
    note = parse_note(data)
    origin, size, root = parse_checkpoint(note.text)
    signers: List[Tuple[str, Optional[int]]] = []
    for key in policy.logs:
        signature = signature_of(note, key)
        if signature is None:
            continue
        if not is_ed25519(note.text, signature, key.public_key):
            raise Refused(f"the signature of {key.name} is not valid")
        if key.name == origin and not signers:
            signers.append((origin, None))
    if not signers:
        raise Refused(f"no trusted key of the log {show(origin)} signed the checkpoint")
    cosigned: Set[Key] = set()
    witnesses = dict.fromkeys([*policy.witnesses.values(), *policy.required])
    for key in witnesses:
        signature = signature_of(note, key)
        if signature is not None:
            signers.append((key.name, cosignature_time(note.text, signature, key)))
            cosigned.add(key)
    if not policy.is_enough(cosigned):
        missing = ", ".join(key.name for key in witnesses if key not in cosigned)
        raise Refused(f"too few witnesses cosigned; missing: {missing}")
    return Checkpoint(origin, size, root, signers)


def verify_tlog_proof(data: bytes, policy: Policy) -> Tuple[Checkpoint, int, bytes]:
    """Check a tlog-proof: its checkpoint, the index of its leaf, and the leaf's data, which is in the proof itself."""
    head, blank, note = data.partition(b"\n\n")
    if not data.startswith(TLOG_PROOF) or not blank:
        raise Refused(f"does not begin with the line {TLOG_PROOF.decode().strip()} and end with a checkpoint")
    checkpoint = verify_checkpoint(note, policy)
    lines = decode_utf8(head).split("\n")[1:]
    record = None
    if lines and lines[0].startswith("extra "):
        record = decode_base64(lines.pop(0)[len("extra ") :], 'the line "extra"')
    if not lines or not lines[0].startswith("index "):
        raise Refused('has no line "index"')
    index = decode_decimal(lines.pop(0)[len("index ") :], "index")
    path = [decode_hash(line) for line in lines]
    if record is None:
        raise Refused("the proof does not have its record (extra)")
    if index >= checkpoint.size:
        raise Refused(f"a tree of {checkpoint.size} leaves has no leaf {index}")
    leaf = hashlib.sha256(b"\x00" + record).digest()
    root, problem = root_from_path(leaf, index, checkpoint.size, path)
    if root is None:
        raise Refused(problem)
    if root != checkpoint.root:
        signed = f"not to the one that was signed, {checkpoint.root}"
        raise Refused(f"the record at index {index} leads to the root {root}, {signed}")
    return checkpoint, index, record


def read_record(origin: str, index: int, data: bytes) -> Tuple[str, Document]:
    """
    The entry or the close that is the leaf of a log at an index, in canonical form, of the ledger and with the sequence
    or number that belong there. A close has its closeHash: the hash of these bytes.
    """
    match = ORIGIN.fullmatch(origin)
    if match is None:
        raise Refused(f"{show(origin)} is no journal or closes of a ledger")
    ledger, log = match.groups()
    kind, ordinal = ("entry", "sequence") if log == "journal" else ("close", "number")
    try:
        record = read_json(data)
    except ReadError as error:
        raise Refused(f"the record is {error}") from None
    if canonical(record) != data:
        raise Refused("the record is not in canonical form (RFC 8785)")
    findings = Findings()
    try:
        check_record(kind, record, data, findings)
    except Stopped:
        pass
    if findings.texts:
        raise Refused(findings.texts[0])
    if record["ledgerId"] != ledger:
        raise Refused(f"the {kind} is of the ledger {record['ledgerId']}, the log of {ledger}")
    if record[ordinal] != index + 1:
        expected = f"the leaf of {index + 1} was expected at index {index}"
        raise Refused(f"the {kind} has the {ordinal} {record[ordinal]}, but {expected}")
    return kind, record


def check_record(kind: str, record: Any, data: bytes, findings: Findings) -> None:
    """Check an entry or a close by itself, and give a close its closeHash."""
    if kind == "entry":
        if has_entry_members(record, "the entry", findings):
            check_sum(record, "the entry", findings)
    elif has_members(record, HASHED_CLOSE, "the close", findings):
        record["closeHash"] = hashlib.sha256(data).hexdigest()
        check_close(record, "the close", findings)


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


class Unusable(Exception):
    """Raised when a file can't be read, or a policy is none: nothing is verified."""


@contextmanager
def open_file(name: str) -> Iterator[BinaryIO]:
    """A file to read, `-` is standard input; Unusable where that fails."""
    try:
        with sys.stdin.buffer if name == "-" else open(name, "rb") as stream:
            yield stream
    except OSError as error:
        raise Unusable(f"can't read {name}: {error.strerror or error}") from None


def read_file(name: str) -> bytes:
    """All of a file; Refused where it is too long."""
    with open_file(name) as stream:
        data = stream.read(MAX_LINE + 1)
    if len(data) > MAX_LINE:
        raise Refused(f"longer than {MAX_LINE} bytes, which is not read")
    return data


class Signed(NamedTuple):
    """What was checked of a checkpoint or a tlog-proof; in a checkpoint there is no record."""

    checkpoint: Checkpoint
    index: Optional[int]
    kind: str
    record: Optional[Document]


def check_signed(data: bytes, policy: Policy) -> Signed:
    """Tell a checkpoint from a tlog-proof and verify it."""
    if not data.startswith(TLOG_PROOF):
        return Signed(verify_checkpoint(data, policy), None, "", None)
    checkpoint, index, leaf = verify_tlog_proof(data, policy)
    return Signed(checkpoint, index, *read_record(checkpoint.origin, index, leaf))


def check_anchor(proof: str, policy: Policy, close: Document, findings: Findings) -> Optional[Signed]:
    """Compare the record with the close that the tlog-proof in a file shows to be in a log."""
    try:
        signed = check_signed(read_file(proof), policy)
    except Refused as error:
        findings.add("--proof", str(error))
        return None
    if signed.kind != "close" or signed.record is None:
        found = f"that of an {signed.kind}" if signed.kind else "a checkpoint"
        findings.differs("--proof", "the proof", "that of a close", found)
    elif signed.record["closeHash"] != close["closeHash"]:
        findings.differs("--proof", "closeHash", show(close["closeHash"]), show(signed.record["closeHash"]))
    return signed


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


def moment(seconds: int) -> str:
    """A Unix time as people read it."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return f"{seconds} seconds after 1970"


def report_signers(checkpoint: Checkpoint) -> None:
    """Print a checkpoint and who signed it."""
    print(f"Checkpoint of {checkpoint.origin},")
    print(f"size {checkpoint.size}, root {checkpoint.root}")
    for name, time in checkpoint.signers:
        print(f"  signed by {name}" if time is None else f"  cosigned by {name} at {moment(time)}")


def report_signed(name: str, signed: Signed) -> None:
    """Print what a checkpoint or a tlog-proof shows."""
    print(f"{name}: a {'tlog-proof' if signed.record else 'checkpoint'}")
    report_signers(signed.checkpoint)
    record = signed.record
    if record is None:
        return
    if signed.kind == "entry":
        about = f"dated {record['transactionDate']}, {counted(len(record['lines']), 'line', 'lines')}"
        print(f"  index {signed.index}: {entry_name(record)}, {about}")
    else:
        about = f"period {show(record['periodId'])}, closeHash {record['closeHash']}"
        print(f"  index {signed.index}: close {record['number']}, {about}")


def signed_document(name: str, kind: str, signed: Optional[Signed], finding: Optional[str]) -> Document:
    """What a file shows, or why it shows nothing, for programs."""
    origin, size, root, signers = signed.checkpoint if signed else (None, None, None, [])
    return {
        "file": name,
        "kind": kind,
        "ok": finding is None,
        "origin": origin,
        "size": size,
        "rootHash": root,
        "index": signed.index if signed else None,
        "record": signed.record if signed else None,
        "signers": [{"name": signer, "time": time} for signer, time in signers],
        "finding": finding,
    }


def report_anchor(close: Document, signed: Signed) -> None:
    """Print in which log the record is."""
    report_signers(signed.checkpoint)
    print(f"verified: closeHash {close['closeHash']} is at index {signed.index} of the log, it covers the whole record")


def report_consistent(checked: Checked, expect: Optional[str], anchor: Optional[Signed]) -> None:
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
    if anchor is not None:
        report_anchor(close, anchor)
    elif expect is None:
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


def key_argument(kind: int) -> Callable[[str], Key]:
    """The type of an argument that is a verifier key."""

    def parse(text: str) -> Key:
        try:
            return parse_key(os.fsencode(text), kind)
        except Refused as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse


def arguments() -> argparse.Namespace:
    """What the command line says; ends the process with EXIT_USAGE if it is wrong or asks for help."""
    parser = argparse.ArgumentParser(
        prog="verify_close.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", nargs="*", help="what to check, - for standard input")
    parser.add_argument("--bundle", metavar="FILE", help="a bundle, the same as FILE")
    parser.add_argument(
        "--expect", metavar="HASH", type=expected_hash, help="the closeHash or merkleRoot from another source"
    )
    parser.add_argument("--proof", metavar="FILE", help="the tlog-proof of a bundle's close, which anchors it")
    parser.add_argument("--policy", metavar="FILE", help="which logs and witnesses are trusted")
    parser.add_argument(
        "--verifier-key",
        metavar="VKEY",
        action="append",
        type=key_argument(LOG_KEY),
        help="the key of a log that is trusted, once for each",
    )
    parser.add_argument(
        "--witness-key",
        metavar="VKEY",
        action="append",
        type=key_argument(WITNESS_KEY),
        default=[],
        help="the key of a witness that must have cosigned, once for each",
    )
    parser.add_argument("--json", action="store_true", help="checkpoints and tlog-proofs: print one JSON document")
    try:
        options = parser.parse_intermixed_args()
        problem = usage_problem(options)
        if problem:
            parser.error(problem)
        return options
    except SystemExit:  # of --help too: 0 is for files that are consistent
        sys.exit(EXIT_USAGE)


def usage_problem(options: argparse.Namespace) -> str:
    """What is wrong with arguments that do not go together; empty if they do."""
    if options.bundle is not None:
        options.file.append(options.bundle)
    has_keys = options.policy is not None or options.verifier_key is not None
    if not options.file:
        return "the following arguments are required: FILE"
    if [*options.file, options.proof, options.policy].count("-") > 1:
        return "standard input can only be one file"
    if options.policy is not None and options.verifier_key is not None:
        return "give --policy or --verifier-key, not both"
    if not has_keys and (options.proof is not None or options.witness_key or options.json):
        return "--proof, --witness-key and --json need --policy or --verifier-key"
    is_close = options.proof is not None or not has_keys
    if is_close and len(options.file) > 1:
        return f"one bundle or proof at a time, not {len(options.file)}"
    if options.proof is not None and options.json:
        return "--json is for checkpoints and tlog-proofs"
    if not is_close and (options.expect is not None or options.bundle is not None):
        return "these keys anchor a bundle together with its --proof; --expect is for bundles and proofs"
    return ""


def read_policy(options: argparse.Namespace) -> Policy:
    """The keys that are trusted."""
    policy = Policy()
    if options.policy is None:
        policy.logs = options.verifier_key
    else:
        try:
            policy = parse_policy(read_file(options.policy))
        except Refused as error:
            raise Unusable(f"{options.policy} is no policy: {error}") from None
    policy.required = options.witness_key
    return policy


def verify_signed(options: argparse.Namespace, policy: Policy) -> int:
    """Verify checkpoints and tlog-proofs."""
    documents: List[Document] = []
    for name in options.file:
        kind = "checkpoint"
        try:
            data = read_file(name)
            kind = "proof" if data.startswith(TLOG_PROOF) else "checkpoint"
            signed = check_signed(data, policy)
            documents.append(signed_document(name, kind, signed, None))
            if not options.json:
                report_signed(name, signed)
        except Refused as error:
            documents.append(signed_document(name, kind, None, str(error)))
            if not options.json:
                print(f"{name}: {error}")
    failed = [document for document in documents if not document["ok"]]
    if options.json:
        # In ASCII, whatever the encoding of the output is.
        print(JSONEncoder().encode({"ok": not failed, "files": documents}))
    elif failed:
        print(f"NOT verified: {len(failed)} of {counted(len(documents), 'file', 'files')}")
    else:
        print(f"verified: {counted(len(documents), 'file', 'files')}")
    return EXIT_MISMATCH if failed else EXIT_OK


def verify_close(options: argparse.Namespace, policy: Optional[Policy]) -> int:
    """Verify a bundle or a proof."""
    findings = Findings()
    anchor: Optional[Signed] = None
    try:
        with open_file(options.file[0]) as stream:
            checked = check_stream(stream, findings)
        if options.expect is not None:
            check_expected(options.expect, checked.close, findings)
        if policy is not None:
            anchor = check_anchor(options.proof, policy, checked.close, findings)
    except Stopped:
        report_findings(findings, True)
        return EXIT_MISMATCH
    if findings.texts:
        report_findings(findings, False)
        return EXIT_MISMATCH
    report_consistent(checked, options.expect, anchor)
    return EXIT_OK


def main() -> int:
    """Run the command line; return the exit code."""
    options = arguments()
    sys.setrecursionlimit(10 * MAX_DEPTH)  # a level of a document takes a few calls
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        has_keys = options.policy is not None or options.verifier_key is not None
        policy = read_policy(options) if has_keys else None
        if policy is not None and options.proof is None:
            return verify_signed(options, policy)
        return verify_close(options, policy)
    except Unusable as error:
        print(f"verify_close.py: {error}", file=sys.stderr)
        return EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main())
