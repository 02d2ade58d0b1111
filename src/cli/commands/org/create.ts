// `org create`.
import type { Environment } from "../../../config.ts";
import { createOrganization } from "../../../engine/administration.ts";
import { requireLabel } from "../../input/arguments.ts";
import { withDatabase, type AdminContext } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../definition/options.ts";

export async function createOrg(
  name: string,
  flags: DatabaseFlags,
  environment: Environment,
): Promise<void> {
  requireLabel("NAME", name);
  const create = async ({ output, pool, now }: AdminContext) => {
    const { organizationId } = await createOrganization(pool, name, now());
    output.created({ id: organizationId, name }, ({ id }) => id);
  };
  await withDatabase(flags, environment, create, true);
}
