"""Judges many cases with the second verifier in one process: a JSON object a line, on both sides.

    python3 second_verifier_cases.py VERIFIER < cases

A case has `data` in base64, and either `policy` (a policy file in base64) or `verifierKeys` and `witnessKeys`. With
`withRecord`, the record of a proof is read too. A case without `data` is only a policy or keys. A case with
`publicKey` and `signature`, in base64, is a signature over `data`; one with `origin` and `index` is a leaf. The verdict has `ok`, and `signers` or `finding`.
"""

import base64
import functools
import importlib.util
import json
import sys

spec = importlib.util.spec_from_file_location("verify_close", sys.argv[1])
verifier = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = verifier
spec.loader.exec_module(verifier)
# Most cases are one file with something changed beside its signatures: each of these is computed once.
verifier.is_ed25519 = functools.cache(verifier.is_ed25519)


def policy_of(case):
    if "policy" in case:
        return verifier.parse_policy(base64.b64decode(case["policy"]))
    policy = verifier.Policy()
    policy.logs = [verifier.parse_key(key.encode(), verifier.LOG_KEY) for key in case["verifierKeys"]]
    policy.required = [verifier.parse_key(key.encode(), verifier.WITNESS_KEY) for key in case["witnessKeys"]]
    return policy


def signers_of(case):
    if "publicKey" in case:
        parts = [base64.b64decode(case[name]) for name in ("data", "signature", "publicKey")]
        if not verifier.is_ed25519(*parts):
            raise verifier.Refused("the signature is not valid")
        return []
    if "origin" in case:
        verifier.read_record(case["origin"], case["index"], base64.b64decode(case["data"]))
        return []
    policy = policy_of(case)
    if "data" not in case:
        return []
    data = base64.b64decode(case["data"])
    if case["withRecord"]:
        return verifier.check_signed(data, policy).checkpoint.signers
    if data.startswith(verifier.TLOG_PROOF):
        return verifier.verify_tlog_proof(data, policy)[0].signers
    return verifier.verify_checkpoint(data, policy).signers


for line in sys.stdin:
    try:
        signers = [{"name": name, "time": time} for name, time in signers_of(json.loads(line))]
        verdict = {"ok": True, "signers": signers}
    except verifier.Refused as error:
        verdict = {"ok": False, "finding": str(error)}
    print(json.dumps(verdict))
