// Which way imports may go: cli → server → http → engine → store → core, with audit, backup and seed beside engine; client and
// verify stand on contract and core alone.
/** Below each layer: what it may import besides itself. The command line may import everything. */
const below = {
  core: [],
  contract: ["core"],
  verify: ["contract", "core"],
  client: ["contract", "core"],
  store: ["core"],
  engine: ["store", "core"],
  audit: ["store", "core"],
  backup: ["store", "core"],
  seed: ["engine", "store", "core"],
  http: ["verify", "engine", "store", "contract", "core", "log.ts"],
  server: ["http", "engine", "store", "core", "config.ts", "log.ts"],
};

const layer = ([name, allowed]) => ({
  name: `${name}-stays-in-its-layer`,
  severity: "error",
  comment: `${name} may import ${allowed.join(", ") || "nothing of ours"}`,
  from: { path: `^src/${name}/` },
  to: { path: "^src/", pathNot: `^src/(${[name, ...allowed].join("|")})(/|$)` },
});

module.exports = {
  forbidden: [
    ...Object.entries(below).map(layer),
    {
      name: "core-does-no-io",
      severity: "error",
      comment: "time, ids and I/O are handed in; hashing is the only thing core takes from Node",
      from: { path: "^src/core/" },
      to: {
        dependencyTypes: ["core", "npm", "npm-dev", "npm-optional"],
        pathNot: "^(node:)?crypto$",
      },
    },
    {
      name: "sql-drivers-live-in-store",
      severity: "error",
      comment: "src/store holds the only SQL",
      from: { path: "^src/", pathNot: "^src/store/" },
      to: { path: "node_modules/(pg|@slonik|node-pg-migrate)/" },
    },
    { name: "no-circles", severity: "error", from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: [".ts", ".tsx", ".js"] },
  },
};
