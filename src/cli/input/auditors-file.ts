// What a file of an auditor's says it is, for somebody who gave it to another command.

const formats = {
  bundle: /"format":\s*"ledgerctl-bundle-v1"/,
  proof: /"format":\s*"ledgerctl-proof-v1"/,
  "tlog-proof": /^c2sp\.org\/tlog-proof@v1\n/,
  // Origin, size and root, and then signatures.
  checkpoint: /^[^\n]+\n[0-9]+\n[A-Za-z0-9+/]{43}=\n\n\u00e2\u0080\u0094 /,
} as const;

export type AuditorsFile = keyof typeof formats;

const commands: Readonly<Record<AuditorsFile, string>> = {
  bundle: "`ledgerctl merkle verify --bundle`",
  proof: "`ledgerctl merkle check`",
  "tlog-proof": "`ledgerctl log verify`",
  checkpoint: "`ledgerctl log verify`",
};

/** By its first bytes; null for any other file. */
export function kindOfAuditorsFile(start: Buffer): AuditorsFile | null {
  const text = start.toString("latin1");
  const kinds = Object.keys(formats) as AuditorsFile[];
  return kinds.find((kind) => formats[kind].test(text)) ?? null;
}

/** `a bundle: `ledgerctl merkle verify --bundle` checks it`. */
export function describeAuditorsFile(kind: AuditorsFile): string {
  return `a ${kind}: ${commands[kind]} checks it`;
}
