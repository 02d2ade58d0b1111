// One route of the API as HTML, from its operation in the OpenAPI document.
import { escaped, inline, codeBlock } from "./html.ts";
import { innerMembers, memberRow, typeText, type Schema } from "./schema-members.ts";

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, Content>>;
  };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content: Record<string, Content> }>
  >;
  readonly "x-codeSamples": readonly { readonly label: string; readonly source: string }[];
}

/** `named`: the document's schemas by their names. */
export function operationSection(
  method: string,
  path: string,
  operation: Operation,
  named: Readonly<Record<string, Schema>>,
): string {
  const { operationId, summary, description, requestBody, responses } = operation;
  const isWrite = method !== "get";
  const answers = Object.entries(responses);
  return `<article id="${operationId}">
<h3>${inline(summary)}</h3>
<p><span class="method${isWrite ? " write" : ""}">${method.toUpperCase()}</span> <code>${escaped(path)}</code></p>
<p>${inline(description)}</p>
${parameterList(operation)}
${requestBody === undefined ? "" : bodySection(requestBody, named)}
${operation["x-codeSamples"].map(({ label, source }) => `<h4>${label}</h4>\n${codeBlock(source)}`).join("\n")}
${answers.filter(isDone).map(answerSection).join("\n")}
<h4>Refusals</h4>
<ul class="refusals">
${answers
  .filter((answer) => !isDone(answer))
  .map(
    ([status, refusal]) =>
      `<li><strong>${status}</strong> ${inline(refusal.description.replaceAll("\n\n", "; "))}</li>`,
  )
  .join("\n")}
</ul>
</article>`;
}

/** What is sent is shown where it is sent; what it has inside, with the objects. */
function bodySection(
  { required, content }: NonNullable<Operation["requestBody"]>,
  named: Readonly<Record<string, Schema>>,
): string {
  const schemas = Object.values(content).map(({ schema }) => {
    const name = schema.$ref?.replace(/^.*\//, "") ?? "";
    return `<p>${typeText(schema)}</p>${innerMembers(named[name] ?? schema)}`;
  });
  return `<h4>Body${required ? "" : ", optional"}</h4>\n${schemas.join("\n")}`;
}

type Answer = [status: string, response: Operation["responses"][string]];

function isDone([status]: Answer): boolean {
  return Number(status) < 300;
}

function answerSection([status, { description, content }]: Answer): string {
  const more = description === "Done" ? "" : ` <span class="soft">${inline(description)}</span>`;
  const example = Object.values(content).flatMap((one) => ("example" in one ? [one.example] : []));
  return [contentOf(`Reply ${status}`, content, more), ...example.map(codeBlock)].join("\n");
}

/** What every request has beside these, its signature, is described once. */
function parameterList({ parameters }: Operation): string {
  const own = parameters.filter((parameter) => parameter.in !== "header");
  if (own.length === 0) return "";
  const rows = own.map(({ name, required, description, schema }) =>
    memberRow(name, description === undefined ? schema : { ...schema, description }, required),
  );
  return `<h4>Parameters</h4>\n<dl>${rows.join("\n")}</dl>`;
}

function contentOf(title: string, content: Readonly<Record<string, Content>>, more = ""): string {
  const kinds = Object.entries(content).map(([mediaType, { schema }]) => {
    const kind = mediaType === "application/json" ? "" : ` <code>${mediaType}</code>`;
    const meaning = schema.description === undefined ? "" : `: ${inline(schema.description)}`;
    return `<h4>${title}${kind}</h4>\n<p>${typeText(schema)}${meaning}${more}</p>${innerMembers(schema)}`;
  });
  return kinds.join("\n");
}
