// Applying and listing migrations.
import type { Environment } from "../../../config.ts";
import { listMigrations, migrate } from "../../../store/migrate.ts";
import { whenReachable } from "../../../server/database.ts";
import { usingDatabase } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";

export interface MigrateFlags extends DatabaseFlags {
  status?: boolean;
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
    output.result({ applied }, () =>
      applied.length === 0 ? "nothing to apply" : `applied ${applied.join(", ")}`,
    );
  });
}
