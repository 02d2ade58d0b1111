// A plot as SVG, both axes logarithmic: how long requests take (ms) at so many entries, a line for each kind.

const width = 920;
const height = 480;
const plot = { left: 64, top: 24, right: 620, bottom: 430 };
const labelHeight = 18;
// Told apart by people who see no red or green, and in print.
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#444444"];
const dashes = ["none", "6 3", "2 3"];

/** `lines`: times in ms by name, one for each size. Returns the text of the file. */
export function drawGrowth(sizes, lines) {
  const times = [...lines.values()].flat();
  const x = scale([sizes[0], sizes.at(-1)], [plot.left, plot.right]);
  const y = scale(decadesAround(times), [plot.bottom, plot.top]);
  const parts = [
    ...sizes.map((size) => tick(x(size), plot.bottom + 18, "middle", size.toLocaleString("en"))),
    ...decadesIn(decadesAround(times)).flatMap((ms) => [
      `<line x1="${plot.left}" x2="${plot.right}" y1="${y(ms)}" y2="${y(ms)}" stroke="#ddd"/>`,
      tick(plot.left - 8, y(ms) + 4, "end", `${ms} ms`),
    ]),
    tick((plot.left + plot.right) / 2, height - 10, "middle", "entries in the ledger"),
  ];
  const ends = [...lines].map(([name, ms], index) => ({ name, index, at: y(ms.at(-1)) }));
  for (const [name, ms] of lines) {
    const { index } = ends.find((end) => end.name === name);
    const points = ms.map((time, at) => `${x(sizes[at])},${y(time)}`).join(" ");
    parts.push(`<polyline points="${points}" fill="none" stroke-width="2" ${strokeOf(index)}/>`);
  }
  for (const { name, index, at, labelAt } of spread(ends)) {
    const from = `M${plot.right + 4} ${at} L${plot.right + 22} ${labelAt}`;
    parts.push(`<path d="${from}" fill="none" stroke-width="1" ${strokeOf(index)}/>`);
    parts.push(tick(plot.right + 28, labelAt + 4, "start", name, colours[index]));
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">
<rect width="${width}" height="${height}" fill="#fff"/>
${parts.join("\n")}
</svg>
`;
}

function strokeOf(index) {
  return `stroke="${colours[index % colours.length]}" stroke-dasharray="${dashes[index % dashes.length]}"`;
}

function tick(x, y, anchor, text, colour = "#333") {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${colour}">${text}</text>`;
}

/** A logarithmic scale from one range to another. */
function scale([low, high], [from, to]) {
  const span = Math.log10(high) - Math.log10(low) || 1;
  return (value) => round(from + ((Math.log10(value) - Math.log10(low)) / span) * (to - from));
}

/** The powers of ten below the least and above the greatest. */
function decadesAround(numbers) {
  const exponent = (number) => Math.log10(number);
  return [
    10 ** Math.floor(exponent(Math.min(...numbers))),
    10 ** Math.ceil(exponent(Math.max(...numbers))),
  ];
}

function decadesIn([low, high]) {
  const decades = [];
  for (let decade = low; decade <= high * 1.01; decade *= 10)
    decades.push(Number(decade.toPrecision(1)));
  return decades;
}

/** Labels beside the ends of their lines, moved apart where they would lie on each other. */
function spread(ends) {
  let last = -Infinity;
  return ends
    .toSorted((a, b) => a.at - b.at)
    .map((end) => {
      last = Math.max(end.at, last + labelHeight);
      return { ...end, labelAt: last };
    });
}

function round(number) {
  return Math.round(number * 10) / 10;
}
