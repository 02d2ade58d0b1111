// /docs: the API on one page, made from the OpenAPI document. No script, nothing loaded from elsewhere.
import { createHash } from "node:crypto";
import { problemMeanings } from "../../contract/openapi/route-errors.ts";
import { problemKinds, type ProblemName } from "../../core/errors.ts";
import { escaped, inline, prose } from "./html.ts";
import { operationSection, type Operation } from "./operation-section.ts";
import { innerMembers, typeText, type Schema } from "./schema-members.ts";
import { style } from "./style.ts";

interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const styleHash = createHash("sha256").update(style).digest("base64");

/** Only the page's own style may have an effect. */
export const documentationHeaders = {
  "content-security-policy":
    `default-src 'none'; style-src 'sha256-${styleHash}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** A whole HTML document. `openApi`: what `openApiDocument` makes. */
export function documentationPage(openApi: object): string {
  const document = openApi as ApiDocument;
  const title = `${document.info.title} ${document.info.version}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}: the API</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${escaped(title)}</h1>
<p>The HTTP API. Tools read <a href="/openapi.json">/openapi.json</a>.</p>
${contents(document)}
</header>
<main>
<h2 id="use">Use</h2>
${prose(document.info.description)}
<h2 id="examples">Examples</h2>
<p>They are for a shell in which <code>LEDGER</code> is a ledger's id and <code>ledgerctl</code> has a profile, and for
a program with <code>client</code>, a <code>LedgerClient</code> of the package, and <code>ledgerId</code>.</p>
${groups(document)
  .map(({ name, description, operations }) =>
    [
      `<h2 class="group" id="${anchor(name)}">${inline(name)}</h2>\n<p>${inline(description)}.</p>`,
      ...operations.map(({ method, path, operation }) =>
        operationSection(method, path, operation, document.components.schemas),
      ),
    ].join("\n"),
  )
  .join("\n")}
<h2 class="group" id="objects">Objects</h2>
${Object.entries(document.components.schemas).map(objectSection).join("\n")}
<h2 class="group" id="refusals">Refusals, in order of precedence</h2>
<ul class="refusals">
${(Object.keys(problemKinds) as ProblemName[]).map(problemItem).join("\n")}
</ul>
</main>
</body>
</html>
`;
}

function groups({ tags, paths }: ApiDocument) {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
  return tags.map((tag) => ({
    ...tag,
    operations: all.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
}

function contents(document: ApiDocument): string {
  const sections = groups(document).map(({ name, operations }) => {
    const links = operations.map(
      ({ operation: { operationId, summary } }) =>
        `<li><a href="#${operationId}">${inline(summary)}</a></li>`,
    );
    return `<li><a href="#${anchor(name)}"><strong>${inline(name)}</strong></a><ul>${links.join("")}</ul></li>`;
  });
  const more = ["Use", "Signing", "Limits", "Examples", "Objects", "Refusals"].map(
    (name) => `<li><a href="#${anchor(name)}">${name}</a></li>`,
  );
  return `<nav aria-label="Contents"><ul>
<li><strong>Everywhere</strong><ul>${more.join("")}</ul></li>
${sections.join("\n")}
</ul></nav>`;
}

function objectSection([name, schema]: [string, Schema]): string {
  const { description, ...rest } = schema;
  const meaning = description === undefined ? "" : `<p>${inline(description)}</p>`;
  return `<section id="schema-${name}"><h3>${name}</h3>\n<p class="type">${typeText(rest)}</p>${meaning}${innerMembers(schema)}</section>`;
}

function problemItem(problem: ProblemName): string {
  const { status, code, title } = problemKinds[problem];
  const name = code === null ? "" : ` <code>${code}</code>`;
  return `<li id="problem-${problem}"><strong>${status}</strong>${name} ${title}: ${inline(problemMeanings[problem])}</li>`;
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(" ", "-");
}
