// `account activate`: lets an account be posted to again.
import { setActive } from "./set-active.ts";

export const activateAccount = setActive(true);
