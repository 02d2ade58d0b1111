// Doing the same for many, a bounded number at once.

/** Runs `act` for 0 up to `count`, excluded; rejects with the first failure. */
export async function eachConcurrently(
  count: number,
  concurrency: number,
  act: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await act(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, work));
}
