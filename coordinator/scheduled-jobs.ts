/** Scheduled jobs of the coordinator. */
import { join } from 'node:path';
import { cronProblems } from '../shared/calendar/cron-pattern.js';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import type { Logger } from '../shared/process/output/logger.js';
import type { Clock } from '../shared/process/time/clock.js';
import { CronTimer } from './cron-timer.js';
import { expireJoinTokens } from './hub/identity/join-token-expiry.js';
import { expireSigningRequests } from './hub/identity/signing-request-expiry.js';
import type { EventStore } from './registry/events/event-store.js';
import type { Registry } from './registry/registry.js';
import { backupName, pruneBackups, takeBackup } from './store/backup/take-backup.js';
import { Compaction } from './store/log/history-retention.js';
import type { Store } from './store/store.js';

export interface BackupSettings {
  /** A cron pattern, or `off`. */
  schedule: string;
  dataDir: string;
  directory: string;
  keep: number;
}

export interface ScheduledJobsOptions {
  store: Store;
  eventStore: Pick<EventStore, 'expire'>;
  registry: Registry;
  /** Time since the last clock step, ms. */
  sinceClockStepMs: () => number;
  renewCertificate: () => Promise<void>;
  clock: Clock;
  log: Logger;
  /** Logs a reminder of an unconfirmed restore. */
  restore: { logReminder(): void };
  backups: BackupSettings;
}

/**
 * Expired tokens and requests are rejected at once, but deleted only if the clock has had no step for this time.
 * Otherwise a clock that is ahead for a moment would delete tokens that are still valid.
 */
const SETTLED_MS = 60 * 60_000;
const EVERY_HOUR = '0 * * * *';
const EVERY_FIVE_MINUTES = '*/5 * * * *';
const EVERY_NIGHT = '17 3 * * *';

interface Job {
  name: string;
  when: string;
  /** Returns the fields to log, if any. */
  run(): Promise<Record<string, unknown> | undefined>;
}

/**
 * Starts compaction, the expiry of Events, join tokens and signing requests, certificate renewal and backups. A failed
 * job is logged and runs again at its next time. Throws ExitError for an invalid backup schedule.
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
    eventStore,
    registry,
    renewCertificate,
    clock,
    log,
    restore,
    backups,
    sinceClockStepMs: settledMs,
  } = options;
  const compaction = new Compaction(store);
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
        const events = await eventStore.expire();
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

/** Takes a backup. Older backups above the limit are deleted only after it is complete. */
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
