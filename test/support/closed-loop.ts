// Clients of which each writes again once it is answered. How their batches come is only certain where a connection is open.

export const clientCount = 4;
export const writesOfEach = 45;

/** Has all clients write so many times; the first begins a little before the others, so that two batches take turns. */
export async function writeInClosedLoop(
  write: (client: number, number: number) => Promise<unknown>,
): Promise<void> {
  const writeAll = async (client: number) => {
    for (let number = 0; number < writesOfEach; number += 1) await write(client, number);
  };
  const first = writeAll(0);
  await new Promise((resolve) => setImmediate(resolve));
  const others = Array.from({ length: clientCount - 1 }, (_, index) => writeAll(index + 1));
  await Promise.all([first, ...others]);
}

/** The sizes of batches that take turns so many times: one of the first client, one of the others. */
export function inTurns(times: number): number[] {
  return Array.from({ length: times }, () => [1, clientCount - 1]).flat();
}
