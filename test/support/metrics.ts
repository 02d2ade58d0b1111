// Reading Prometheus' text format, written from its description and from nothing in src/.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples of a text; throws on a line that is none, no comment and not empty. */
export function readSamples(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    if (line === "" || line.startsWith("#")) return [];
    const found = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (found === null) throw new Error(`not a sample: ${line}`);
    const [, name = "", labels = "", value = ""] = found;
    const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)];
    return [
      {
        name,
        labels: Object.fromEntries(pairs.map(([, key = "", text = ""]) => [key, text])),
        value: Number(value.replace("Inf", "Infinity")),
      },
    ];
  });
}

/** The one sample of a name that has these labels, or null. */
export function sampleOf(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const found = readSamples(text).filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  if (found.length > 1) throw new Error(`${found.length} samples of ${name}`);
  return found[0]?.value ?? null;
}

/** By name, what a text says of its metrics: their types and meanings. */
export function describedMetrics(text: string): Map<string, { type: string; help: string }> {
  const helps = new Map(
    [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = "", help = ""]) => [name, help]),
  );
  return new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [
      name,
      { type, help: helps.get(name) ?? "" },
    ]),
  );
}
