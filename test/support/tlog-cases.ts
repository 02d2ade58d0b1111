// What the specifications of C2SP refuse, line by line, and what we refuse besides. Whatever is wrong is signed, so that no
// case is refused for its signature alone unless that is the case.
import { cosign } from "../../src/core/checkpoint.ts";
import {
  formatSignatureLine,
  formatVerifierKey,
  NoteSigner,
  signatureTypes,
  type NoteSignature,
} from "../../src/core/note.ts";
import { formatNote } from "./format-note.ts";
import { cosignedAt, journalOrigin, TestLog, witnessOf } from "./tlog.ts";

/** The rule, what breaks it, and what is said of that. */
export type RefusedCase = readonly [why: string, text: string | Buffer, reason: RegExp];

export const log = new TestLog(
  journalOrigin,
  Array.from({ length: 7 }, (_, index) => `leaf ${index}`),
);
export const witness = witnessOf("witness.example.com/w1");
export const logKeyText = formatVerifierKey(log.signer.verifierKey);
export const witnessKeyText = formatVerifierKey(witness.verifierKey);

const text = log.text();
export const logLine = formatSignatureLine(log.signer.sign(text));
export const witnessLine = formatSignatureLine(cosign(witness, text, cosignedAt));
const stranger = new NoteSigner("stranger.example.com", Buffer.alloc(32, 9));
/** Of a key that nobody here knows. */
export const strangerLine = formatSignatureLine(stranger.sign(text));

/** A note with these lines behind its empty line. */
function noteOf(...lines: readonly string[]): string {
  return `${text}\n${lines.join("")}`;
}

/** A note over a text, signed and cosigned. */
function signed(body: string): string {
  return formatNote({
    text: body,
    signatures: [log.signer.sign(body), cosign(witness, body, cosignedAt)],
  });
}

/** The checkpoint with other lines in place of some, signed. */
function withLines(lines: Partial<Record<"origin" | "size" | "root", string>>): string {
  const [origin = "", size = "", root = ""] = text.split("\n");
  return signed(`${lines.origin ?? origin}\n${lines.size ?? size}\n${lines.root ?? root}\n`);
}

/** The line of a stranger with another name. */
function named(name: string): string {
  return strangerLine.replace("stranger.example.com", name);
}

/** The line of a stranger with another text in place of its base64. */
function encoded(base64: (line: string) => string): string {
  return strangerLine.replace(/[^ ]+\n$/, (end) => `${base64(end.trimEnd())}\n`);
}

/** A signature of the witness's key, over whatever. */
function cosignatureOf(signature: Buffer): string {
  const { name, keyId } = witness.verifierKey;
  return formatSignatureLine({ name, keyId, signature });
}

function withTime(signature: NoteSignature, time: bigint): Buffer {
  const bytes = Buffer.from(signature.signature);
  bytes.writeBigUInt64BE(time);
  return bytes;
}

const witnessOfTypeOne = witnessOf(witness.verifierKey.name, signatureTypes.ed25519);
const changedSignature = Buffer.from(log.signer.sign(text).signature);
changedSignature[5] = (changedSignature[5] ?? 0) ^ 1;
const cosignature = cosign(witness, text, cosignedAt);
const littleEndian = Buffer.from(cosignature.signature);
littleEndian.subarray(0, 8).reverse();
const { name: logName, keyId: logKeyId } = log.signer.verifierKey;

/** Signed notes (signed-note.md), each checked with the keys of the log and of one witness who has to cosign. */
export const refusedNotes: readonly RefusedCase[] = [
  ["text and signatures are separated by an empty line", text + logLine, /no empty line/],
  ["there are one or more signatures", `${text}\n`, /no empty line|lines of signatures/],
  ["there is a text", `\n${logLine}`, /no empty line/],
  ["nothing", "", /no empty line/],
  ["the last line ends in a newline", noteOf(logLine, witnessLine).slice(0, -1), /does not end/],
  ["nothing comes after the signatures", noteOf(logLine, witnessLine, "end"), /does not end/],
  ["an empty line at the end", noteOf(logLine, witnessLine, "\n"), /does not end/],
  ["no line but of signatures", noteOf(logLine, "text\n", witnessLine), /line of a signature/],
  ["the last empty line counts", noteOf(logLine, "\n", witnessLine), /three lines/],
  ["an em dash, no hyphen", noteOf(logLine.replace("—", "-"), witnessLine), /line of a sig/],
  ["an em dash, no en dash", noteOf(logLine.replace("—", "–"), witnessLine), /line of a sig/],
  ["a dash", noteOf(logLine.slice(2), witnessLine), /line of a signature/],
  [
    "one space behind the dash",
    noteOf(logLine.replace("— ", "—  "), witnessLine),
    /line of a signature/,
  ],
  ["a space, no tab", noteOf(logLine.replace("— ", "—\t"), witnessLine), /control characters/],
  [
    "nothing behind the signature",
    noteOf(logLine.replace("\n", " \n"), witnessLine),
    /line of a signature/,
  ],
  ["a signature", noteOf(logLine.replace(/ [^ ]+\n/, "\n"), witnessLine), /line of a signature/],
  ["no carriage returns", noteOf(logLine, witnessLine).replaceAll("\n", "\r\n"), /control/],
  ["no NUL", signed(`${journalOrigin}\0\n${text.split("\n").slice(1).join("\n")}`), /control/],
  ["no tab", withLines({ origin: `${journalOrigin}\t` }), /control/],
  ["no escape", withLines({ origin: `${journalOrigin}\x1b` }), /control/],
  ["valid UTF-8", notUtf8(noteOf(logLine, witnessLine)), /is not UTF-8/],
  ["no surrogates in UTF-8", Buffer.from("eda080", "hex"), /is not UTF-8/],
  ["no byte order mark", `\ufeff${noteOf(logLine, witnessLine)}`, /is not valid|no trusted key/],
  ["a name", noteOf(logLine, witnessLine, named("")), /must not be empty|line of a signature/],
  ["no plus sign in a name", noteOf(logLine, witnessLine, named("a+b")), /plus signs/],
  ["no no-break space in a name", noteOf(logLine, witnessLine, named("a\u00a0b")), /spaces/],
  ["no em space in a name", noteOf(logLine, witnessLine, named("a\u2003b")), /spaces/],
  ["no ideographic space in a name", noteOf(logLine, witnessLine, named("a\u3000b")), /spaces/],
  ["no line separator in a name", noteOf(logLine, witnessLine, named("a\u2028b")), /spaces/],
  [
    "standard base64",
    noteOf(
      logLine,
      witnessLine,
      encoded(() => "a-_babcd"),
    ),
    /is not base64/,
  ],
  [
    "base64 with its padding",
    noteOf(
      logLine,
      witnessLine,
      encoded((end) => end.replace("=", "")),
    ),
    /base64/,
  ],
  [
    "base64 without more padding",
    noteOf(
      logLine,
      witnessLine,
      encoded((end) => `${end}=`),
    ),
    /base64/,
  ],
  [
    "no spare bits in base64",
    noteOf(
      logLine,
      witnessLine,
      encoded(() => "AAAAAAF="),
    ),
    /is not base64/,
  ],
  [
    "a key ID of four bytes and more",
    noteOf(
      logLine,
      witnessLine,
      encoded(() => "AAAAAA=="),
    ),
    /too short/,
  ],
  [
    "a key ID",
    noteOf(
      logLine,
      witnessLine,
      encoded(() => "AAAA"),
    ),
    /too short/,
  ],
  [
    "at most 100 signatures",
    noteOf(logLine, witnessLine, strangerLine.repeat(99)),
    /more than 100/,
  ],
  ["at most a megabyte", noteOf(logLine, witnessLine, named("n".repeat(1_000_000))), /megabyte/],
  ["a key that is known", noteOf(strangerLine, witnessLine), /no trusted key of the log/],
  [
    "a signature of a known key is verified, though another's is valid",
    noteOf(formatSignatureLine({ name: logName, keyId: logKeyId, signature: changedSignature })),
    /the signature of .* is not valid/,
  ],
  [
    "a key ID alone is not a known key",
    noteOf(formatSignatureLine({ ...log.signer.sign(text), name: "other" }), witnessLine),
    /no trusted key of the log/,
  ],
  [
    "a name alone is not a known key",
    noteOf(formatSignatureLine({ ...log.signer.sign(text), keyId: "00000000" }), witnessLine),
    /no trusted key of the log/,
  ],
  ["a known key signs once", noteOf(logLine, witnessLine, logLine), /two signatures/],
  [
    "the text includes its last newline",
    noteOf(formatSignatureLine(log.signer.sign(text.slice(0, -1))), witnessLine),
    /the signature of .* is not valid/,
  ],
  [
    "the text does not include the empty line",
    noteOf(formatSignatureLine(log.signer.sign(`${text}\n`)), witnessLine),
    /the signature of .* is not valid/,
  ],
  ["64 bytes of a signature, no fewer", noteOf(ofLength(63), witnessLine), /not valid/],
  ["64 bytes of a signature, no more", noteOf(ofLength(65), witnessLine), /not valid/],
];

/** Texts of checkpoints (tlog-checkpoint.md), signed. */
export const refusedCheckpoints: readonly RefusedCase[] = [
  ["three lines", signed(text.split("\n").slice(0, 2).join("\n") + "\n"), /three lines/],
  ["no extension lines, which ours never have", signed(`${text}extension\n`), /three lines/],
  ["no empty line", signed(`${text}\n`), /three lines/],
  ["an origin that is not empty", withLines({ origin: "" }), /origin is empty/],
  [
    "an origin that is the key's name",
    withLines({ origin: `${journalOrigin}x` }),
    /no trusted key/,
  ],
  ["an origin as its bytes are", withLines({ origin: `${journalOrigin} ` }), /no trusted key/],
  ...[
    "",
    "07",
    "+7",
    "-7",
    "7.0",
    "7e0",
    "0x7",
    " 7",
    "7 ",
    "٧",
    "７",
    "1_0",
    "9007199254740992",
  ].map((size): RefusedCase => [
    `a decimal size, not "${size}"`,
    withLines({ size }),
    /the size .* not a/,
  ]),
  ["a size of twenty digits", withLines({ size: "18446744073709551616" }), /the size/],
  ...[
    ["", "nothing"],
    [log.rootHash(0, 7).toString("hex"), "hexadecimal digits"],
    [log.rootHash(0, 7).toString("base64url"), "base64 for URLs"],
    [log.rootHash(0, 7).toString("base64").replace("=", ""), "base64 without padding"],
    [log.rootHash(0, 7).subarray(1).toString("base64"), "31 bytes"],
    [Buffer.concat([log.rootHash(0, 7), Buffer.of(0)]).toString("base64"), "33 bytes"],
    [`${"A".repeat(42)}B=`, "spare bits"],
    [` ${log.rootHash(0, 7).toString("base64")}`, "a space"],
  ].map(([root = "", what = ""]): RefusedCase => [
    `a root in base64, not ${what}`,
    withLines({ root }),
    /not a hash of 32 bytes|is not base64/,
  ]),
];

/** Cosignatures (tlog-cosignature.md). */
export const refusedCosignatures: readonly RefusedCase[] = [
  ["of the witness's key", noteOf(logLine), /too few witnesses cosigned; missing: witness/],
  [
    "over the header, the time and the text",
    noteOf(logLine, cosignatureOf(witness.signBytes(text))),
    /the cosignature of .* is not valid/,
  ],
  [
    "with its time in the signature",
    noteOf(logLine, cosignatureOf(cosignature.signature.subarray(8))),
    /the cosignature of .* is not valid/,
  ],
  ["with a signature", noteOf(logLine, cosignatureOf(Buffer.alloc(8))), /is not valid/],
  ["with a whole time", noteOf(logLine, cosignatureOf(Buffer.alloc(7))), /is not valid/],
  ["with a time in big-endian order", noteOf(logLine, cosignatureOf(littleEndian)), /not valid/],
  [
    "at the time that is signed",
    noteOf(logLine, cosignatureOf(withTime(cosignature, BigInt(cosignedAt + 1)))),
    /the cosignature of .* is not valid/,
  ],
  ["at a time", noteOf(logLine, formatSignatureLine(cosign(witness, text, 0))), /is not valid/],
  [
    "of this checkpoint",
    noteOf(logLine, formatSignatureLine(cosign(witness, log.text(6), cosignedAt))),
    /the cosignature of .* is not valid/,
  ],
  [
    "with a key ID of the type 0x04",
    noteOf(logLine, formatSignatureLine(cosign(witnessOfTypeOne, text, cosignedAt))),
    /too few witnesses/,
  ],
  ["once", noteOf(logLine, witnessLine, witnessLine), /two signatures/],
  [
    "beside the log's own signature",
    noteOf(witnessLine),
    /no trusted key of the log .* signed the checkpoint/,
  ],
];

/** The log's line with so many bytes in its signature. */
function ofLength(length: number): string {
  const signature = Buffer.alloc(length);
  log.signer.sign(text).signature.copy(signature);
  return formatSignatureLine({ name: logName, keyId: logKeyId, signature });
}

/** With a byte in the line of a stranger that begins no character. */
function notUtf8(right: string): Buffer {
  const bytes = Buffer.from(right + strangerLine);
  bytes[bytes.indexOf("stranger")] = 0xff;
  return bytes;
}
