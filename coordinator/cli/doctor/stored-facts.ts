/** Finds out about the stored data: the etcd that holds its log, and the backups. */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { nextMatch } from '../../../shared/calendar/cron-matches.js';
import { cronProblems, parseCron } from '../../../shared/calendar/cron-pattern.js';
import { timeZone } from '../../../shared/calendar/time-zone.js';
import { ExitError } from '../../../shared/process/exit-error.js';
import type { CoordinatorSettings } from '../../coordinator-settings.js';
import type { BackupFact, EtcdFact } from '../../decisions/doctor/coordinator-facts.js';
import { BACKUPS_DIRECTORY } from '../../store/backup/take-backup.js';
import { DATABASE_FILE } from '../../store/data-files.js';
import { withClusterErrors } from '../machine/cluster-errors.js';

/** Makes the checks that a coordinator makes at its start, then measures each member. */
export async function etcdFact({ etcd, ...files }: CoordinatorSettings): Promise<EtcdFact> {
  if (etcd === undefined) return { state: 'none' };
  try {
    return await withClusterErrors(async () => {
      // Imported here, because gRPC would slow down the start of all other commands.
      const { readEtcdSettings } = await import('../../store/replica/etcd/checks/etcd-addresses.js');
      const { checkEtcd } = await import('../../store/replica/etcd/checks/etcd-checks.js');
      const { measureEtcd } = await import('../../store/replica/etcd/checks/etcd-measure.js');
      const access = readEtcdSettings({ etcd, ...files });
      const { warnings } = await checkEtcd(access);
      return { state: 'answers' as const, warnings, members: await measureEtcd(access) };
    });
  } catch (error) {
    if (error instanceof ExitError) return { state: 'refused', reason: error.sentence };
    throw error;
  }
}

/** Returns the time of the last write to the database; undefined before the first start. */
export async function lastWriteOf(dataDir: string): Promise<number | undefined> {
  const files = [DATABASE_FILE, `${DATABASE_FILE}-wal`].map((name) => join(dataDir, name));
  return newestOf(files);
}

export async function backupFact({
  data,
  backupDir,
  backupSchedule,
}: CoordinatorSettings): Promise<BackupFact> {
  if (!existsSync(join(data, DATABASE_FILE))) return { state: 'noData' };
  const directory = backupDir ?? join(data, BACKUPS_DIRECTORY);
  const names = await readdir(directory).catch(() => []);
  const newestAt = await newestOf(
    names.filter((name) => name.endsWith('.tar.gz')).map((name) => join(directory, name)),
  );
  if (backupSchedule === 'off' || cronProblems(backupSchedule).length > 0) return { state: 'off', newestAt };
  const missedAt = newestAt === undefined ? undefined : secondAfter(backupSchedule, newestAt);
  return { state: 'scheduled', directory, newestAt, missedAt };
}

/** Returns the second time after `from` at which the pattern matches, in this machine's time zone. */
function secondAfter(pattern: string, from: number): number | undefined {
  const parsed = parseCron(pattern);
  const zone = timeZone(Intl.DateTimeFormat().resolvedOptions().timeZone) ?? timeZone('UTC');
  const first = zone && nextMatch(parsed, zone, from);
  return first === undefined ? undefined : nextMatch(parsed, zone as NonNullable<typeof zone>, first);
}

async function newestOf(files: readonly string[]): Promise<number | undefined> {
  const times = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ mtimeMs }) => mtimeMs,
        () => undefined,
      ),
    ),
  );
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}
