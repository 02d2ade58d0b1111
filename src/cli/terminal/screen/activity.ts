// How often something happened in each of the last seconds. Pure: time is handed in.

/** Counts by second, the newest last; nothing is known of what is older. */
export interface Activity {
  /** The Unix second of the last count. */
  readonly second: number;
  readonly counts: readonly number[];
}

const secondsMax = 60;
/** The seconds that a rate is the mean of. */
const rateSeconds = 5;

export const noActivity: Activity = { second: 0, counts: [] };

/** With one more at a moment; one earlier than the newest counts as of the newest. */
export function withActivity(activity: Activity, nowMs: number): Activity {
  const second = Math.max(activity.second, Math.floor(nowMs / 1000));
  const counts = lastSeconds(activity, second * 1000, secondsMax);
  return { second, counts: [...counts.slice(0, -1), (counts.at(-1) ?? 0) + 1] };
}

/** The counts of the last `length` seconds, the one that has just begun as the last. */
export function lastSeconds(activity: Activity, nowMs: number, length: number): number[] {
  const passed = Math.max(0, Math.floor(nowMs / 1000) - activity.second);
  const kept = activity.counts.slice(Math.max(0, activity.counts.length - length + passed));
  const known = passed >= length ? [] : [...kept, ...zeros(passed)];
  return [...zeros(length - known.length), ...known];
}

/** The mean of the last five whole seconds. */
export function ratePerSecond(activity: Activity, nowMs: number): number {
  const whole = lastSeconds(activity, nowMs, rateSeconds + 1).slice(0, -1);
  return whole.reduce((sum, count) => sum + count, 0) / rateSeconds;
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}
