// Which way imports may go: cli → http, client → engine → store → core; contract stands on core, and
// verify on both.
// Each rule names a room and what it must not reach.
const room = (from, forbidden, comment) => ({
  name: `${from}-stays-below`,
  severity: "error",
  comment,
  from: { path: `^src/${from}/` },
  to: { path: `^src/(${forbidden})` },
});

module.exports = {
  forbidden: [
    room(
      "core",
      "verify/|contract/|store/|engine/|http/|client/|cli/|config|log",
      "core is pure rules",
    ),
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
    room(
      "contract",
      "verify/|store/|engine/|http/|client/|cli/|config|log",
      "contract stands on core alone",
    ),
    room(
      "verify",
      "store/|engine/|http/|client/|cli/|config|log",
      "checks of proofs trust nothing but arithmetic",
    ),
    room(
      "store",
      "verify/|contract/|engine/|http/|client/|cli/|config|log",
      "store stands on core",
    ),
    room(
      "engine",
      "verify/|contract/|http/|client/|cli/|config|log",
      "engine stands on store and core",
    ),
    room("http", "client/|cli/|config", "the server does not know its callers"),
    room("client", "store/|engine/|http/|cli/|config|log", "the client knows only the wire"),
    {
      name: "env-is-read-once",
      severity: "error",
      comment:
        "config is handed down from the command line and the server; nothing else looks for it",
      from: { path: "^src/", pathNot: "^src/(cli/|server/|config\\.ts)" },
      to: { path: "^src/config" },
    },
    {
      name: "sql-drivers-live-in-store",
      severity: "error",
      comment: "src/store holds the only SQL",
      from: { path: "^src/", pathNot: "^src/store/" },
      to: { path: "node_modules/(pg|slonik|node-pg-migrate)/" },
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
