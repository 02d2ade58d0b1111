// A catalog and a function with the names that Citus gives them: Citus itself takes minutes to build.
import { runStatement } from "./database.ts";

/** A coordinator with two workers: 10.0.0.7:5432, which answers, and 10.0.0.8:5433, which is down. */
export async function standInForCitus(databaseUrl: string): Promise<void> {
  for (const statement of [
    `CREATE TABLE pg_dist_node (nodename text, nodeport int, isactive boolean, noderole text, groupid int)`,
    `CREATE FUNCTION citus_check_connection_to_node(name text, port int) RETURNS boolean
     LANGUAGE sql AS $$ SELECT name <> '10.0.0.8' $$`,
    `INSERT INTO pg_dist_node VALUES ('10.0.0.1', 5432, true, 'primary', 0),
       ('10.0.0.7', 5432, true, 'primary', 1), ('10.0.0.8', 5433, true, 'primary', 2)`,
  ]) {
    await runStatement(databaseUrl, statement);
  }
}
