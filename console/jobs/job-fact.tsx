/** Facts of a job: a name with its value, and when the job starts. */
import type { ReactNode } from 'react';
import { parseDateInput } from '../../shared/calendar/date-text.js';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import controls from '../layout/controls.module.css';
import { RelativeTime } from '../layout/time/relative-time.js';
import { scheduledStart } from './job-text.js';

export function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div>
      <dt className={controls.dim}>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** When the job has started, or when it will. */
export function JobStart({ job }: { job: DaemonJob }) {
  const { startTime } = job.status ?? {};
  if (startTime) return <RelativeTime at={startTime} />;
  const startAt = scheduledStart(job);
  if (startAt === undefined) return <>not yet</>;
  const input = parseDateInput(startAt);
  return (
    <>
      not yet, starts{' '}
      {input && 'instant' in input ? (
        <RelativeTime at={startAt} />
      ) : (
        `at ${startAt.replace('T', ' ')} by the clock of each host`
      )}
    </>
  );
}
