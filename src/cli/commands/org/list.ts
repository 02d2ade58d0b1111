// `org list`.
import type { Environment } from "../../../config.ts";
import { listOrganizations } from "../../../store/organizations.ts";
import { withDatabase } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../definition/options.ts";

export async function listOrgs(flags: DatabaseFlags, environment: Environment): Promise<void> {
  await withDatabase(flags, environment, async ({ output, pool }) => {
    const organizations = await listOrganizations(pool);
    output.list(
      organizations.map(({ organizationId, name }) => ({ id: organizationId, name })),
      [
        { title: "ID", value: ({ id }) => id },
        { title: "NAME", cutTo: 12, value: ({ name }) => name },
      ],
      ({ id }) => id,
      ["id", "name"],
    );
  });
}
