// One request to a receiver. A receiver may be anybody's: it is reached over TLS at an address that was looked at, redirects
// are not followed, and it can't make anybody wait for long.
import { TIMEOUT as nameTimedOut, lookup as lookUpName, type LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { DEFAULT_CIPHERS } from "node:tls";
import { certificateFault } from "../../core/certificate-fault.ts";
import { keyExchangeGroups } from "../../core/key-exchange.ts";
import { errorCode, messageOf } from "../../core/thrown.ts";
import { isPublicAddress } from "./public-address.ts";

export interface DeliveryRequest {
  readonly url: string;
  readonly body: string;
  /** The value of `Ledgerctl-Signature`. */
  readonly signature: string;
}

export interface ReceiverLimits {
  /** Whether receivers may be at addresses that are not of the public internet. */
  readonly allowsPrivate: boolean;
  /** How long a request may take, its answer included; 10 s unless given. */
  readonly timeoutMs?: number;
  /** Who resolves names where only public addresses are allowed; the system's nameservers unless given. */
  readonly nameservers?: readonly string[];
}

const requestTimeoutMs = 10_000;
/** What one nameserver has for its answer, twice at the most. */
const nameTimeoutMs = 2_000;
const urlLengthMax = 2_048;
/** Answers of status 1xx before the one that counts: each costs, and a receiver could send them without end. */
const interimAnswersMax = 10;

/** What is wrong with the URL of a receiver, or null. What its name resolves to is looked at with each request. */
export function receiverUrlFault(text: string, allowsPrivate: boolean): string | null {
  // URL drops or encodes them in silence, and not all of them can be stored.
  if (/[\p{Cc}\p{Cs}\s]/u.test(text)) return "must have no control character and no space";
  const url = text.length <= urlLengthMax && URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== "https:") {
    return `must be an https:// URL of at most ${urlLengthMax} characters`;
  }
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    return "must have no user, no password and no fragment";
  }
  const address = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isPrivate = isIP(address) !== 0 && !isPublicAddress(address);
  return isPrivate && !allowsPrivate
    ? `${address} is no public address, and this server sends to no other`
    : null;
}

/** Sends one request. Resolves with null when it was accepted (2xx), and else with why it was not. */
export function sendDelivery(
  { url, body, signature }: DeliveryRequest,
  limits: ReceiverLimits,
  signal: AbortSignal,
): Promise<string | null> {
  const { allowsPrivate, timeoutMs = requestTimeoutMs } = limits;
  const fault = receiverUrlFault(url, allowsPrivate);
  if (fault !== null) return Promise.resolve(`the URL ${fault}`);
  const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  return new Promise((resolve) => {
    const request = httpsRequest(url, {
      method: "POST",
      // A connection of its own: one that is kept may lead where the name no longer does.
      agent: false,
      ciphers: `${DEFAULT_CIPHERS}:!DHE`,
      ecdhCurve: keyExchangeGroups,
      lookup: allowsPrivate ? lookUpName : lookUpPublic(limits, ended),
      signal: ended,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "ledgerctl-signature": signature,
        "user-agent": "ledgerctl",
      },
    });
    let interimAnswers = 0;
    request.on("information", () => {
      interimAnswers += 1;
      if (interimAnswers <= interimAnswersMax) return;
      request.destroy();
      resolve(`sent more than ${interimAnswersMax} interim answers`);
    });
    request.on("response", (response) => {
      const { statusCode = 0 } = response;
      // The status says it all: what follows is not read.
      request.destroy();
      resolve(statusCode >= 200 && statusCode < 300 ? null : `answered ${statusCode}`);
    });
    request.on("error", (error) => {
      resolve(failureOf(error, timeoutMs));
    });
    // An answer that changes the protocol (101) ends the connection with no error and no response.
    request.on("close", () => {
      resolve("gave no answer");
    });
    request.end(body);
  });
}

/**
 * Gives the connection the public addresses of a name: it is made to the very address that was looked at, whatever the name
 * resolves to a moment later. Nameservers are asked directly. The system's lookup keeps a thread until they answer, and the
 * process has few: names that nobody answers for would hold up all others, the database's too.
 */
function lookUpPublic({ nameservers }: ReceiverLimits, ended: AbortSignal): LookupFunction {
  return (name, options, callback) => {
    resolveName(name, nameservers, ended).then(
      (addresses) => {
        const usable = addresses.filter(({ address }) => isPublicAddress(address));
        const [first] = usable;
        if (first === undefined) callback(new UnusableAddress(name), "");
        else if (options.all === true) callback(null, usable);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error as NodeJS.ErrnoException, "");
      },
    );
  };
}

/** The addresses of a name; rejects where it has none of either family. */
async function resolveName(
  name: string,
  nameservers: readonly string[] | undefined,
  ended: AbortSignal,
): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: nameTimeoutMs, tries: 2 });
  if (nameservers !== undefined) resolver.setServers(nameservers);
  const cancel = () => {
    resolver.cancel();
  };
  ended.addEventListener("abort", cancel);
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  // A signal that somebody listens to is kept for as long as those that it follows.
  ended.removeEventListener("abort", cancel);
  if (ipv4.status === "rejected" && ipv6.status === "rejected") throw ipv4.reason;
  const addressesIn = (resolved: typeof ipv4, family: number) =>
    resolved.status === "rejected" ? [] : resolved.value.map((address) => ({ address, family }));
  return [...addressesIn(ipv4, 4), ...addressesIn(ipv6, 6)];
}

/** Does not say what the name resolves to: that is known inside of the server's network alone. */
class UnusableAddress extends Error {
  constructor(name: string) {
    super(`${name} has no public address, and this server sends to no other`);
  }
}

function failureOf(error: Error, timeoutMs: number): string {
  if (error instanceof UnusableAddress) return error.message;
  if (error.name === "TimeoutError" || error.name === "AbortError") {
    return `did not answer within ${timeoutMs / 1000} s`;
  }
  if (errorCode(error) === nameTimedOut) return "no nameserver answered for its name";
  const fault = certificateFault(error);
  if (fault !== null) return `its certificate is not accepted: ${fault}`;
  return errorCode(error) ?? messageOf(error);
}
