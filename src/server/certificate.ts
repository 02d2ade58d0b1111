// The certificate that TLS shows: read from its files, checked before anybody is shown it, and read again when it was
// renewed.
import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { SettingError } from "../config.ts";
import { errorCode, messageOf } from "../core/thrown.ts";
import { requireUsable, type Certificate } from "../http/tls.ts";
import type { Log } from "../log.ts";
import { readSettingFile } from "./setting-file.ts";

/** Where the certificate and its private key are: files of PEM. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** A certificate with the files that it was read from. */
export interface LoadedCertificate extends Certificate {
  readonly files: CertificateFiles;
}

/** Reads a certificate. Rejects with SettingError, whose message names the flag of the file at fault, and what to do. */
export async function loadCertificate(files: CertificateFiles): Promise<LoadedCertificate> {
  const [cert, key] = await Promise.all([
    readText("--tls-cert", files.cert),
    readText("--tls-key", files.key),
  ]);
  const certificate = parseCertificate(files.cert, cert);
  const privateKey = parseKey(files.key, key);
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new SettingError(
      `--tls-key ${files.key} does not belong to --tls-cert ${files.cert}. The first certificate in the file has to ` +
        "be the server's own; those of its authorities follow.",
    );
  }
  requireValidNow(files.cert, certificate);
  try {
    requireUsable({ cert, key });
  } catch (error) {
    throw new SettingError(
      `--tls-cert ${files.cert} and --tls-key ${files.key} can't be used for TLS: ${messageOf(error)}`,
      { cause: error },
    );
  }
  return { cert, key, files };
}

/** When a certificate expires. */
export function expiresAtMs({ cert }: Certificate): number {
  return Date.parse(new X509Certificate(cert).validTo);
}

/** Reads the files again, and hands on what they have; what can't be used is logged, and the one before stays. */
export async function reloadCertificate(
  files: CertificateFiles,
  use: (certificate: Certificate) => void,
  log: Log,
): Promise<void> {
  try {
    const certificate = await loadCertificate(files);
    use(certificate);
    const expiresAt = new Date(expiresAtMs(certificate)).toISOString();
    log.info({ expiresAt }, "new connections get the certificate that was read again");
  } catch (error) {
    log.error(
      { cause: messageOf(error) },
      "the certificate before stays: the new one can't be used",
    );
  }
}

/**
 * The URL under which a certificate is accepted, where the server is known to be reached under a name: the host it was
 * told to bind, or `localhost`. Else the URL as it is.
 */
export function namedUrl(url: string, host: string, { cert }: Certificate): string {
  const certificate = new X509Certificate(cert);
  const { hostname, protocol, port } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, "");
  if (certificate.checkIP(address) !== undefined) return url;
  const isLoopback = address === "::1" || address.startsWith("127.");
  const names = isLoopback ? [host, "localhost"] : [host];
  const name = names.find((name) => certificate.checkHost(name) !== undefined);
  return name === undefined ? url : `${protocol}//${name}${port === "" ? "" : `:${port}`}`;
}

async function readText(flag: string, file: string): Promise<string> {
  return (await readSettingFile(flag, file)).toString();
}

function parseCertificate(file: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new SettingError(
      `--tls-cert ${file} has no certificate in PEM (-----BEGIN CERTIFICATE-----) that can be read`,
      { cause: error },
    );
  }
}

function parseKey(file: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    const isEncrypted = errorCode(error) === "ERR_MISSING_PASSPHRASE" || /\bENCRYPTED\b/.test(text);
    throw new SettingError(
      isEncrypted
        ? `--tls-key ${file} is encrypted, and nobody can type its passphrase when the server starts by itself. ` +
            "`openssl pkey -in FILE -out PLAIN` decrypts it; keep the plain file at mode 0600."
        : `--tls-key ${file} has no private key in PEM (-----BEGIN PRIVATE KEY-----) that can be read`,
      { cause: error },
    );
  }
}

function requireValidNow(file: string, { validFrom, validTo }: X509Certificate): void {
  const nowMs = Date.now();
  if (Date.parse(validTo) <= nowMs) {
    throw new SettingError(`--tls-cert ${file} expired at ${isoTime(validTo)}: renew it`);
  }
  if (Date.parse(validFrom) > nowMs) {
    throw new SettingError(
      `--tls-cert ${file} is valid from ${isoTime(validFrom)} only: is this machine's clock right?`,
    );
  }
}

function isoTime(text: string): string {
  return new Date(text).toISOString();
}
