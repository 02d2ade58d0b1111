// Policies and verifier keys that tlog-policy.md and signed-note.md refuse, and policies that they allow.
import { createHash } from "node:crypto";
import { formatVerifierKey, signatureTypes, type NoteSigner } from "../../src/core/note.ts";
import { log, logKeyText, type RefusedCase } from "./tlog-cases.ts";
import { closesOrigin, TestLog, witnessOf } from "./tlog.ts";

/** The witnesses that are named by one letter each. */
export function witnessesNamed(letters: string): NoteSigner[] {
  return Array.from(letters, (letter) => witnessOf(`witness.example.com/${letter}`));
}

const witnesses = witnessesNamed("abcd");
const [a = "", b = "", c = "", d = ""] = witnesses.map((signer) =>
  formatVerifierKey(signer.verifierKey),
);
const otherLog = new TestLog(closesOrigin, ["leaf"]);
const otherLogKey = formatVerifierKey(otherLog.signer.verifierKey);

/** A verifier key, whatever its parts are. */
function keyText(name: string, type: number, publicKey: Buffer): string {
  const key = Buffer.concat([Buffer.of(type), publicKey]);
  const hashed = createHash("sha256").update(`${name}\n`).update(key);
  return `${name}+${hashed.digest("hex").slice(0, 8)}+${key.toString("base64")}`;
}

/** The first witness's key under another name or of another type. */
function rekeyed(name: string, type: number): string {
  const [first] = witnesses;
  return keyText(name, type, first?.verifierKey.publicKey ?? Buffer.alloc(0));
}

const four = `witness A ${a}\nwitness B ${b}\nwitness C ${c}\nwitness D ${d}\n`;
const start = `log ${logKeyText}\n${four}`;

/** Policy files that can't be read. */
export const refusedPolicies: readonly RefusedCase[] = [
  ["a quorum", start, /no line quorum/],
  ["a quorum in a file of nothing", "", /no line quorum/],
  ["one quorum", `${start}quorum A\nquorum A\n`, /line 7: quorum is given twice/],
  ["one name behind quorum", `${start}quorum A B\n`, /quorum takes one name/],
  ["a name behind quorum", `${start}quorum\n`, /quorum takes one name/],
  ["a quorum that is defined", `${start}quorum E\n`, /"E"|'E' is not defined/],
  ["a quorum that is defined before", `quorum A\n${four}`, /line 1: ("A"|'A') is not defined/],
  ["a group of what is defined before", `group G any A\n${four}quorum G\n`, /is not defined/],
  ["no group of itself", `${start}group G any G\nquorum G\n`, /is not defined/],
  ["a group with members", `${start}group G any\nquorum G\n`, /a name, a threshold and members/],
  ["a threshold", `${start}group G A B\nquorum G\n`, /threshold .* is not a decimal/],
  ...["-1", "+1", "01", "1.0", "١", "Any", "ALL", "", "x"].map((threshold): RefusedCase => [
    `a threshold, not "${threshold}"`,
    `${start}group G ${threshold} A B\nquorum G\n`,
    /threshold/,
  ]),
  ["a threshold from 1", `${start}group G 0 A B\nquorum G\n`, /is not between 1 and 2/],
  ["a threshold up to the members", `${start}group G 3 A B\nquorum G\n`, /not between 1 and 2/],
  ["no group of none", `${start}group G any none A\nquorum G\n`, /none can't be a member/],
  ["a member once", `${start}group G any A A\nquorum G\n`, /is a member of a group already/],
  ["a member of one group", `${start}group G any A\ngroup H any A B\nquorum H\n`, /already/],
  ["names of witnesses once", `${start}witness A ${a}\nquorum A\n`, /is on a line before|already/],
  ["names of groups once", `${start}group G any A\ngroup G any B\nquorum G\n`, /defined already/],
  ["other names of groups than of witnesses", `${start}group A any B\nquorum A\n`, /already/],
  ["other names than none", `witness none ${a}\nquorum none\n`, /is defined already/],
  ["groups with other names than none", `${start}group none any A\nquorum none\n`, /already/],
  ["witnesses once", `${four}witness E ${a}\nquorum A\n`, /public key of .* is on a line before/],
  [
    "witnesses once under any name",
    `${four}witness E ${rekeyed("other", signatureTypes.cosignature)}\nquorum A\n`,
    /public key of other is on a line before/,
  ],
  ["logs once", `log ${logKeyText}\nlog ${logKeyText}\nquorum none\n`, /is on a line before/],
  [
    "logs once under any name",
    `log ${logKeyText}\nlog ${keyText("other", 1, log.signer.verifierKey.publicKey)}\nquorum none\n`,
    /public key of other is on a line before/,
  ],
  ["keys of logs of a log's type", `log ${a}\nquorum none\n`, /type/],
  ["keys of witnesses of type 0x04", `witness A ${logKeyText}\nquorum A\n`, /type/],
  ["no keys of type 0x06", `witness A ${rekeyed("x", 6)}\nquorum A\n`, /type/],
  ["a key behind log", "log\nquorum none\n", /line 1: log takes a key and a URL/],
  ["a URL behind a log's key", `log ${logKeyText} x y\nquorum none\n`, /log takes a key and a URL/],
  ["a key behind a witness's name", "witness A\nquorum A\n", /a name, a key and a URL/],
  ["a URL behind a witness's key", `witness A ${a} x y\nquorum A\n`, /a name, a key and a URL/],
  ["other lines", `${start}witnesses A\nquorum A\n`, /is none of log, witness, group, quorum/],
  ["keywords in lower case", `${start}Quorum A\n`, /is none of log, witness, group, quorum/],
  ["lines that end in newlines", `${start}quorum A\r\n`, /line 6: has a control character/],
  ["no NUL", `${start}# \0\nquorum A\n`, /line 6: has a control character/],
  ["no vertical tab", `${start}quorum\vA\n`, /has a control character/],
  ["no DEL", `${start}# \x7f\nquorum A\n`, /has a control character/],
  ["names as octets", Buffer.from(`witness K ${a}\nquorum \u212a\n`), /is not defined/],
  [
    "names as they are composed",
    Buffer.from(`witness \u00e9 ${a}\nquorum e\u0301\n`),
    /not defined/,
  ],
  ["no byte order mark", Buffer.from(`\ufeff${start}quorum A\n`), /is none of/],
  ["a thousand definitions at most", `${start}${groups(1000)}`, /more than/],
];

/** So many groups, each of the one before. */
function groups(count: number): string {
  const lines = Array.from(
    { length: count },
    (_, index) => `group G${index} any ${index === 0 ? "A" : `G${index - 1}`}\n`,
  );
  return `${lines.join("")}quorum G${count - 1}\n`;
}

interface QuorumCase {
  readonly why: string;
  readonly policy: string | Buffer;
  /** Sets of the witnesses a to d who are enough, and sets who are too few. */
  readonly enough: readonly string[];
  readonly tooFew: readonly string[];
}

const logLine = `log ${logKeyText}\n`;

/** Policies that can be read. */
export const quorums: readonly QuorumCase[] = [
  { why: "nobody", policy: `${start}quorum none\n`, enough: ["", "a", "abcd"], tooFew: [] },
  { why: "nobody at all", policy: `${logLine}quorum none`, enough: ["", "abcd"], tooFew: [] },
  {
    why: "one witness",
    policy: `${start}quorum A\n`,
    enough: ["a", "ab", "abcd"],
    tooFew: ["", "b", "bcd"],
  },
  {
    why: "all of a group",
    policy: `${start}group G all A B C\nquorum G\n`,
    enough: ["abc", "abcd"],
    tooFew: ["", "a", "ab", "ac", "bc", "abd"],
  },
  {
    why: "any of a group",
    policy: `${start}group G any A B C\nquorum G\n`,
    enough: ["a", "b", "c", "abcd"],
    tooFew: ["", "d"],
  },
  {
    why: "two of three",
    policy: `${start}group G 2 A B C\nquorum G\n`,
    enough: ["ab", "ac", "bc", "abc", "abd"],
    tooFew: ["", "a", "ad", "d"],
  },
  {
    why: "three of three",
    policy: `${start}group G 3 A B C\nquorum G\n`,
    enough: ["abc", "abcd"],
    tooFew: ["ab", "abd", "bcd"],
  },
  {
    why: "all of two groups",
    policy: `${start}group G 2 A B\ngroup H any C D\ngroup I all G H\nquorum I\n`,
    enough: ["abc", "abd"],
    tooFew: ["ab", "acd", "cd"],
  },
  {
    why: "a group, or a witness",
    policy: `${start}group G 2 A B C\ngroup H 1 G D\nquorum H\n`,
    enough: ["ab", "d", "ad", "bc"],
    tooFew: ["", "a", "b", "c"],
  },
  {
    why: "a witness, whatever groups there are",
    policy: `${start}group G all A B\nquorum C\n`,
    enough: ["c", "abc"],
    tooFew: ["ab", "abd"],
  },
  {
    why: "groups of groups, nearly a thousand deep",
    policy: `${start}${groups(990)}`,
    enough: ["a", "ab"],
    tooFew: ["", "b", "bcd"],
  },
  {
    why: "white space, comments and empty lines",
    policy: `\n  # comment\n\t\n${start.replaceAll(" ", " \t ")}\t quorum \t A \t\n\n`,
    enough: ["a"],
    tooFew: ["", "b"],
  },
  {
    why: "several logs, and no newline at the end",
    policy: `log ${otherLogKey}\n${start}quorum A\n# no newline`,
    enough: ["a"],
    tooFew: ["", "b"],
  },
  {
    why: "URLs",
    policy: `log ${logKeyText} https://x/é\nwitness A ${a} https://y\nquorum A\n`,
    enough: ["a"],
    tooFew: ["", "b"],
  },
  {
    why: "a name that is no UTF-8",
    policy: Buffer.from(`${logLine}witness \xff ${a}\nquorum \xff\n`, "latin1"),
    enough: ["a", "ab"],
    tooFew: ["", "b"],
  },
  {
    why: "names that Unicode takes for the same",
    policy: `${logLine}witness K ${a}\nwitness \u212a ${b}\nquorum \u212a\n`,
    enough: ["b", "ab"],
    tooFew: ["", "a"],
  },
  {
    why: "names like keywords",
    policy: `${logLine}witness any ${a}\nwitness quorum ${b}\ngroup log all any quorum\nquorum log\n`,
    enough: ["ab"],
    tooFew: ["a", "b"],
  },
];

const right = log.signer.verifierKey;
const encodedKey = logKeyText.split("+").slice(2).join("+");

/** Verifier keys of logs that can't be read. */
export const refusedKeys: readonly RefusedCase[] = [
  ["three parts", right.name, /is no verifier key/],
  ["a key", `${right.name}+${right.keyId}`, /is no verifier key/],
  ["a key that is not empty", `${right.name}+${right.keyId}+`, /key/],
  ["nothing", "", /is no verifier key/],
  ["a name", `+${right.keyId}+${encodedKey}`, /empty/],
  ["a name without spaces", logKeyText.replace("ledger", "led ger"), /spaces/],
  ["a name without newlines", logKeyText.replace("ledger", "led\nger"), /spaces|control/],
  ["no no-break space", logKeyText.replace("ledger", "led\u00a0ger"), /spaces/],
  ["a key ID in lower case", logKeyText.replace(right.keyId, right.keyId.toUpperCase()), /key ID/],
  ["a whole key ID", logKeyText.replace(right.keyId, right.keyId.slice(1)), /the key ID in/],
  ["the key ID of the key", logKeyText.replace(right.keyId, "00000000"), /the key ID in/],
  ["the key ID of the name", logKeyText.replace("ledger", "other"), /the key ID in/],
  ["base64 with its padding", keyText("x", 1, Buffer.alloc(31)).replace(/=+$/, ""), /base64|bytes/],
  ["nothing behind the key", `${logKeyText}=`, /is not base64/],
  ["nothing around the key", ` ${logKeyText}`, /spaces/],
  ["no newline", `${logKeyText}\n`, /is not base64/],
  ["a key of the type", keyText("x", 4, right.publicKey), /type/],
  ["a type that is known", keyText("x", 2, right.publicKey), /type/],
  ["32 bytes, no fewer", keyText("x", 1, Buffer.alloc(31, 1)), /32 bytes/],
  ["32 bytes, no more", keyText("x", 1, Buffer.alloc(33, 1)), /32 bytes/],
  ["bytes behind the type", keyText("x", 1, Buffer.alloc(0)), /32 bytes/],
];
