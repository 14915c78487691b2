/** Facts of a job: a name with its value, and when the job starts. */
import type { ReactNode } from 'react';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import controls from '../layout/controls.module.css';
import { RelativeTime } from '../layout/time/relative-time.js';
import { RichText } from '../texts/rich-text.js';
import { t, translated } from '../texts/translate.js';
import { scheduledStart } from './job-text.js';

export function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div>
      <dt className={controls.dim}>{translated(term)}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Without an offset, a start time is the local time of each host. */
const HAS_OFFSET = /(Z|[+-]\d\d:\d\d)$/;

/** When the job has started, or when it will. */
export function JobStart({ job }: { job: DaemonJob }) {
  const { startTime } = job.status ?? {};
  if (startTime) return <RelativeTime at={startTime} />;
  const startAt = scheduledStart(job);
  if (startAt === undefined) return <>{t('not yet')}</>;
  if (HAS_OFFSET.test(startAt))
    return <RichText text="not yet, starts <time/>" parts={{ time: <RelativeTime at={startAt} /> }} />;
  return (
    <>{t('not yet, starts at {{time}} by the clock of each host', { time: startAt.replace('T', ' ') })}</>
  );
}
