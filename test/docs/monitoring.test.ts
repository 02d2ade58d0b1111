// The dashboard and the alert rules ask for nothing that a server does not answer, and every alert has a section in
// the runbook and an example.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { problemKinds } from "../../src/core/errors.ts";
import { readReplicaUrl } from "../../src/store/database/connection-url.ts";
import { certificate } from "../support/certificates.ts";
import { standInForCitus } from "../support/citus-stand-in.ts";
import { readSamples, type Sample } from "../support/metrics.ts";
import { ownLabels, readGroupings, readSelectors } from "../support/promql.ts";
import { createBooks, startService, type TestService } from "../support/service.ts";
import { policyOfAbsentWitness } from "../support/witness.ts";
import { until } from "../support/until.ts";
import { accepted, move, newKey } from "../support/wallets.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const rules = read("ops/prometheus/alerts.yml");
const examples = read("ops/prometheus/alerts-test.yml");
const runbook = read("docs/runbook.md");
const dashboard = JSON.parse(read("ops/grafana/ledgerctl.json")) as Dashboard;

interface Dashboard {
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number };
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

/** The rules, cut at the lines that name them. */
const alerts = rules
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((text) => ({
    name: text.slice(0, text.indexOf("\n")),
    expression: /^ {8}expr: (.*(?:\n {10}.*)*)/m.exec(text)?.[1] ?? "",
    annotations: text.slice(text.indexOf("annotations:")),
  }));
const panelQueries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ from: title, query: expr, shown: legendFormat })),
);
const queries = [
  ...alerts.map(({ name, expression }) => ({ from: name, query: expression })),
  ...panelQueries,
  ...dashboard.annotations.list.map(({ expr }) => ({ from: "annotation", query: expr })),
];

let service: TestService;
let samples: readonly Sample[] = [];
const samplesOf = (metric: string) => samples.filter(({ name }) => name === metric);

beforeAll(async () => {
  const books = await createBooks();
  await standInForCitus(books.databaseUrl);
  service = await startService(books, {
    certificate,
    logPolicy: policyOfAbsentWitness(),
    replicaUrl: readReplicaUrl(books.databaseUrl),
  });
  accepted(await move(service, newKey(service), "credit"));
  await service.send({ target: "/healthz", credentials: null });
  // The nodes are asked in the background.
  await until("metrics of every node", async () => {
    const { text } = await service.send({ target: "/metrics", credentials: null });
    samples = readSamples(text);
    return samplesOf("ledgerctl_database_node_up").length === 2;
  });
});

afterAll(async () => {
  await service.stop();
  await service.books.drop();
});

it("finds the queries of every rule and every panel", () => {
  expect(alerts.length).toBeGreaterThan(15);
  expect(alerts.map(({ name }) => name)).toHaveLength(rules.match(/\bexpr:/g)?.length ?? 0);
  expect(panelQueries.length).toBeGreaterThan(30);
  for (const { from, query } of queries) expect(readSelectors(query), from).not.toEqual([]);
});

it("asks for metrics that a server answers, by labels and values that they have", () => {
  const statuses = Object.values(problemKinds).map(({ status }) => String(status));
  for (const { from, query } of queries) {
    for (const { metric, matchers } of readSelectors(query)) {
      if (metric === "up") continue;
      const found = samplesOf(metric);
      expect(found, `${from}: ${metric}`).not.toEqual([]);
      for (const { label, operator, value } of matchers) {
        if (ownLabels.includes(label)) continue;
        const values = found.flatMap(({ labels }) => labels[label] ?? []);
        expect(values, `${from}: ${metric} has ${label}`).toHaveLength(found.length);
        const pattern = operator.endsWith("~") ? new RegExp(`^(?:${value})$`) : null;
        const isThere = (each: string) => pattern?.test(each) ?? each === value;
        // What is left out has to be there as well. No server that is well answers what an alert looks for.
        const possible = label === "status" ? [...values, ...statuses] : values;
        expect(possible.some(isThere), `${from}: ${label}${operator}${value}`).toBe(true);
      }
    }
  }
});

it("groups by labels that there are, and shows those that it groups by", () => {
  for (const { from, query } of queries) {
    const there = readSelectors(query).flatMap(({ metric }) =>
      samplesOf(metric).flatMap(({ labels }) => Object.keys(labels)),
    );
    for (const label of readGroupings(query)) {
      expect([...there, ...ownLabels], `${from}: ${label}`).toContain(label);
    }
  }
  for (const { from, query, shown } of panelQueries) {
    for (const [, label = ""] of shown.matchAll(/\{\{(\w+)\}\}/g)) {
      expect(readGroupings(query), `${from} shows ${label}`).toContain(label);
    }
  }
});

it("has panels that do not overlap and are numbered once", () => {
  const places = dashboard.panels.map(({ gridPos: { x, y } }) => `${x},${y}`);
  expect(new Set(places).size).toBe(places.length);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  for (const { gridPos, title } of dashboard.panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
  }
});

it("has a section in the runbook and an example for each alert, and no others", () => {
  const names = alerts.map(({ name }) => name).sort();
  const sections = [...runbook.matchAll(/^## (Ledgerctl\w+)$/gm)].map(([, name]) => name);
  expect(sections.sort()).toEqual(names);
  const tried = [...examples.matchAll(/^ {6}- alertname: (\w+)$/gm)].map(([, name]) => name);
  expect(tried.sort()).toEqual(names);
  for (const { name, annotations } of alerts) {
    expect(annotations).toContain(`runbook: docs/runbook.md#${name.toLowerCase()}\n`);
  }
});

describe.skipIf(spawnSync("promtool", ["--version"]).error)("promtool", () => {
  const folder = fileURLToPath(new URL("../../ops/prometheus/", import.meta.url));
  it.each([["check"], ["test"]])("has nothing to say against the rules: %s", (verb) => {
    const file = verb === "check" ? "alerts.yml" : "alerts-test.yml";
    const output = execFileSync("promtool", [verb, "rules", file], { cwd: folder });
    expect(String(output)).toContain("SUCCESS");
  });
});
