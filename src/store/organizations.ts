// Organizations: who owns ledgers and keys.
import { sql } from "slonik";
import { z } from "zod";
import type { Timestamp } from "../core/time.ts";
import type { ReadConnection } from "./read-pool.ts";
import { timestampColumn } from "./columns.ts";

const organizationRow = z.object({
  organizationId: z.string(),
  name: z.string(),
  createdAt: timestampColumn,
});

export type Organization = z.infer<typeof organizationRow>;

export async function insertOrganization(
  pool: ReadConnection,
  organization: { organizationId: string; name: string; createdAt: Timestamp },
): Promise<void> {
  const { organizationId, name, createdAt } = organization;
  await pool.query(sql.unsafe`
    INSERT INTO organizations (organization_id, name, created_at)
    VALUES (${organizationId}, ${name}, ${createdAt})`);
}

/** By creation. */
export async function listOrganizations(pool: ReadConnection): Promise<readonly Organization[]> {
  return pool.any(sql.type(organizationRow)`
    SELECT organization_id AS "organizationId", name, created_at AS "createdAt"
      FROM organizations ORDER BY created_at, organization_id`);
}

/** Keeps others from making organizations until the transaction ends. */
export async function lockOrganizations(transaction: ReadConnection): Promise<void> {
  await transaction.query(sql.unsafe`LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE`);
}

/** null: there is no such organization. */
export async function findOrganization(
  pool: ReadConnection,
  organizationId: string,
): Promise<Organization | null> {
  return pool.maybeOne(sql.type(organizationRow)`
    SELECT organization_id AS "organizationId", name, created_at AS "createdAt"
      FROM organizations WHERE organization_id = ${organizationId}`);
}
