// `ledger suspend`: lets a ledger only be read.
import { changeStatus } from "./change-status.ts";

export const suspendLedger = changeStatus("suspended");
