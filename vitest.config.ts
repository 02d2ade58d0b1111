import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/database-server.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // For what tells nobody when it comes; test/support/until.ts is the same outside of an assertion.
    expect: { poll: { timeout: 45_000, interval: 20 } },
    // Every file has a database of its own. One more than the two cores of the smallest machine: there is always a file
    // that waits, for a slow reader or a timeout.
    maxWorkers: 3,
    // Files share a process and what it has imported; importing was a third of the work of most files.
    isolate: false,
  },
});
