/**
 * A process that writes to a store without end and prints each acknowledged revision, until it is killed. Argument: the
 * data directory.
 */
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';

const store = await openSqliteStore({
  dataDir: process.argv[2] ?? '',
  clock: systemClock,
  log: silentLogger,
});
for (let round = 0; ; round++) {
  const keys = [0, 1, 2, 3, 4].map((index) => `/${round}/${index}`);
  await Promise.all(
    keys.map(async (key) => {
      const revision = await store.create(key, Buffer.from(`"${key}"`));
      process.stdout.write(`${key} ${revision}\n`);
    }),
  );
}
