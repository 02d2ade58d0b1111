// Applying and listing migrations, and spreading tables over a cluster.
import type { Environment } from "../../../config.ts";
import { distribute } from "../../../store/distribution.ts";
import { listMigrations, migrate } from "../../../store/migrate.ts";
import { whenReachable } from "../../../server/database.ts";
import { usingDatabase } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";

export interface MigrateFlags extends DatabaseFlags {
  status?: boolean;
  distribute?: boolean;
}

export async function migrateCommand(flags: MigrateFlags, environment: Environment): Promise<void> {
  const output = new Output(flags, environment.isColorRefused);
  await usingDatabase(flags, environment, flags.status !== true, async (database) => {
    if (flags.status === true) {
      const migrations = await whenReachable(() => listMigrations(database.url));
      output.list(migrations, [
        { title: "MIGRATION", value: ({ name }) => name },
        { title: "APPLIED", value: ({ applied }) => (applied ? "yes" : "no") },
      ]);
      return;
    }
    const applied = await whenReachable(() => migrate(database.url));
    const applying = applied.length === 0 ? "nothing to apply" : `applied ${applied.join(", ")}`;
    if (flags.distribute !== true) {
      output.result({ applied }, () => applying);
      return;
    }
    const distributed = await whenReachable(() => distribute(database.url));
    const spreading =
      distributed.length === 0 ? "nothing to distribute" : `distributed ${distributed.join(", ")}`;
    output.result({ applied, distributed }, () => `${applying}\n${spreading}`);
  });
}
