// Answers of the running service are held against the OpenAPI document that it gives out: the status, the
// media type and the schema of each have to be there.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { scopes } from "../../src/core/ledger.ts";
import { neverPosting } from "../support/engine.ts";
import { entry, postEntry } from "../support/entries.ts";
import { until } from "../support/until.ts";
import { serveBooks } from "../support/service.ts";
import type { Credentials, Reply, RequestParts } from "../support/signed-request.ts";
import { refusedUpgrade, signedHeaders } from "../support/stream-reader.ts";

const service = serveBooks({
  variables: {
    ...neverPosting.variables,
    LEDGERCTL_LOG_KEY: Buffer.alloc(32, 1).toString("base64"),
    LEDGERCTL_CHECKPOINT_INTERVAL_MS: "50",
  },
});

type Json = Record<string, unknown>;

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body: Json | undefined;
  readonly responses: Record<string, { content: Record<string, { schema: Json }> }>;
}

let schemas: Json;
let operations: readonly Operation[];
let parameters: Record<string, string>;
/** Of a key with every scope. */
let credentials: Credentials;

beforeAll(async () => {
  credentials = await service.books.createKey({ scopes });
  const reply = await service.send({ target: "/openapi.json", credentials: null });
  const document = reply.body as { paths: Record<string, Record<string, Json>>; components: Json };
  schemas = document.components["schemas"] as Json;
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      name: operation["operationId"] as string,
      method: method.toUpperCase(),
      path,
      body: operation["requestBody"] as Json | undefined,
      responses: operation["responses"] as Operation["responses"],
    })),
  );
  const { ledgerId } = service.books;
  const { journalId } = await postEntry(
    service,
    entry(100, { transactionDate: "2026-01-05T00:00:00Z" }),
  );
  const closed = await service.post(`/v1/ledgers/${ledgerId}/period-closes`, {
    periodId: "2026-01",
  });
  const { closeId } = closed.body as { closeId: string };
  const walletKey = `${ledgerId}:alice`;
  const move = { amount: "100", assetCode: "USD" };
  await service.post(`/v1/wallets/${walletKey}/credit`, move);
  const held = await service.post(`/v1/wallets/${walletKey}/reserve`, { ...move, amount: "5" });
  const { holdId } = held.body as { holdId: string };
  await until("checkpoints", async () => {
    const logs = ["journal", "closes"].map(
      (log) => `/v1/ledgers/${ledgerId}/logs/${log}/checkpoint`,
    );
    const replies = await Promise.all(logs.map((target) => service.get(target)));
    return replies.every(({ status }) => status === 200);
  });
  const deliveries = `/v1/ledgers/${ledgerId}/deliveries`;
  const body = JSON.stringify({ url: "https://example.com/", events: ["entry"] });
  const made = await service.send({ target: deliveries, body, credentials });
  const { id: deliveryId } = made.body as { id: string };
  // Nothing is sent.
  await service.send({
    ...{ target: `${deliveries}/${deliveryId}/pause`, method: "POST", credentials },
  });
  parameters = {
    log: "journal",
    glAccountCode: "1000",
    ledgerId,
    walletKey,
    entryId: journalId,
    closeId,
    holdId,
    assetCode: "POINTS",
    deliveryId,
  };
});

function targetOf({ path }: Operation, changed: Record<string, string> = {}): string {
  const values = { ...parameters, ...changed };
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

/** A schema of the document, with what it refers to beside it. */
function readSchema(schema: Json): z.ZodType {
  const whole = JSON.stringify({ ...schema, $defs: schemas });
  return z.fromJSONSchema(
    JSON.parse(whole.replaceAll('"#/components/schemas/', '"#/$defs/')) as Json,
  );
}

function expectAsDocumented({ name, responses }: Operation, reply: Reply): void {
  const documented = responses[reply.status];
  const [mediaType = ""] = (reply.headers["content-type"] ?? "").split(";");
  const content = documented?.content[mediaType];
  expect(content, `${name}: ${reply.status} ${mediaType}`).toBeDefined();
  const body =
    mediaType !== "application/json" && mediaType !== "application/problem+json"
      ? reply.text
      : reply.body;
  const { error } = readSchema(content?.schema ?? {}).safeParse(body);
  expect(error, `${name}: ${reply.status} ${reply.text}`).toBeUndefined();
}

async function expectRefusal(
  operation: Operation,
  status: number,
  parts: Partial<RequestParts> = {},
): Promise<void> {
  const { method } = operation;
  const reply = await service.send({ target: targetOf(operation), method, credentials, ...parts });
  expect(reply.status, `${operation.name}: ${reply.text}`).toBe(status);
  expectAsDocumented(operation, reply);
}

describe("the document knows the answer of each operation", () => {
  test("to nobody: 401", async () => {
    for (const operation of operations) await expectRefusal(operation, 401, { credentials: null });
  });

  test("to a ledger or an entry, close or hold that is not there: 404", async () => {
    const none = "0190b6a0-0000-7000-8000-000000000001";
    for (const operation of operations) {
      if (operation.path === "/v1/ledgers") continue;
      const changed = { ledgerId: none, walletKey: `${none}:alice` };
      await expectRefusal(operation, 404, { target: targetOf(operation, changed) });
      const named = /\{(entryId|closeId|holdId|deliveryId)\}/.exec(operation.path)?.[1];
      if (named === undefined) continue;
      const target = targetOf(operation, { [named]: none });
      const query = operation.name === "getProof" ? `?entryId=${none}` : "";
      const body = operation.name === "replayDelivery" ? { body: '{"since":"0.0"}' } : {};
      await expectRefusal(operation, 404, { target: `${target}${query}`, ...body });
    }
  });

  test("to a body with faults: 400, and 415 to one that is no JSON", async () => {
    const withBody = operations.filter(({ body }) => body !== undefined);
    expect(withBody.length).toBeGreaterThan(5);
    for (const operation of withBody) {
      await expectRefusal(operation, 400, { body: '{"unknown":1}' });
      const headers = { "content-type": "text/plain" };
      await expectRefusal(operation, 415, { body: "{}", headers });
    }
  });

  test("where the books or the wallet say no", async () => {
    const named = new Map(operations.map((operation) => [operation.name, operation]));
    const refused = async (name: string, status: number, body?: object, query = "") => {
      const operation = named.get(name);
      if (operation === undefined) throw new Error(`there is no operation ${name}`);
      const target = `${targetOf(operation)}${query}`;
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      await expectRefusal(operation, status, { target, ...json });
    };
    const inClosed = entry(1, { transactionDate: "2026-01-05T00:00:00Z" });
    const id = { externalId: "twice" };
    await postEntry(service, entry(1, id));
    await refused("postEntry", 409, entry(1, id));
    await refused("postEntry", 409, inClosed);
    await refused("postEntries", 409, { entries: [entry(1), inClosed], atomic: true });
    await refused("reverseEntry", 409);
    await refused("getBalance", 404, undefined, "?account=none");
    await refused("listEntries", 400, undefined, "?limit=0");
    await refused("getRegister", 400, undefined, "?cursor=x");
    await refused("getBalanceSheet", 400, undefined, "?by=day");
    await refused("debitWallet", 422, { amount: "1000000", assetCode: "USD" });
    await refused("creditWallet", 400, { amount: "1", assetCode: "EUR" });
    await refused("streamWallet", 426);
    await refused("followEntries", 426);
    const transfer = { from: "poor", to: "bob", amount: "1", assetCode: "USD" };
    await refused("transferFunds", 422, { transfers: [transfer], atomic: true });
    await refused("listWallets", 400, undefined, "?cursor=none");
  });

  test("where it is done", async () => {
    const bodies: Record<string, object[]> = {
      postEntry: [entry()],
      postEntries: [
        { entries: [entry(), { lines: [] }, entry(1, { externalId: "twice" })] },
        { entries: [entry(), entry()], atomic: true },
      ],
      importAccounts: [{ accounts: [{ glAccountCode: "7000", name: "New" }] }],
      createDelivery: [{ url: "https://example.com/", events: ["close"] }],
      replayDelivery: [{ since: "0.0" }],
      setAssetRule: [{ exponent: 2, overdraftLimit: "none" }],
      closePeriod: [{ periodId: "2025-12" }],
      creditWallet: [{ amount: "7", assetCode: "USD" }],
      debitWallet: [{ amount: "1", assetCode: "USD", externalId: "d" }],
      reserveFunds: [{ amount: "1", assetCode: "USD" }],
      commitHold: [{}],
      transferFunds: [false, true].map((atomic) => ({
        ...{ atomic, transfers: [{ from: "alice", to: "bob", amount: "2", assetCode: "USD" }] },
      })),
      writeWallets: [
        {
          writes: [
            { callerKey: "bob", type: "credit", amount: "5", assetCode: "USD" },
            { callerKey: "bob", type: "debit", amount: "50", assetCode: "USD" },
          ],
        },
      ],
    };
    const queries: Record<string, string> = {
      getBalance: "?account=1000",
      previewClose: "?periodId=2026-02",
      getProof: `?entryId=${parameters["entryId"] ?? ""}`,
      getLogProof: `?entryId=${parameters["entryId"] ?? ""}`,
      getConsistency: "?from=1&to=1",
    };
    const open = await postEntry(service, entry());
    // What a hold or an entry in a closed period can't have, or is no answer to a request.
    const apart = new Set(["releaseHold", "resumeDelivery", "streamWallet", "followEntries"]);
    // What others are about is removed last.
    const isLast = ({ name }: Operation) => name === "deleteDelivery";
    const inOrder = [...operations.filter((one) => !isLast(one)), ...operations.filter(isLast)];
    for (const operation of inOrder.filter(({ name }) => !apart.has(name))) {
      const { name, method } = operation;
      const changed = name === "reverseEntry" ? { entryId: open.journalId } : {};
      const target = `${targetOf(operation, changed)}${queries[name] ?? ""}`;
      for (const body of bodies[name] ?? [undefined]) {
        const json = body === undefined ? {} : { body: JSON.stringify(body) };
        const reply = await service.send({ target, method, credentials, ...json });
        expect(Object.keys(operation.responses), name).toContain(String(reply.status));
        expectAsDocumented(operation, reply);
      }
    }
  });

  test("to an upgrade that is refused", async () => {
    const operation = operations.find(({ name }) => name === "streamWallet");
    if (operation === undefined) throw new Error("there is a stream");
    const target = targetOf(operation);
    const { apiKey } = service.books.credentials;
    const wrong = signedHeaders({ apiKey, apiSecret: "ls_wrong" }, target);
    const reply = await refusedUpgrade(service, target, wrong);
    expect(reply.status).toBe(401);
    expectAsDocumented(operation, reply);
  });
});
