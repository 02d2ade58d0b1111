// `merkle verify`: closes recomputed, and compared with their records, with each other, and with what was published.
import type { Environment } from "../../../config.ts";
import { anchorChain, linkCloses, type CheckedBundle } from "../../../verify/close-chain.ts";
import {
  anchoredBy,
  comparedWith,
  isFigureOf,
  unexpectedFigure,
  withFindings,
  type Finding,
} from "../../../verify/verdict.ts";
import { CommandFailure, exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import { checkBundleFile, checkPeriod } from "./check-close.ts";
import {
  isProofOf,
  readCloseProofs,
  strayProof,
  type CloseProof,
  type ProofFlags,
} from "./close-proof.ts";
import { tellBundles, type BundleVerdict } from "./bundles-verdict.ts";
import { readHash, tellVerdict } from "./verdict.ts";

export interface VerifyFlags extends ServiceFlags, ProofFlags {
  period?: string;
  bundle?: readonly string[];
  expect?: readonly string[];
}

interface NamedBundle extends CheckedBundle {
  readonly file: string;
}

/** What the closes are compared with. */
interface Anchors {
  /** Each a merkleRoot or a closeHash. */
  readonly figures: readonly string[];
  readonly proofs: readonly CloseProof[];
}

export async function verifyClose(
  positional: readonly string[],
  flags: VerifyFlags,
  environment: Environment,
): Promise<ExitCode> {
  const files = readSources([...positional, ...(flags.bundle ?? [])], flags.period);
  const figures = (flags.expect ?? []).map((figure) => readHash("--expect", figure));
  const output = new Output(flags, environment.isColorRefused);
  const { proofs, findings } = await readCloseProofs(flags);
  const anchors = { figures, proofs };
  const [first = ""] = files;
  if (files.length > 1) return verifyBundles(files, anchors, findings, output);
  const close =
    flags.period === undefined
      ? await checkBundleFile(first)
      : await checkPeriod(flags.period, flags, environment);
  const [anchored = close] = anchorChain([withAnchors(close, anchors)], (bundle) =>
    isVouched(bundle, anchors),
  );
  const strays = strayAnchors([close], anchors);
  return tellVerdict(withFindings(anchored.verdict, [...findings, ...strays]), anchors, output);
}

function readSources(files: readonly string[], period: string | undefined): readonly string[] {
  if (period !== undefined && files.length > 0)
    throw usageFailure("say either --period or bundles");
  if (period === undefined && files.length === 0) {
    throw usageFailure(
      "say what to verify: bundles, as in `ledgerctl merkle verify 2026-03.ndjson`, or --period LABEL of a close in the service",
    );
  }
  if (files.filter((file) => file === "-").length > 1)
    throw usageFailure("stdin is there once: - is given twice");
  return files;
}

/** All files are told, also behind one that is no bundle. */
async function verifyBundles(
  files: readonly string[],
  anchors: Anchors,
  found: readonly Finding[],
  output: Output,
): Promise<ExitCode> {
  const bundles: NamedBundle[] = [];
  const findings = [...found];
  let isDamaged = false;
  for (const file of files) {
    try {
      bundles.push({ file, ...(await checkBundleFile(file)) });
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      isDamaged ||= error.exitCode === exitCodes.verificationFailed;
      findings.push({ where: "file", what: error.message });
    }
  }
  const linked = linkCloses(bundles).map((bundle) => withAnchors(bundle, anchors));
  const anchored = anchorChain(linked, (bundle) => isVouched(bundle, anchors));
  const strays = strayAnchors(bundles, anchors);
  const verdicts = anchored.map(({ file, verdict }): BundleVerdict => ({ file, ...verdict }));
  const ok = tellBundles(verdicts, [...findings, ...strays], output);
  if (ok) return exitCodes.done;
  // What could not be read says nothing of the closes.
  const hasFailed =
    isDamaged || found.length + strays.length > 0 || verdicts.some((verdict) => !verdict.ok);
  return hasFailed ? exitCodes.verificationFailed : exitCodes.failed;
}

/** The bundle, compared with those figures and proofs that are of it. */
function withAnchors<Bundle extends CheckedBundle>(
  bundle: Bundle,
  { figures, proofs }: Anchors,
): Bundle {
  let { verdict } = bundle;
  for (const figure of figures) {
    if (isFigureOf(verdict, figure)) verdict = comparedWith(verdict, figure);
  }
  for (const proof of proofs.filter((each) => isProofOfBundle(each, bundle))) {
    const { checkpoint } = proof;
    const what = `the closeHash, with the signed log ${checkpoint.origin}`;
    verdict = { ...anchoredBy(verdict, what), signers: checkpoint.signers };
  }
  return { ...bundle, verdict };
}

/** Whether something from elsewhere covers all of a close's record. */
function isVouched(bundle: CheckedBundle, { figures, proofs }: Anchors): boolean {
  return (
    figures.includes(bundle.verdict.closeHash) ||
    proofs.some((proof) => isProofOfBundle(proof, bundle))
  );
}

function isProofOfBundle(proof: CloseProof, { record, verdict }: CheckedBundle): boolean {
  return isProofOf(proof, record.ledgerId, verdict.closeHash);
}

/** Figures and proofs that are of none of the closes. */
function strayAnchors(
  bundles: readonly CheckedBundle[],
  { figures, proofs }: Anchors,
): readonly Finding[] {
  return [
    ...figures
      .filter((figure) => !bundles.some(({ verdict }) => isFigureOf(verdict, figure)))
      .map(unexpectedFigure),
    ...proofs
      .filter((proof) => !bundles.some((bundle) => isProofOfBundle(proof, bundle)))
      .map(strayProof),
  ];
}
