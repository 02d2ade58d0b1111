// Requests are begun together at the end of the tick in which they came. Of those that a client pipelines by the thousand a few
// are begun at a time, in order, and nobody waits for all of them.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Connections } from "../../src/http/connections.ts";
import { exchangesOf } from "../../src/http/exchanges.ts";
import { IncomingRequest } from "../../src/http/incoming-request.ts";

let server: Server<typeof IncomingRequest>;
let client: Socket;
let text: string;
/** How many requests were begun in each tick of the event loop in which any were. */
let begunInTicks: number[];
/** Most requests that had been read and were not begun. */
let mostWaiting: number;
let isNewTick: boolean;
/** "read /N" and "begun /N", in the order in which it happened. */
let steps: string[];

beforeEach(async () => {
  [text, begunInTicks, mostWaiting, isNewTick, steps] = ["", [], 0, true, []];
  server = createServer({ IncomingMessage: IncomingRequest }, (request, response) => {
    steps.push(`begun ${request.url ?? ""}`);
    if (isNewTick) {
      isNewTick = false;
      begunInTicks.push(0);
      setImmediate(() => (isNewTick = true));
    }
    begunInTicks.push((begunInTicks.pop() ?? 0) + 1);
    mostWaiting = Math.max(mostWaiting, exchangesOf(request.socket).waiting.length);
    let body = "";
    request.readBody({
      write: (piece) => (body += piece.toString("latin1")),
      end: () => response.end(`<${request.url ?? ""} ${body}>`),
      abort: () => undefined,
    });
  });
  new Connections(server, null);
  server.prependListener("request", ({ url }) => steps.push(`read ${url ?? ""}`));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.setEncoding("latin1").on("data", (piece: string) => (text += piece));
  await once(client, "connect");
});

afterEach(async () => {
  client.destroy();
  server.close();
  await once(server, "close");
});

const get = (number: number) => `GET ${number} HTTP/1.1\r\nHost: x\r\n\r\n`.replace(" ", " /");
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
const answers = () => [...text.matchAll(/<\/(\d+) (x*)>/g)];
const answered = () => answers().map(([, number]) => Number(number));

test("requests of many connections that come in one tick are all read before the first is begun", async () => {
  const count = 20;
  const { port } = server.address() as AddressInfo;
  const clients = numbers(count).map(() => connect(port, "127.0.0.1"));
  const sendOnEach = async () => {
    for (const [number, each] of clients.entries()) each.write(get(number));
    await Promise.all(clients.map((each) => once(each, "data")));
  };
  // The server accepts the connections in several ticks, and a busy kernel delivers requests in two.
  const areBegunTogether = async () => {
    steps = [];
    await sendOnEach();
    const read = steps.slice(0, count);
    return steps
      .slice(count)
      .every((step, index) => step === read[index]?.replace("read", "begun"));
  };
  await expect.poll(areBegunTogether).toBe(true);
  expect(steps).toHaveLength(2 * count);
  for (const each of clients) each.destroy();
});

test("of one connection at most 64 are begun in a tick, and answered in order", async () => {
  client.write(numbers(3_000).map(get).join(""));
  await expect.poll(() => answered().length).toBe(3_000);
  expect(answered()).toEqual(numbers(3_000));
  expect(Math.max(...begunInTicks)).toBeLessThanOrEqual(64);
});

test("no more are read while more than 64 wait, whatever their answers and bodies need", async () => {
  const count = 20_000;
  const bytes = numbers(count).map(
    (number) =>
      `POST /${number} HTTP/1.1\r\nHost: x\r\nContent-Length: ${number % 30}\r\n\r\n${"x".repeat(number % 30)}`,
  );
  client.write(bytes.join(""));
  await expect.poll(() => answered().length).toBe(count);
  expect(answers().map(([, , body]) => body?.length)).toEqual(numbers(count).map((n) => n % 30));
  // What 64 KiB hold, which is read at once.
  expect(mostWaiting).toBeLessThan(65_536 / Math.min(...bytes.map(({ length }) => length)));
});

test("no more are read behind a long body either", async () => {
  const count = 20_000;
  const body = "x".repeat(66_000);
  client.write(get(0));
  await once(client, "data");
  text = "";
  client.write(
    `POST /0 HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
      numbers(count).map(get).join(""),
  );
  await expect.poll(() => answered().length).toBe(count + 1);
  expect(mostWaiting).toBeLessThan(65_536 / get(0).length);
});

test("those of another connection are begun between them", async () => {
  const other = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(other, "connect");
  client.write(numbers(20_000).map(get).join(""));
  await once(client, "data");
  other.write(get(7));
  await once(other, "data");
  expect(answered().length).toBeLessThan(20_000);
  other.destroy();
});

test("those of a client that is gone are not begun", async () => {
  const connection = new Promise<Socket>((resolve) =>
    server.once("request", ({ socket }) => {
      resolve(socket);
    }),
  );
  client.write(numbers(2_000).map(get).join(""));
  const socket = await connection;
  socket.destroy();
  await once(socket, "close");
  expect(begunInTicks).toEqual([]);
  expect(exchangesOf(socket).waiting).toEqual([]);
});
