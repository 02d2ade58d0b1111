// What all screens have: a line at the top, the keys at the bottom, and what is between. Views of props only.
import { Box, Text } from "ink";
import type { ReactElement, ReactNode } from "react";
import type { ScreenSize } from "./run-screen.ts";

export interface FrameProps {
  readonly size: ScreenSize;
  readonly isColored: boolean;
  readonly title: string;
  /** What must not be missed. */
  readonly alarms: readonly string[];
  /** What else stands at the top, in order of weight. */
  readonly facts: readonly string[];
  readonly keys: readonly (readonly [key: string, does: string])[];
  readonly children: ReactNode;
}

/** Rows of a frame that are not for its children. */
export const frameRows = 3;

export function Frame(props: FrameProps): ReactElement {
  const { size, isColored, title, facts, alarms, keys, children } = props;
  const help = keys.map(([key, does]) => `${key} ${does}`).join("  ");
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <Box flexShrink={0} flexDirection="column">
        <Text wrap="truncate">
          <Text bold={isColored}>{title}</Text>
          {alarms.length > 0 && <Text {...tint(isColored, "red")}>{`  ${alarms.join(", ")}`}</Text>}
          {facts.map((fact) => `  ${fact}`).join("")}
        </Text>
        <Text> </Text>
      </Box>
      <Box flexDirection="column" flexGrow={1} overflow="hidden">
        {/* What does not fit is cut off below; were it let shrink, rows would lie on one another. */}
        <Box flexShrink={0} flexDirection="column">
          {children}
        </Box>
      </Box>
      <Box flexShrink={0}>
        <Text wrap="truncate" dimColor={isColored}>
          {help}
        </Text>
      </Box>
    </Box>
  );
}

/** A colour where there are colours. */
export function tint(isColored: boolean, color: string): { color?: string } {
  return isColored ? { color } : {};
}
