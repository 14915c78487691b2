/** What the coordinator does by the clock on the wall. */
import { join } from 'node:path';
import { cronProblems } from '../shared/calendar/cron-pattern.js';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import type { Logger } from '../shared/process/output/logger.js';
import type { Clock } from '../shared/process/time/clock.js';
import { EventExpiry } from './controllers/events/event-expiry.js';
import { CronTimer } from './cron-timer.js';
import { expireJoinTokens } from './hub/identity/join-token-expiry.js';
import { expireSigningRequests } from './hub/identity/signing-request-expiry.js';
import type { Registry } from './registry/registry.js';
import { backupName, pruneBackups, takeBackup } from './store/backup/take-backup.js';
import { Compaction } from './store/log/compaction.js';
import type { Store } from './store/store.js';

/** When backups are taken, of what, where to, and how many stay. */
export interface BackupSettings {
  /** A cron pattern, or `off`. */
  schedule: string;
  dataDir: string;
  directory: string;
  keep: number;
}

export interface ScheduledJobsOptions {
  store: Store;
  registry: Registry;
  /** For how long the clock has not been set, ms. */
  sinceClockStepMs: () => number;
  /** Makes the API's certificate anew when that is due, and serves with it. */
  renewCertificate: () => Promise<void>;
  clock: Clock;
  log: Logger;
  /** Who reminds the log of a restore that waits for a person. */
  restore: { logReminder(): void };
  backups: BackupSettings;
}

/**
 * What has run out is refused at once, and deleted only when the clock has not been set for so long: one that is ahead for a moment
 * takes no token away that is good again when it is put right.
 */
const SETTLED_MS = 60 * 60_000;
const EVERY_HOUR = '0 * * * *';
const EVERY_FIVE_MINUTES = '*/5 * * * *';
const EVERY_NIGHT = '17 3 * * *';

interface Job {
  name: string;
  when: string;
  /** What to log of a run, if anything. */
  run(): Promise<Record<string, unknown> | undefined>;
}

/**
 * Starts compaction, the expiry of Events, of join tokens and of signing requests, the renewal of the certificate and backups. A job that fails is logged and runs again at its next time.
 * Throws ExitError for a pattern of backups that is none.
 */
export function startScheduledJobs(options: ScheduledJobsOptions): { stop(): void } {
  const { clock, log } = options;
  const timers = jobsOf(options).map((job) => new CronTimer(job.when, clock, () => runLogged(job, log)));
  return {
    stop: () => {
      for (const timer of timers) timer.stop();
    },
  };
}

function jobsOf(options: ScheduledJobsOptions): Job[] {
  const {
    store,
    registry,
    renewCertificate,
    clock,
    log,
    restore,
    backups,
    sinceClockStepMs: settledMs,
  } = options;
  const compaction = new Compaction(store);
  const eventExpiry = new EventExpiry(registry, clock);
  return [
    {
      name: 'compaction',
      when: EVERY_FIVE_MINUTES,
      run: async () => {
        const revision = await compaction.run();
        return revision === undefined ? undefined : { revision };
      },
    },
    {
      name: 'event-expiry',
      when: EVERY_FIVE_MINUTES,
      run: async () => {
        const events = await eventExpiry.run();
        return events === 0 ? undefined : { events };
      },
    },
    {
      name: 'token-expiry',
      when: EVERY_HOUR,
      run: async () => {
        if (settledMs() < SETTLED_MS) return undefined;
        const tokens = await expireJoinTokens(registry, clock);
        return tokens === 0 ? undefined : { tokens };
      },
    },
    {
      name: 'request-expiry',
      when: EVERY_HOUR,
      run: async () => {
        if (settledMs() < SETTLED_MS) return undefined;
        const requests = await expireSigningRequests(registry, clock);
        return requests === 0 ? undefined : { requests };
      },
    },
    { name: 'certificate-renewal', when: EVERY_NIGHT, run: () => renewCertificate().then(() => undefined) },
    {
      name: 'restore-reminder',
      when: EVERY_HOUR,
      run: async () => {
        restore.logReminder();
        return undefined;
      },
    },
    ...backupJobs(backups, clock, log),
  ];
}

/** No job when backups are off. */
function backupJobs(options: BackupSettings, clock: Clock, log: Logger): Job[] {
  if (options.schedule === 'off') return [];
  if (cronProblems(options.schedule).length > 0) {
    throw new ExitError(
      EXIT_CODES.usage,
      `--backup-schedule: must be a cron pattern or off, not "${options.schedule}".`,
    );
  }
  return [{ name: 'backup', when: options.schedule, run: () => runScheduledBackup(options, clock, log) }];
}

/** One scheduled backup; those beyond the number kept go only when it is whole. */
export async function runScheduledBackup(
  options: BackupSettings,
  clock: Clock,
  log: Logger,
): Promise<undefined> {
  const takenAt = clock.now();
  const name = backupName('scheduled', takenAt);
  const path = join(options.directory, name);
  const { revision } = await takeBackup(options.dataDir, path, takenAt);
  const removed = await pruneBackups(options.directory, options.keep, name);
  log.info({ path, revision, removed: removed.length }, 'backup taken');
}

async function runLogged({ name, run }: Job, log: Logger): Promise<void> {
  try {
    const done = await run();
    if (done) log.debug({ job: name, ...done }, 'scheduled job ran');
  } catch (error) {
    log.error({ job: name, err: error }, 'scheduled job failed');
  }
}
