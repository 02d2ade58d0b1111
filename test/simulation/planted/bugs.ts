// Bugs that are planted to see whether the simulation finds them: each breaks one rule of the write path. They are changes
// of the engine's source, made while it is bundled; a text that is not found there exactly once is an error.

export interface PlantedBug {
  readonly name: string;
  /** The rule that it breaks. */
  readonly rule: string;
  readonly file: string;
  /** What is in the file, and what stands there instead. */
  readonly changes: readonly (readonly [string, string])[];
}

export const bugs: readonly PlantedBug[] = [
  {
    name: "answers before COMMIT",
    rule: "An answer leaves after COMMIT has returned.",
    file: "src/engine/batch-runner.ts",
    changes: [
      [
        `        try {
          await ended;
        } catch`,
        `        try {
          await Promise.resolve();
        } catch`,
      ],
    ],
  },
  {
    name: "takes an ambiguous COMMIT for done",
    rule: "The outcome of a COMMIT that went unanswered is looked up.",
    file: "src/engine/batch-recovery.ts",
    changes: [["return isFound;", "return isFound || true;"]],
  },
  {
    name: "looks an ambiguous COMMIT up without its lock",
    rule: "Whether a batch is recorded is looked up behind a lock that it held.",
    file: "src/engine/batch-recovery.ts",
    changes: [["    recording.lock(transaction),\n", "    null,\n"]],
  },
  {
    name: "says UNAVAILABLE where nobody knows",
    rule: "UNAVAILABLE means: certainly not written.",
    file: "src/engine/batch-recovery.ts",
    changes: [['new Refusal("outcomeUnknown", "it could', 'new Refusal("unavailable", "it could']],
  },
  {
    name: "fails the neighbours of a bad write",
    rule: "One bad write never fails its neighbours.",
    file: "src/engine/batch-recovery.ts",
    changes: [
      [
        "if (batch.length === 1) {",
        "if (batch.length > 1) for (const { reject } of batch) reject(error);\n    else {",
      ],
    ],
  },
  {
    name: "puts a pipelined batch behind those that wait",
    rule: "Writes are recorded in the order of their arrival.",
    file: "src/engine/lane.ts",
    changes: [["this.#waiting.unshift(...batch);", "this.#waiting.push(...batch);"]],
  },
  {
    name: "reads closes before it locks the head",
    rule: "What a decision depends on is read after the lock.",
    file: "src/engine/journal.ts",
    changes: [
      ["const [status, head, now, accounts,", "const [closed, status, head, now, accounts,"],
      ["keys, originals, postings, closed] =", "keys, originals, postings] ="],
      [
        "      lockLedgerStateShared(transaction, ledgerId),\n",
        "      closedPeriods.read(transaction, ledgerId),\n      lockLedgerStateShared(transaction, ledgerId),\n",
      ],
      [
        "      listWalletPostings(transaction, ledgerId, reversed),\n      closedPeriods.read(transaction, ledgerId),\n",
        "      listWalletPostings(transaction, ledgerId, reversed),\n",
      ],
    ],
  },
  {
    name: "decides on a balance that it read before",
    rule: "Nothing that a decision depends on is cached.",
    file: "src/engine/wallet-snapshot.ts",
    changes: [
      [
        "lockWallets(transaction, ledgerId, callerKeys),",
        "lockWallets(transaction, ledgerId, callerKeys).then((found) => found.map((wallet) => stale(wallet))),",
      ],
      [
        "function statesOf(",
        "const staleByWallet = new Map<string, Wallet>();\nfunction stale(wallet: Wallet): Wallet {\n  const before = staleByWallet.get(wallet.walletId);\n  staleByWallet.set(wallet.walletId, wallet);\n  return { ...wallet, balance: before?.balance ?? wallet.balance };\n}\n\nfunction statesOf(",
      ],
    ],
  },
  {
    name: "refuses a retry of what was recorded",
    rule: "A retry of something that was recorded is told so, whatever would refuse it today.",
    file: "src/engine/journal.ts",
    changes: [
      [
        "const refusedIds = looksUpKeys ? [] : refusedExternalIds(writes, decisions);",
        "const refusedIds: string[] = [];\n    void refusedExternalIds;",
      ],
    ],
  },
  {
    name: "follows the clock back",
    rule: "Time that decides is never earlier than that of the last entry.",
    file: "src/core/journal-batch.ts",
    changes: [
      [
        "const persistedAt = laterOf(snapshot.now, snapshot.lastPersistedAt ?? snapshot.now);",
        "const persistedAt = snapshot.now;\n  void laterOf;",
      ],
    ],
  },
  {
    name: "forgets that it called a hold expired",
    rule: "What was refused as expired is never active again.",
    file: "src/core/wallet-refusals.ts",
    changes: [["expiries: expired === undefined ? null : logged", "expiries: null"]],
  },
  {
    name: "posts without marking what it posted",
    rule: "What wallets accepted is posted exactly once.",
    file: "src/engine/posting.ts",
    changes: [["    markPosted(transaction, ledgerId, marks),\n", ""]],
  },
  {
    name: "closes what it read before the lock",
    rule: "A close covers everything up to the sequence that it names.",
    file: "src/engine/prepared-close.ts",
    changes: [["  await extend(transaction, ledgerId, current, upToSequence);\n", ""]],
  },
  {
    name: "takes another server's write for its own",
    rule: "A batch is known again by ids that were made for it.",
    file: "src/engine/wallets.ts",
    changes: [
      [
        "return marked === undefined ? writes : [marked];",
        "return marked === undefined ? writes : [];",
      ],
    ],
  },
  {
    name: "believes what the primary shows",
    rule: "What was only looked at is answered behind a COMMIT that wrote to the log.",
    file: "src/engine/batch-recovery.ts",
    changes: [["    await recording.writeBarrier(transaction);\n", ""]],
  },
  {
    name: "answers duplicates behind a ROLLBACK",
    rule: "A batch that records nothing is committed too.",
    file: "src/engine/batch-runner.ts",
    changes: [
      [
        "return transaction.commit(plan.recording?.send(transaction) ?? []);",
        "return plan.recording === null\n    ? transaction.rollBack()\n    : transaction.commit(plan.recording.send(transaction));",
      ],
    ],
  },
  {
    name: "takes a COMMIT with a warning for confirmed",
    rule: "A COMMIT whose wait for a standby was cancelled counts as unanswered.",
    file: "src/store/database/pipeline.ts",
    changes: [
      [
        "if (isCommitted && ended.isCommitWarned)",
        "if (isCommitted && ended.isCommitWarned && failures.length > 9)",
      ],
    ],
  },
  {
    name: "answers a batch of duplicates whose COMMIT was lost",
    rule: "A batch that recorded nothing, and whose COMMIT went unanswered, is decided again.",
    file: "src/engine/batch-recovery.ts",
    changes: [
      [
        "if (plan.recording === null) {",
        "if (plan.recording === null) {\n      await this.#runner.answer(batch, plan);\n      if (batch.length > 0) return true;",
      ],
    ],
  },
  {
    name: "tells of an earlier close behind a ROLLBACK",
    rule: "A close that was made before is read in a transaction that is committed.",
    file: "src/engine/closes.ts",
    changes: [
      [
        "        await commitInTime(connection, transaction);\n",
        "        if (stored === null) await commitInTime(connection, transaction);\n",
      ],
    ],
  },
  {
    name: "streams what no COMMIT has confirmed",
    rule: "What a poll has found of others' writes is sent after a commit of its own.",
    file: "src/engine/wallet-hub.ts",
    changes: [
      ["if (isAhead || posted.length > 0) await", "if (isAhead && feeds.length > 9) await"],
    ],
  },
  {
    name: "keeps closes over a failover",
    rule: "What is cached is compared with the database, which may have lost it.",
    file: "src/engine/closed-periods.ts",
    changes: [["if (lastNow?.closeId === last.closeId) {", 'if (lastNow?.closeId !== "") {']],
  },
  {
    name: "drops the side of a transfer that is paid",
    rule: "A transfer is in both wallets, or in neither.",
    file: "src/core/wallet-batch.ts",
    changes: [["    this.#state.apply(to, decision.to, rule);\n", ""]],
  },
  {
    name: "looks for a transfer's externalId in the wallet that is paid",
    rule: "An externalId is one of the wallet that pays.",
    file: "src/core/wallet-batch.ts",
    changes: [
      [
        "this.#state.findFirstUse(item.from, item.externalId)",
        "this.#state.findFirstUse(item.to, item.externalId)",
      ],
    ],
  },
  {
    name: "keeps what an atomic bulk did before it was refused",
    rule: "Of atomic transfers all are made or none.",
    file: "src/core/wallet-batch.ts",
    changes: [["        this.#state.takeBack();\n", "        this.#state.keep();\n"]],
  },
  {
    name: "locks wallets in the order in which they are named",
    rule: "Locks are taken in one order: rows sorted by key.",
    file: "src/engine/wallet-snapshot.ts",
    changes: [["callerKeys: [...callerKeys].sort(),", "callerKeys: [...callerKeys],"]],
  },
  {
    name: "lets a frozen wallet pay another",
    rule: "Nothing can be taken out of a frozen wallet.",
    file: "src/core/wallet-transfer.ts",
    changes: [["refuseFrozen(payer) ??", "(amount > 10n ? refuseFrozen(payer) : null) ??"]],
  },
  {
    name: "forgets the debits of the day that it has not kept",
    rule: "What was taken out of a wallet in a UTC day is summed from its log where no figure is kept.",
    file: "src/engine/wallet-snapshot.ts",
    changes: [["debited: amounts.get(wallet.walletId) ?? 0n", "debited: 0n"]],
  },
];
