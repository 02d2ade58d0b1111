// The limits that the service enforces and no schema can say, as the documentation tells them.
import { linesMax, linesMin } from "../core/journal.ts";
import { descriptionCodePointsMax, labelCodePointsMax } from "../core/text.ts";
import { bulkItemsMax } from "../contract/field-schemas.ts";
import { metadataBytesMax, metadataDepthMax } from "../contract/metadata.ts";
import { ndjsonAnswersPerOrganization } from "./api-routes.ts";
import { headerBytesMax, requestTimeoutMs } from "./broken-requests.ts";
import { pageBytesMax } from "./handlers/route-handler.ts";
import {
  clientMessageBytesMax,
  conflateFromBytes,
  conflateMsMax,
  pingIntervalMs,
  unsentBytesMax,
} from "./streams/limits.ts";

/** A sentence each; some depend on the server's settings. */
export function documentedLimits(bodyBytesMax: number): string[] {
  const seconds = (ms: number) => `${ms / 1000} s`;
  return [
    `A body has at most ${bytes(bodyBytesMax)}: 413.`,
    `The header of a request has at most ${bytes(headerBytesMax)}: 431.`,
    `A request arrives whole within ${seconds(requestTimeoutMs)}: 408.`,
    `An entry has ${linesMin} to ${linesMax.toLocaleString("en")} lines; a bulk has at most ${bulkItemsMax.toLocaleString("en")} items.`,
    `Ids, codes and labels have 1 to ${labelCodePointsMax} Unicode code points, descriptions and reasons up to ` +
      `${descriptionCodePointsMax.toLocaleString("en")}; NUL and lone surrogates are refused.`,
    "Amounts in requests have at most 38 digits; sums in replies may have more.",
    `Metadata has at most ${bytes(metadataBytesMax)}, and of an entry it is nested at most ${metadataDepthMax} deep.`,
    "Numbers in metadata and spotRate are those that a double holds exactly; others are refused.",
    `A page of entries ends before its limit where its JSON would be over ${bytes(pageBytesMax)}.`,
    `A WebSocket's client sends at most ${bytes(clientMessageBytesMax)} a message, and is pinged every ${seconds(pingIntervalMs)}. ` +
      `A reader without \`since\` gets only the latest figures from ${bytes(conflateFromBytes)} unsent on, and is closed with 1013 ` +
      `after ${seconds(conflateMsMax)}; one with \`since\` at ${bytes(unsentBytesMax)} unsent.`,
    `An organization downloads at most ${ndjsonAnswersPerOrganization} bundles at a time: 503.`,
    "A key may have a rate limit, which the headers RateLimit-Policy and RateLimit tell: 429.",
  ];
}

function bytes(count: number): string {
  const mebi = count / 1024 / 1024;
  return Number.isInteger(mebi) ? `${mebi} MiB` : `${count / 1024} KiB`;
}
