import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/database-server.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Every file has a database of its own; two at a time is what two cores carry.
    maxWorkers: 2,
  },
});
