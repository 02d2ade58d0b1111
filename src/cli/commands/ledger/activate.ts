// `ledger activate`: lets a suspended ledger be written again.
import { changeStatus } from "./change-status.ts";

export const activateLedger = changeStatus("active");
