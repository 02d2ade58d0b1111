// Reading PromQL as far as ours goes: which series a query selects, and the labels that it groups by.

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly { label: string; operator: string; value: string }[];
}

/** Of Prometheus itself, which no server answers. */
export const ownLabels = ["job", "instance"];

/** What a query selects; names are told from functions and words by their prefixes. */
export function readSelectors(query: string): Selector[] {
  const selected = /\b((?:ledgerctl|process|nodejs)_\w+|up)\b(?!\()\s*(?:\{([^}]*)\})?/g;
  return [...query.matchAll(selected)].map(([, metric = "", inBraces = ""]) => ({
    metric,
    matchers: [...inBraces.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(
      ([, label = "", operator = "", value = ""]) => ({ label, operator, value }),
    ),
  }));
}

export function readGroupings(query: string): string[] {
  return [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = ""]) =>
    labels.split(",").map((label) => label.trim()),
  );
}
