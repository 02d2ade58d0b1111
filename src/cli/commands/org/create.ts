// `org create`.
import type { Environment } from "../../../config.ts";
import { createOrganization } from "../../../engine/administration.ts";
import { requireLabel } from "../../input/arguments.ts";
import { withDatabase, type AdminContext } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { document } from "./org-document.ts";

export async function createOrg(
  name: string,
  flags: DatabaseFlags,
  environment: Environment,
): Promise<void> {
  requireLabel("NAME", name);
  const create = async ({ output, pool, now }: AdminContext) => {
    const organization = await createOrganization(pool, name, now());
    output.created(document(organization), ({ id }) => id);
  };
  await withDatabase(flags, environment, create, true);
}
