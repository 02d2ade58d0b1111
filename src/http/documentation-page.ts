// /docs: the API on one page, made from the table of routes. No script, nothing loaded from elsewhere.
import { problemKinds } from "../core/errors.ts";
import { routeList } from "../contract/routes.ts";

/** A whole HTML document. */
export function documentationPage(version: string, clockWindowSeconds: number): string {
  const rows = routeList.map(
    (route) =>
      `<tr id="${route.name}"><td><code>${route.method}</code></td><td><code>${escape(route.path)}</code></td>` +
      `<td>${escape(route.summary)}</td><td>${Object.keys(route.query.shape).join(", ")}</td>` +
      `<td><code>${route.scope}</code></td><td>${route.status}</td></tr>`,
  );
  const problems = Object.values(problemKinds).map(
    ({ status, code, title }) =>
      `<tr><td>${status}</td><td>${code === null ? "" : `<code>${code}</code>`}</td><td>${title}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ledgerctl ${escape(version)}: the API</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem; }
th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { background: #f5f5f5; padding: 1rem; overflow-x: auto; }
</style>
</head>
<body>
<h1>ledgerctl ${escape(version)}</h1>
<p>The machine-readable description is <a href="/openapi.json">/openapi.json</a>.</p>
<h2>Signing</h2>
<p>Every request carries <code>Authorization: Bearer &lt;API key&gt;</code>, <code>X-Timestamp</code> (Unix
seconds, within ${clockWindowSeconds} s of the server's clock) and <code>X-Signature</code>: the HMAC-SHA256, in hex, keyed with
the API secret, of</p>
<pre>&lt;X-Timestamp&gt;\\n&lt;METHOD&gt;\\n&lt;request target with query&gt;\\n&lt;raw body&gt;</pre>
<h2>Endpoints</h2>
<table><thead><tr><th>Method</th><th>Path</th><th></th><th>Query</th><th>Scope</th><th>Status</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody></table>
<h2>Problems, in order of precedence</h2>
<table><thead><tr><th>Status</th><th>Code</th><th></th></tr></thead>
<tbody>
${problems.join("\n")}
</tbody></table>
</body>
</html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
