// Ledgers and organizations of the database, by id or by a name that only one has.
import { parseUuid } from "../../core/text.ts";
import type { Connection } from "../../store/database/connection.ts";
import { findLedger, listLedgers } from "../../store/ledgers.ts";
import { listOrganizations } from "../../store/organizations.ts";
import { notFoundFailure } from "../failure.ts";
import { idOfName } from "../input/id-of-name.ts";

/** The id of a ledger that is there. Throws a failure where there is none, or several have the name. */
export async function findStoredLedger(
  connection: Connection,
  place: string,
  ledger: string,
): Promise<string> {
  const id = parseUuid(ledger);
  const none = `there is no ledger ${id ?? JSON.stringify(ledger)} in the database`;
  if (id === null) {
    const ledgers = await listLedgers(connection, null);
    const named = ledgers.map(({ ledgerId, name }) => ({ id: ledgerId, name }));
    return idOfName(ledger, named, { place, kind: "ledgers", none });
  }
  if ((await findLedger(connection, id)) === null) throw notFoundFailure(none);
  return id;
}

/** The id of an organization; one that is given as an id may not be there. */
export async function findStoredOrganization(
  connection: Connection,
  place: string,
  organization: string,
): Promise<string> {
  const id = parseUuid(organization);
  if (id !== null) return id;
  const organizations = await listOrganizations(connection);
  const named = organizations.map(({ organizationId, name }) => ({ id: organizationId, name }));
  const none = `there is no organization ${JSON.stringify(organization)}`;
  return idOfName(organization, named, { place, kind: "organizations", none });
}
