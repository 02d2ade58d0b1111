// Making and listing organizations.
import type { Environment } from "../../../config.ts";
import { createOrganization } from "../../../engine/administration.ts";
import { listOrganizations, type Organization } from "../../../store/organizations.ts";
import { requireLabel } from "../../input/arguments.ts";
import { withDatabase, type AdminContext } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../options.ts";

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

export async function listOrgs(flags: DatabaseFlags, environment: Environment): Promise<void> {
  await withDatabase(flags, environment, async ({ output, pool }) => {
    const organizations = await listOrganizations(pool);
    output.list(
      organizations.map(document),
      [
        { title: "ID", value: ({ id }) => id },
        { title: "NAME", value: ({ name }) => name },
      ],
      ({ id }) => id,
    );
  });
}

function document({ organizationId, name }: Organization): { id: string; name: string } {
  return { id: organizationId, name };
}
