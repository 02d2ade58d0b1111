import { listNodes } from "./database.ts";

/** Whether the tests' server is a coordinator of Citus: what needs one PostgreSQL server is left out there. */
export const isCluster = (await listNodes()).length > 1;
