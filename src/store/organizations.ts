// Organizations: who owns ledgers and keys.
import * as z from "zod";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { command, sql } from "./database/statement.ts";

const organizationRow = z.object({
  organizationId: z.string(),
  name: z.string(),
  createdAt: timestampColumn,
});

export type Organization = z.infer<typeof organizationRow>;

export async function insertOrganization(
  connection: Connection,
  { organizationId, name, createdAt }: Organization,
): Promise<void> {
  await connection.run(command`
    INSERT INTO organizations (organization_id, name, created_at)
    VALUES (${organizationId}, ${name}, ${createdAt})`);
}

/** By creation. */
export async function listOrganizations(connection: Connection): Promise<readonly Organization[]> {
  return connection.any(sql.type(organizationRow)`
    SELECT organization_id AS "organizationId", name, created_at AS "createdAt"
      FROM organizations ORDER BY created_at, organization_id`);
}

/** Keeps others from making organizations until the transaction ends. */
export async function lockOrganizations(connection: Connection): Promise<void> {
  await connection.run(command`LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE`);
}

/** null: there is no such organization. */
export async function findOrganization(
  connection: Connection,
  organizationId: string,
): Promise<Organization | null> {
  return connection.maybeOne(sql.type(organizationRow)`
    SELECT organization_id AS "organizationId", name, created_at AS "createdAt"
      FROM organizations WHERE organization_id = ${organizationId}`);
}
