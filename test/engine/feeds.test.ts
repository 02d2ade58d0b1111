// The feeds of a hub by themselves: who follows what, from where on, and what becomes of a feed that nobody follows.
import { expect, test } from "vitest";
import { confirm, Feeds, newFeed, type Feed } from "../../src/engine/feeds.ts";

/** A log of numbers, each of which is its place; `log.failure` is what reading it fails with. */
function openLog() {
  const log = { end: 0, appendedWhileOpening: 0, failure: null as Error | null };
  const feeds = new Feeds<number, Feed<number>>(async (feed) => {
    while (feed.lastPlace < feed.confirmedPlace) {
      await Promise.resolve();
      if (log.failure !== null) throw log.failure;
      feed.lastPlace += 1;
      for (const listener of feed.listeners.keys()) listener(feed.lastPlace);
    }
  });
  const follow = async (given: number[], onLost: () => void = () => undefined) =>
    feeds.subscribe(
      "log",
      { listener: (place) => given.push(place), onLost },
      {
        readStart: () => Promise.resolve({ place: log.end }),
        open: ({ place }) => {
          const feed = newFeed<number>(place);
          log.end += log.appendedWhileOpening;
          confirm(feed, log.end);
          return feed;
        },
      },
    );
  const append = async (count: number) => {
    log.end += count;
    const feed = feeds.find("log");
    if (feed === undefined) return;
    confirm(feed, log.end);
    await feeds.send(feed);
  };
  return { log, feeds, follow, append };
}

test("each listener is given all that comes after it began, once and in order", async () => {
  const { follow, append } = openLog();
  const [first, second] = [[] as number[], [] as number[]];
  await append(2);
  expect((await follow(first)).fromPlace).toBe(2);
  const appended = Promise.all([append(3), append(2)]);
  const { fromPlace } = await follow(second);
  await appended;
  await append(1);
  expect(first).toEqual([3, 4, 5, 6, 7, 8]);
  expect(fromPlace).toBe(7);
  expect(second).toEqual([8]);
});

test("a feed is closed with its last listener, and opened anew with the next", async () => {
  const { feeds, follow, append } = openLog();
  const given: number[] = [];
  const subscriptions = [await follow([]), await follow([])];
  expect(feeds.count).toBe(1);
  for (const subscription of subscriptions) subscription.end();
  expect(feeds.count).toBe(0);
  await append(4);
  expect((await follow(given)).fromPlace).toBe(4);
  await append(1);
  expect(given).toEqual([5]);
});

test("a feed that can't be sent to its first listener is not left behind", async () => {
  const { log, feeds, follow } = openLog();
  log.appendedWhileOpening = 1;
  log.failure = new Error("the log can't be read");
  await expect(follow([])).rejects.toThrow(log.failure);
  expect(feeds.count).toBe(0);
});

test("listeners of feeds that are forgotten are told so, and are given nothing more", async () => {
  const { feeds, follow, append } = openLog();
  const given: number[] = [];
  let lost = 0;
  const subscription = await follow(given, () => {
    lost += 1;
  });
  const feed = feeds.find("log");
  feeds.forget();
  expect([lost, feeds.count]).toEqual([1, 0]);
  if (feed !== undefined) {
    confirm(feed, 3);
    await feeds.send(feed);
  }
  subscription.end();
  const again = await follow(given);
  expect(again.fromPlace).toBe(0);
  await append(1);
  expect(given).toEqual([1]);
});
