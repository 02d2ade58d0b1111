import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The order in which files begin. Those that compute and those that wait for a slow reader or a timeout take turns, so that
 * no core is left without work; what takes longest is not left to the end.
 */
class TakingTurns extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      moduleId.includes("/test/simulation/") || moduleId.includes("/test/acceptance/");
    const spread = (group: TestSpecification[], until: number) =>
      group.map((file, index) => ({ file, at: (until * index) / group.length }));
    const long = spread(sorted.filter(isLong), 0.7);
    const others = spread(
      sorted.filter((file) => !isLong(file)),
      1,
    );
    return [...long, ...others].toSorted((one, other) => one.at - other.at).map(({ file }) => file);
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
    sequence: { sequencer: TakingTurns },
    // Files share a process and what it has imported; importing was a third of the work of most files.
    isolate: false,
  },
});
