/** What runs by the clock on the wall: the only importer of node-cron. */
import { schedule } from 'node-cron';
import type { Clock } from '../shared/process/clock.js';
import type { Logger } from '../shared/process/log.js';
import { expireEvents } from './controllers/event-expiry.js';
import type { Registry } from './registry/registry.js';
import { Compaction } from './store/compaction.js';
import type { Store } from './store/store.js';

export interface SchedulesOptions {
  store: Store;
  registry: Registry;
  /** Makes the API's certificate anew when that is due, and serves with it. */
  renewCertificate: () => Promise<void>;
  clock: Clock;
  log: Logger;
}

const EVERY_FIVE_MINUTES = '*/5 * * * *';
const EVERY_MINUTE = '* * * * *';
const EVERY_NIGHT = '17 3 * * *';

interface Job {
  name: string;
  when: string;
  /** What to log of a run, if anything. */
  run(): Promise<Record<string, unknown> | undefined>;
}

/** Starts compaction, the expiry of Events and the renewal of the certificate. A job that fails is logged and runs again at its next time. */
export function startSchedules(options: SchedulesOptions): { stop(): Promise<void> } {
  const { store, registry, renewCertificate, clock, log } = options;
  const compaction = new Compaction(store);
  const jobs: Job[] = [
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
      when: EVERY_MINUTE,
      run: async () => {
        const events = await expireEvents(registry, clock);
        return events === 0 ? undefined : { events };
      },
    },
    { name: 'certificate-renewal', when: EVERY_NIGHT, run: () => renewCertificate().then(() => undefined) },
  ];
  const tasks = jobs.map((job) =>
    schedule(job.when, () => runLogged(job, log), {
      name: job.name,
      noOverlap: true,
      unref: true,
      suppressMissedWarning: true,
    }),
  );
  return {
    stop: async () => {
      await Promise.all(tasks.map((task) => task.destroy()));
    },
  };
}

async function runLogged({ name, run }: Job, log: Logger): Promise<void> {
  try {
    const done = await run();
    if (done) log.debug({ job: name, ...done }, 'scheduled job ran');
  } catch (error) {
    log.error({ job: name, err: error }, 'scheduled job failed');
  }
}
