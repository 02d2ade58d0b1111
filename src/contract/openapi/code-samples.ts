// How an example is sent: from a shell with `ledgerctl sign` and curl, and with the package's client.
import type { DocumentedRoute } from "./route-errors.ts";
import type { Example } from "./examples.ts";
import type { Json } from "./named-schemas.ts";

export interface CodeSample {
  readonly lang: "Shell" | "JavaScript";
  readonly label: string;
  readonly source: string;
}

/** Of the parts of a path, and of parameters by the same names: what a shell and a program call them. */
const parts: Readonly<Record<string, { readonly shell: string; readonly program: string }>> = {
  ledgerId: { shell: "$LEDGER", program: "ledgerId" },
  walletKey: { shell: "$LEDGER:alice", program: '{ ledgerId, callerKey: "alice" }' },
  entryId: { shell: "$ENTRY", program: "entryId" },
  closeId: { shell: "$CLOSE", program: "closeId" },
  holdId: { shell: "$HOLD", program: "holdId" },
  deliveryId: { shell: "$DELIVERY", program: "deliveryId" },
  log: { shell: "journal", program: '"journal"' },
};

/** Of a part that has no name of its own here: its example. */
function partOf(name: string, example: string) {
  return parts[name] ?? { shell: encodeURIComponent(example), program: JSON.stringify(example) };
}

/** `examples`: of the parts of the path. */
export function codeSamples(
  route: DocumentedRoute,
  example: Example,
  examples: Readonly<Record<string, string>>,
): CodeSample[] {
  return [
    { lang: "Shell", label: "curl", source: shellSample(route, example, examples) },
    { lang: "JavaScript", label: "Node.js", source: programSample(route, example, examples) },
  ];
}

function shellSample(
  { method, path, status }: DocumentedRoute,
  { query, body }: Example,
  examples: Readonly<Record<string, string>>,
): string {
  const filled = path.replace(
    /\{(\w+)\}/g,
    (_, name: string) => partOf(name, examples[name] ?? name).shell,
  );
  const pairs = Object.entries(query).map(
    ([name, value]) => `${name}=${partOf(name, String(value)).shell}`,
  );
  const target = `"${[filled, ...(pairs.length === 0 ? [] : [pairs.join("&")])].join("?")}"`;
  const sign = `ledgerctl sign ${method} ${target} --format`;
  // curl has no upgrade to a WebSocket: what a client has to send with one.
  if (status === 101) return `${sign} headers`;
  if (body === undefined) return `${sign} curl | sh`;
  return `${sign} curl --body - <<'JSON' | sh\n${JSON.stringify(body, null, 2)}\nJSON`;
}

/** Methods that are not called by the name of their route with its body or query. */
const calls: Readonly<Partial<Record<string, string>>> = {
  getProof: "client.getProof(ledgerId, closeId, entryId)",
  getBundle: "client.streamBundle(ledgerId, closeId)",
};

function programSample(
  route: DocumentedRoute,
  example: Example,
  examples: Readonly<Record<string, string>>,
): string {
  const call = calls[route.name] ?? callOf(route, example, examples);
  if (route.status === 101) return `for await (const message of ${call}) console.log(message);`;
  if (route.isNdjson === true) {
    return `for await (const bytes of await ${call}) process.stdout.write(bytes);`;
  }
  return `console.log(await ${call});`;
}

function callOf(
  { name, path, items }: DocumentedRoute,
  { query, body }: Example,
  examples: Readonly<Record<string, string>>,
): string {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(
    ([, part = ""]) => partOf(part, examples[part] ?? part).program,
  );
  const given = items === undefined ? body : (body as Json)[items];
  const isGiven = (value: unknown) => value !== undefined && Object.keys(value as Json).length > 0;
  const last = [
    ...[given].filter(isGiven).map(literal),
    ...[query].filter(isGiven).map((parameters) => withParts(literal(parameters))),
  ];
  return `client.${name}(${[...inPath, ...last].join(", ")})`;
}

/** Parameters with the names of a program in place of their examples. */
function withParts(parameters: string): string {
  return parameters.replace(/^( *)(\w+): .*?(,?)$/gm, (text, indent, name: string, comma) =>
    parts[name] === undefined ? text : `${indent}${name}${comma}`,
  );
}

/** A value as JavaScript has it: names that need no quotes have none. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/^( *)"(\w+)":/gm, "$1$2:");
}
