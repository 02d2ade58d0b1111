// `npm run simulate`: runs the simulation in processes of its own, since time is simulated in them.
// Options: --seeds N (1000), --first S (1), --jobs K (1: processes at once); --seed S (that one alone);
// --planted (in how many histories each planted bug is found; exits 1 when one is not), --bug NAME (plants that one);
// --no-shrink (tells of a history that fails as it is).
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { importSource, root } from "./import-source.js";
import { bundle } from "./simulate/bundle.js";
import { runSeeds } from "./simulate/jobs.js";

const progressMs = 10_000;

const { bugs } = await importSource('export * from "../test/simulation/planted/bugs.ts";');
const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    first: { type: "string", default: "1" },
    seeds: { type: "string", default: "1000" },
    jobs: { type: "string", default: "1" },
    planted: { type: "boolean", default: false },
    bug: { type: "string" },
    "no-shrink": { type: "boolean", default: false },
  },
});
const range = {
  first: readNumber("first", values.seed ?? values.first),
  count: values.seed === undefined ? readNumber("seeds", values.seeds) : 1,
  jobs: readNumber("jobs", values.jobs),
};

// Beside node_modules, where what is not bundled is found.
const folder = await mkdtemp(join(root, "node_modules", ".simulation-"));
try {
  const isRight = values.planted
    ? await findPlanted()
    : await simulate(values.bug === undefined ? null : findBug(values.bug));
  process.exitCode = isRight ? 0 : 1;
} finally {
  await rm(folder, { recursive: true });
}

function readNumber(name, text) {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new Error(`--${name} takes a whole number above 0, not "${text}"`);
}

function findBug(name) {
  const bug = bugs.find((each) => each.name === name);
  if (bug !== undefined) return bug;
  throw new Error(`no planted bug is called "${name}"; test/simulation/planted/bugs.ts has them`);
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

/** Whether every planted bug is found. */
async function findPlanted() {
  let isAll = true;
  for (const [number, bug] of bugs.entries()) {
    const outfile = join(folder, `planted-${number}.mjs`);
    await bundle(outfile, bug);
    const { totals, failure } = await runSeeds(outfile, { ...range, jobs: 1, shrinks: false });
    isAll &&= failure !== null;
    const outcome =
      failure === null
        ? `NOT FOUND in ${totals.histories} histories`
        : `found in ${totals.histories} histories (${failure.rule})`;
    say(`${bug.name}: ${outcome}`);
  }
  return isAll;
}

/** Whether no history fails. */
async function simulate(bug) {
  const outfile = join(folder, "main.mjs");
  await bundle(outfile, bug);
  const { first, count } = range;
  const startedMs = performance.now();
  let toldMs = startedMs;
  const { totals, failure } = await runSeeds(
    outfile,
    { ...range, shrinks: !values["no-shrink"] },
    (histories) => {
      if (performance.now() - toldMs < progressMs) return;
      toldMs = performance.now();
      const perSecond = Math.round((histories / (toldMs - startedMs)) * 1_000);
      say(`${histories} of ${count} histories, nothing wrong so far; ${perSecond} a second`);
    },
  );
  if (failure !== null) {
    const { seed, rule, lines } = failure;
    say(`seed ${seed} fails, history ${seed - first + 1} of ${count}: ${rule}`);
    for (const line of lines) say(line);
    const withBug = bug === null ? "" : ` --bug "${bug.name}"`;
    say(`run it again with: npm run simulate -- --seed ${seed}${withBug}`);
    return false;
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  say(`${count} histories from seed ${first} on, nothing wrong, in ${seconds} s`);
  for (const line of summaryOf(totals)) say(line);
  return true;
}

/** What there was to go wrong. */
function summaryOf({ histories, simulatedMs, faults, ...counts }) {
  const each = (count) => (count / histories).toFixed(1);
  const counted = Object.entries(counts).map(
    ([name, count]) => `${count} ${name} (${each(count)})`,
  );
  const byKind = Object.entries(faults).sort(([, one], [, other]) => other - one);
  const sum = byKind.reduce((total, [, count]) => total + count, 0);
  const hours = (simulatedMs / 3_600_000).toFixed(1);
  return [
    `together, and in each: ${counted.join(", ")}; ${hours} simulated hours`,
    `${sum} faults (${each(sum)}): ${byKind.map(([kind, count]) => `${kind} ${count}`).join(", ")}`,
  ];
}
