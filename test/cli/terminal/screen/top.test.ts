// The screen of `top`: figures out of two answers of a server, its state, and what is drawn of it.
import { renderToString } from "ink";
import { createElement } from "react";
import { describe, expect, test } from "vitest";
import { figuresOf, percentile } from "../../../../src/cli/commands/top/figures.ts";
import { Scrape } from "../../../../src/cli/commands/top/metrics-text.ts";
import { changeTop, noFigures, type TopState } from "../../../../src/cli/commands/top/top-state.ts";
import { TopView } from "../../../../src/cli/commands/top/top-view.tsx";

interface Told {
  credits?: number;
  unavailable?: number;
  batches?: number;
  /** Batches by the bucket that their time of commit is in: up to 0.01, up to 0.1, longer. */
  commits?: readonly [number, number, number];
  queue?: number;
  lag?: number | null;
  difference?: number;
  up?: number;
}

function metricsText(told: Told): string {
  const { credits = 0, unavailable = 0, batches = 0, commits = [0, 0, 0], queue = 0 } = told;
  const { lag = 0, difference = 0, up = 1 } = told;
  const lane = (name: string, value: number) =>
    `${name}{lane="journal"} 0\n${name}{lane="wallets"} ${value}`;
  const [fast, slow, slowest] = commits;
  return `# HELP ledgerctl_info 1, with the version of the program as a label.
# TYPE ledgerctl_info gauge
ledgerctl_info{version="0.1.0"} 1
ledgerctl_writes_total{kind="entry",outcome="accepted"} 7
ledgerctl_writes_total{kind="credit",outcome="accepted"} ${credits}
ledgerctl_writes_total{kind="credit",outcome="unavailable"} ${unavailable}
${lane("ledgerctl_batch_writes_sum", credits)}
${lane("ledgerctl_batch_writes_count", batches)}
ledgerctl_commit_seconds_bucket{le="0.01",lane="wallets"} ${fast}
ledgerctl_commit_seconds_bucket{le="0.1",lane="wallets"} ${fast + slow}
ledgerctl_commit_seconds_bucket{le="+Inf",lane="wallets"} ${fast + slow + slowest}
${lane("ledgerctl_commit_seconds_sum", batches * 0.02)}
${lane("ledgerctl_queue_writes", queue)}
ledgerctl_http_answers_total{route="creditWallet",status="200"} ${credits}
ledgerctl_http_answers_total{route="creditWallet",status="503"} ${unavailable}
ledgerctl_database_up ${up}
${lag === null ? "" : `ledgerctl_posting_lag_seconds ${lag}`}
ledgerctl_wallet_difference{ledger="l",asset="A\\"B"} ${difference}
ledgerctl_wallet_difference_timestamp_seconds 1700000000
process_start_time_seconds 1700000000
process_cpu_seconds_total ${credits / 1000}
`;
}

const scrape = (atMs: number, told: Told) => new Scrape(metricsText(told), atMs);
const nowMs = 1_700_000_100_000;

describe("figures", () => {
  test("are rates between two answers, and states of the later one", () => {
    const figures = figuresOf(
      scrape(1_000, { credits: 100, batches: 10, commits: [10, 0, 0] }),
      scrape(3_000, { credits: 300, batches: 30, commits: [28, 2, 0], queue: 12, lag: 0.5 }),
      nowMs,
    );
    expect(figures).toMatchObject({
      version: "0.1.0",
      upSeconds: 100,
      intervalSeconds: 2,
      writes: { perSecond: 100, byKind: { entry: 0, credit: 100 }, troublePerSecond: 0 },
      posting: { lagSeconds: 0.5, pendingBatches: null, differences: 0 },
      http: { answersPerSecond: 100, errorsPerSecond: 0 },
      database: { isUp: true },
    });
    expect(figures.process.cpuCores).toBeCloseTo(0.1);
    const [journal, wallets] = figures.lanes;
    expect(journal).toMatchObject({ lane: "journal", writesPerBatch: null, commitMsMean: null });
    expect(wallets).toMatchObject({
      lane: "wallets",
      batchesPerSecond: 10,
      writesPerBatch: 10,
      queueWrites: 12,
    });
    expect(wallets?.commitMsMean).toBeCloseTo(20);
    expect(wallets?.commitMsP99).toBeCloseTo(91);
  });

  test("of a server that began anew are what it has done since", () => {
    const figures = figuresOf(scrape(0, { credits: 500 }), scrape(1_000, { credits: 30 }), nowMs);
    expect(figures.writes.perSecond).toBe(30);
  });

  test("tell trouble, differences, and what is not known", () => {
    const told = { unavailable: 4, difference: -3, up: 0, lag: null };
    const figures = figuresOf(scrape(0, {}), scrape(2_000, told), nowMs);
    expect(figures.writes.troublePerSecond).toBe(2);
    expect(figures.http.errorsPerSecond).toBe(2);
    expect(figures.posting).toMatchObject({ lagSeconds: null, differences: 1 });
    expect(figures.database.isUp).toBe(false);
  });

  test("percentiles lie within their bucket, and at the last bound beyond it", () => {
    const buckets = [
      { upTo: 1, count: 0 },
      { upTo: 2, count: 50 },
      { upTo: 4, count: 100 },
      { upTo: Infinity, count: 100 },
    ];
    expect(percentile(0.25, buckets)).toBe(1.5);
    expect(percentile(0.75, buckets)).toBe(3);
    expect(
      percentile(0.99, [
        { upTo: 5, count: 0 },
        { upTo: Infinity, count: 9 },
      ]),
    ).toBe(5);
  });

  test("labels are read with what is escaped in them", () => {
    const [sample] = scrape(0, {}).list("ledgerctl_wallet_difference");
    expect(sample?.labels).toEqual({ ledger: "l", asset: 'A"B' });
  });
});

describe("state", () => {
  const watched = [{ credits: 0 }, { credits: 10 }, { credits: 40 }].reduce<TopState>(
    (state, told, second) =>
      changeTop(state, { type: "scrape", scrape: scrape(second * 1_000, told) }, nowMs),
    noFigures,
  );

  test("keeps figures of each interval, the newest first", () => {
    expect(watched.history.map(({ writes }) => writes.perSecond)).toEqual([30, 10]);
  });

  test("keeps the last figures while there is no answer, and says so", () => {
    const lost = changeTop(watched, { type: "fault", fault: "gone" }, nowMs);
    expect(lost).toMatchObject({ history: watched.history, fault: "gone" });
    const again = changeTop(
      lost,
      { type: "scrape", scrape: scrape(5_000, { credits: 40 }) },
      nowMs,
    );
    expect(again.fault).toBeNull();
    expect(again.history[0]?.intervalSeconds).toBe(3);
  });

  const draw = (state: TopState, columns = 110, rows = 24) =>
    renderToString(
      createElement(TopView, {
        state,
        url: "http://127.0.0.1:8420/metrics",
        size: { columns, rows },
        isColored: false,
      }),
      { columns },
    ).split("\n");

  test("is drawn in the size of the screen", () => {
    for (const [columns, rows] of [
      [110, 24],
      [40, 10],
      [200, 50],
    ] as const) {
      for (const state of [noFigures, watched]) {
        const lines = draw(state, columns, rows);
        expect(lines.length).toBe(rows);
        expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
      }
    }
  });

  test("has no rows on one another where the screen is low: what does not fit is left out", () => {
    const high = draw(watched, 60, 50).map((line) => line.trimEnd());
    for (let rows = 4; rows < 24; rows += 1) {
      const lines = draw(watched, 60, rows).map((line) => line.trimEnd());
      expect(high).toEqual(expect.arrayContaining(lines));
      expect(lines[0]).toBe(high[0]);
      expect(lines.at(-1)).toBe(high.at(-1));
    }
    const low = draw(watched, 60, 14).join("\n");
    expect(low).not.toContain("max");
    expect(low).toContain("\ndatabase  up");
  });

  test("is drawn with rates, lanes, posting, streams and the database", () => {
    const text = draw(watched).join("\n");
    expect(text).toMatch(
      /^top {2}http:\/\/127\.0\.0\.1:8420\/metrics {2}ledgerctl 0\.1\.0 {2}rates over 1\.0 s/,
    );
    expect(text).toMatch(/^writes +30\.0 \/s {2}▃█ {2}max 30\.0$/m);
    expect(text).toMatch(
      /^ {2}LANE +BATCHES\/s +WRITES\/BATCH +COMMIT MEAN +COMMIT P99 +QUEUED +RETRIES\/s$/m,
    );
    expect(text).toMatch(/^ {2}wallets +0\.0 +- /m);
    expect(text).toMatch(/^writes {4}30\.0\/s accepted, credit 30\.0$/m);
    expect(text).toMatch(/^books {5}wallets and postings agree$/m);
    expect(text).toMatch(/^database {2}up, /m);
  });

  test("is drawn with what went wrong at its top", () => {
    const lost = changeTop(watched, { type: "fault", fault: "no answer\u001b[2J" }, nowMs);
    const paused = changeTop(lost, { type: "key", key: "p" }, nowMs);
    expect(draw(paused)[0]).toMatch(/^top {2}PAUSED, no answer: no answer\\u001b\[2J {2}/);
    const down = changeTop(
      watched,
      { type: "scrape", scrape: scrape(9_000, { up: 0, difference: 2 }) },
      nowMs,
    );
    expect(draw(down).join("\n")).toMatch(/^database {2}DOWN/m);
    expect(draw(down).join("\n")).toMatch(/DIFFER in 1 asset: run `ledgerctl audit`/);
  });
});
