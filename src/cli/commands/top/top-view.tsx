// The screen of `top`. A view of props only.
import { Box, Text } from "ink";
import type { ReactElement } from "react";
import { printable } from "../../terminal/printable.ts";
import { Frame, frameRows, tint } from "../../terminal/screen/frame.tsx";
import type { ScreenSize } from "../../terminal/screen/run-screen.ts";
import { sparkline } from "../../terminal/screen/sparkline.ts";
import { Table, type ScreenColumn } from "../../terminal/screen/table.tsx";
import type { Figures, LaneFigures } from "./figures.ts";
import { figureLines, laneCells } from "./lines.ts";
import type { TopState } from "./top-state.ts";

export interface TopViewProps {
  readonly state: TopState;
  readonly url: string;
  readonly size: ScreenSize;
  readonly isColored: boolean;
}

const keys = [
  ["p", "pause"],
  ["q", "quit"],
] as const;
const nameWidth = 10;
const sparkSamples = 60;
const sparksRows = 5;
const lanesWidthMax = 92;

export function TopView({ state, url, size, isColored }: TopViewProps): ReactElement {
  const history = state.paused ?? state.history;
  const [figures] = history;
  return (
    <Frame
      size={size}
      isColored={isColored}
      title="top"
      alarms={[
        ...(state.paused === null ? [] : ["PAUSED"]),
        ...(state.fault === null ? [] : [`no answer: ${printable(state.fault)}`]),
      ]}
      facts={[
        printable(url),
        ...(figures === undefined
          ? []
          : [
              `ledgerctl ${printable(figures.version ?? "?")}`,
              `rates over ${figures.intervalSeconds.toFixed(1)} s`,
            ]),
      ]}
      keys={keys}
    >
      {figures === undefined ? (
        <Text>waiting for the second answer</Text>
      ) : (
        <Box flexDirection="column">
          {hasSparks(figures, size) ? <Sparks history={history} /> : null}
          <Table
            columns={laneColumns}
            rows={figures.lanes}
            keyOf={({ lane }) => lane}
            chosenKey={null}
            width={Math.min(size.columns, lanesWidthMax)}
            isColored={isColored}
          />
          <Text> </Text>
          {figureLines(figures).map(({ name, text, isAlarming }) => (
            <Text key={text} wrap="truncate" {...tint(isColored && isAlarming, "red")}>
              {name.padEnd(nameWidth) + text}
            </Text>
          ))}
        </Box>
      )}
    </Frame>
  );
}

/** A low screen has no room for them: the lines below tell the same, and more. */
function hasSparks(figures: Figures, { rows }: ScreenSize): boolean {
  const lanesRows = 1 + figures.lanes.length + 1;
  return rows >= frameRows + sparksRows + lanesRows + figureLines(figures).length;
}

function Sparks({ history }: { readonly history: readonly Figures[] }): ReactElement {
  const spark = (name: string, unit: string, figure: (figures: Figures) => number) => {
    const values = history.slice(0, sparkSamples).map(figure);
    const now = (values[0] ?? 0).toFixed(1).padStart(9);
    const greatest = Math.max(...values).toFixed(1);
    return (
      <Text wrap="truncate">
        {`${name.padEnd(nameWidth)}${now} ${unit.padEnd(3)} ${sparkline(values.toReversed())}  max ${greatest}`}
      </Text>
    );
  };
  return (
    <Box flexDirection="column">
      {spark("writes", "/s", ({ writes }) => writes.perSecond)}
      {spark("commit", "ms", ({ lanes }) => longestCommit(lanes))}
      {spark("queue", "", ({ lanes }) => lanes.reduce((sum, lane) => sum + lane.queueWrites, 0))}
      {spark("lag", "s", ({ posting }) => posting.lagSeconds ?? 0)}
      <Text> </Text>
    </Box>
  );
}

/** The mean of the lane that is slower at the moment. */
function longestCommit(lanes: readonly LaneFigures[]): number {
  return Math.max(0, ...lanes.map(({ commitMsMean }) => commitMsMean ?? 0));
}

const laneColumns: readonly ScreenColumn<LaneFigures>[] = [
  { title: "LANE", align: "left", width: nameWidth, spare: 0, text: ({ lane }) => printable(lane) },
  ...laneCells.map(([title, text], index): ScreenColumn<LaneFigures> => ({
    title,
    align: "right",
    width: Math.max(title.length, 9),
    spare: index,
    text,
  })),
];
