// What a file of an auditor's says it is, for somebody who gave it to another command.

const formats = {
  bundle: /"format":\s*"ledgerctl-bundle-v1"/,
  proof: /"format":\s*"ledgerctl-proof-v1"/,
} as const;

export type AuditorsFile = keyof typeof formats;

const commands: Readonly<Record<AuditorsFile, string>> = {
  bundle: "`ledgerctl merkle verify --bundle`",
  proof: "`ledgerctl merkle check`",
};

/** By its first bytes; null for any other file. */
export function kindOfAuditorsFile(start: Buffer): AuditorsFile | null {
  const text = start.toString("latin1");
  if (formats.bundle.test(text)) return "bundle";
  return formats.proof.test(text) ? "proof" : null;
}

/** `a bundle: `ledgerctl merkle verify --bundle` checks it`. */
export function describeAuditorsFile(kind: AuditorsFile): string {
  return `a ${kind}: ${commands[kind]} checks it`;
}
