// Prometheus' text format as figures by name and labels. Only what our own servers write of it.

type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** Everything a server told at one moment. */
export class Scrape {
  /** By `performance.now()`. */
  readonly atMs: number;
  readonly #samples = new Map<string, Sample[]>();

  constructor(text: string, atMs: number) {
    this.atMs = atMs;
    for (const line of text.split("\n")) {
      const found = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
      if (found === null) continue;
      const [, name = "", labels = "", value = ""] = found;
      const sample = { labels: readLabels(labels), value: Number(value) };
      this.#samples.set(name, [...(this.#samples.get(name) ?? []), sample]);
    }
  }

  /** Whether a server of ours wrote it. */
  get isOurs(): boolean {
    return this.#samples.has("ledgerctl_info");
  }

  /** The samples of a name that have these labels. */
  list(name: string, labels: Labels = {}): readonly Sample[] {
    return (this.#samples.get(name) ?? []).filter((sample) =>
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  }

  /** Their sum; null where there are none. */
  sum(name: string, labels: Labels = {}): number | null {
    const samples = this.list(name, labels);
    return samples.length === 0 ? null : samples.reduce((sum, { value }) => sum + value, 0);
  }
}

function readLabels(text: string): Labels {
  const pairs = [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return Object.fromEntries(
    pairs.map(([, label = "", value = ""]) => [
      label,
      value.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character)),
    ]),
  );
}
