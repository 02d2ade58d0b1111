import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The order in which files begin: what takes longest first, so that no core is left without work at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      ["/test/simulation/", "/test/acceptance/", ""].findIndex((part) => moduleId.includes(part));
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/database-server.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // For what tells nobody when it comes; test/support/until.ts is the same outside of an assertion.
    expect: { poll: { timeout: 45_000, interval: 20 } },
    // Every file has a database of its own. More than the two cores of the smallest machine: there are always files that
    // wait, for a slow reader or a timeout.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Files share a process and what it has imported; importing was a third of the work of most files.
    isolate: false,
  },
});
