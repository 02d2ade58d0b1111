// Which requests a benchmark sends: one function a kind, from the plan and a running number to the
// request's method, target and body.

export const makers = {
  entries: (plan, number, run) => ({
    method: "POST",
    target: `/v1/ledgers/${plan.ledgerId}/journal-entries`,
    body: JSON.stringify({
      externalId: `bench-${run}-${number}`,
      eventType: "bench",
      description: "an entry of two lines",
      lines: [
        { glAccountCode: plan.accounts[number % plan.accounts.length], functionalAmount: "125" },
        {
          glAccountCode: plan.accounts[(number * 7 + 1) % plan.accounts.length],
          functionalAmount: "-125",
        },
      ],
    }),
  }),
  wallets: (plan, number, run) => ({
    method: "POST",
    target: `/v1/wallets/${plan.ledgerId}:user-${Math.floor(Math.random() * plan.wallets)}/credit`,
    body: JSON.stringify({
      amount: "100",
      assetCode: "USD",
      externalId: `bench-${run}-${number}`,
    }),
  }),
  balances: (plan) => ({
    method: "GET",
    target: `/v1/wallets/${plan.ledgerId}:user-${Math.floor(Math.random() * plan.wallets)}/balance`,
    body: "",
  }),
  bulk: (plan, number, run) => ({
    method: "POST",
    target: `/v1/ledgers/${plan.ledgerId}/wallet-writes`,
    body: JSON.stringify({
      writes: Array.from({ length: 500 }, (_, index) => ({
        callerKey: `user-${Math.floor(Math.random() * plan.wallets)}`,
        type: "credit",
        amount: "100",
        assetCode: "USD",
        externalId: `bulk-${run}-${number}-${index}`,
      })),
    }),
  }),
  /** Every wallet once, in order. */
  fill: (plan, number, run) => ({
    method: "POST",
    target: `/v1/ledgers/${plan.ledgerId}/wallet-writes`,
    body: JSON.stringify({
      writes: Array.from({ length: 500 }, (_, index) => ({
        callerKey: `user-${(number - 1) * 500 + index}`,
        type: "credit",
        amount: "100",
        assetCode: "USD",
        externalId: `fill-${run}-${number}-${index}`,
      })),
    }),
  }),
};
