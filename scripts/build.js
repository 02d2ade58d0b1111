// Bundles the command line and the client for Node, and emits the types of the public export.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./import-source.js";
import { publishTypes } from "./published-types.js";

const dist = join(root, "dist");

rmSync(dist, { recursive: true, force: true });

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  legalComments: "none",
  logLevel: "warning",
  // CommonJS packages inside an ES module bundle still ask for require.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
};

// Split, so that a command loads only what it needs: `sign` must not pay for the server.
await build({
  ...common,
  entryPoints: ["src/cli/main.ts"],
  outdir: join(dist, "cli"),
  splitting: true,
  minifySyntax: true,
  external: [
    // Optional natives of pg and slonik, and ink's tools for its own makers, that nobody installs.
    ...["pg-native", "cloudflare:sockets", "react-devtools-core"],
    // 1 MB of a server's code: what compiles schemas of routes, which have none (http/server.ts).
    ...["@fastify/ajv-compiler", "@fastify/fast-json-stringify-compiler"],
  ],
  jsx: "automatic",
  define: {
    // React brings a slower self along, for its users' mistakes.
    "process.env.NODE_ENV": '"production"',
    // pg asks a Response whether this is Cloudflare, for which Node 20 loads all of its fetch.
    Response: "undefined",
  },
  alias: {
    "is-in-ci": "./src/cli/terminal/screen/not-in-ci.ts",
    // For packages that require it too, so that there is one copy.
    zod: "./node_modules/zod/index.js",
  },
});

await build({
  ...common,
  entryPoints: ["src/client/ledger-client.ts"],
  outdir: join(dist, "client"),
});

execFileSync(
  process.execPath,
  [join(root, "node_modules", "typescript7", "bin", "tsc"), "--project", "tsconfig.types.json"],
  { cwd: root, stdio: "inherit" },
);
await publishTypes();
