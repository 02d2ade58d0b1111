// Which of several hosts of a database serves: rules that need no host.
import { randomUUID } from "node:crypto";
import { DatabaseError } from "pg";
import { describe, expect, test } from "vitest";
import {
  ConnectionBroken,
  HostFailure,
  isUnavailable,
  sqlStateOf,
} from "../../../src/store/database/errors.ts";
import { hostsOf } from "../../../src/store/database/hosts.ts";

/** Hosts that no other test knows. */
function openHosts(attribute = "read-write") {
  const hosts = hostsOf(`postgresql://one,two/${randomUUID()}?target_session_attrs=${attribute}`);
  const [one, two] = hosts.all;
  if (one === undefined || two === undefined) throw new Error("there are two hosts");
  return { hosts, one, two };
}

class TestSession {
  /** Why it was cut; null while it holds. */
  reason: string | null = null;

  cut(reason: Error): void {
    this.reason = reason.message;
  }
}

const primary = (timeline = "00000001") => ({ isStandby: false, timeline });
const standby = { isStandby: true, timeline: null };

function serverAnswer(code: string): Error {
  return Object.assign(new DatabaseError("said by the database", 0, "error"), { code });
}

describe("a host that is connected to", () => {
  test("becomes the one that serves, and sessions on the others are cut", () => {
    const { hosts, one, two } = openHosts();
    const [first, second] = [new TestSession(), new TestSession()];
    hosts.adopt(one, first, primary());
    hosts.adopt(two, second, primary("00000002"));
    expect(hosts.current).toBe(two);
    expect([first.reason, second.reason]).toEqual(["two:5432 serves now", null]);
  });

  test("takes over, as those who ask are told, also when it is promoted once more", () => {
    const { hosts, one, two } = openHosts();
    const told: string[] = [];
    const unlisten = hosts.onTakeover(({ name }) => told.push(name));
    const adopt = (host: typeof one, timeline?: string) => {
      hosts.adopt(host, new TestSession(), primary(timeline));
    };
    expect(hosts.isSupersededBy(primary())).toBe(false);
    adopt(one);
    adopt(one);
    expect(told).toEqual([]);
    expect(hosts.isSupersededBy(primary())).toBe(false);
    expect(hosts.isSupersededBy(standby)).toBe(false);
    expect(hosts.isSupersededBy(primary("00000002"))).toBe(true);
    adopt(two, "00000002");
    adopt(two, "00000003");
    expect(told).toEqual([two.name, two.name]);
    unlisten();
    adopt(one, "00000004");
    expect(told).toHaveLength(2);
  });

  test("is refused as a standby, and as a primary that another was promoted over", () => {
    const { hosts, one, two } = openHosts();
    expect(() => {
      hosts.adopt(one, new TestSession(), standby);
    }).toThrow("it is a standby");
    hosts.adopt(two, new TestSession(), primary("0000000A"));
    expect(() => {
      hosts.adopt(one, new TestSession(), primary("00000009"));
    }).toThrow("it is an old primary");
    expect(hosts.current).toBe(two);
    hosts.adopt(one, new TestSession(), primary("0000000B"));
    expect(hosts.current).toBe(one);
  });

  test("may be a standby where any host will do", () => {
    const { hosts, one } = openHosts("any");
    hosts.adopt(one, new TestSession(), standby);
    expect(hosts.current).toBe(one);
  });
});

describe("a host that fails", () => {
  test("is passed over, and the next one is tried", async () => {
    const { hosts, one, two } = openHosts();
    const tried: string[] = [];
    const found = await hosts.inTurn(async () => {
      const host = hosts.current;
      tried.push(host.name);
      if (host === two) return host;
      hosts.passOver(host, new Error("away"));
      throw new HostFailure(host.name, true, new Error("away"));
    });
    expect([found, tried]).toEqual([two, [one.name, two.name]]);
  });

  test("is not, if it served and answers that it has no connection to give", () => {
    const { hosts, one, two } = openHosts();
    hosts.passOver(one, serverAnswer("53300"));
    expect(hosts.current).toBe(two);
    hosts.adopt(two, new TestSession(), primary());
    hosts.passOver(two, serverAnswer("53300"));
    expect(hosts.current).toBe(two);
    hosts.passOver(two, serverAnswer("57P03"));
    expect(hosts.current).toBe(one);
  });

  test("is named with its reason when all of them do, and the database's own words are kept", async () => {
    const { hosts, one } = openHosts();
    const failed = await hosts
      .inTurn(() => {
        const host = hosts.current;
        const cause = host === one ? serverAnswer("28P01") : new Error("away");
        hosts.passOver(host, cause);
        return Promise.reject(new HostFailure(host.name, true, cause));
      })
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ConnectionBroken);
    expect((failed as Error).message).toBe("one:5432: said by the database; two:5432: away");
    expect([isUnavailable(failed), sqlStateOf(failed)]).toEqual([true, "28P01"]);
  });
});

test("a database that is refused is not connected to, whatever is tried", async () => {
  const { hosts, one } = openHosts();
  const session = new TestSession();
  hosts.adopt(one, session, primary());
  hosts.refuse(new Error("its pooler shares backends"));
  expect(session.reason).toBe("its pooler shares backends");
  await expect(hosts.inTurn(() => Promise.resolve())).rejects.toThrow("its pooler shares backends");
  hosts.refuse(null);
  await hosts.inTurn(() => Promise.resolve());
});
