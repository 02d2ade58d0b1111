// `account deactivate`: refuses new postings to an account.
import { setActive } from "./set-active.ts";

export const deactivateAccount = setActive(false);
