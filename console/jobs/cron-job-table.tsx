/** The CronDaemonJobs with their schedule and next run. Shows nothing if there are none. */
import { Link } from 'wouter';
import type { CronDaemonJob } from '../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import { useScopedList } from '../api/namespace-choice.js';
import { ListTable } from '../layout/list-table.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { imagesText } from '../layout/text/image-text.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { t } from '../texts/translate.js';
import { CRON_JOBS, cronStatus, FLEET_API } from './job-text.js';

const COLUMNS = ['Scheduled job', 'State', 'Schedule', 'Next run', 'Last run', 'Image', 'Namespace'] as const;

interface CronJobTableProps {
  /** Limits the list to one namespace. Empty: all that the user may read. */
  asked: string;
  filter: string;
}

export function CronJobTable({ asked, filter }: CronJobTableProps) {
  const { objects, phase, error } = useScopedList<CronDaemonJob>(FLEET_API, CRON_JOBS, asked);
  const text = filter.trim().toLowerCase();
  const found = objects.filter(({ metadata }) => metadata.name.toLowerCase().includes(text));
  if (phase === 'refused')
    return <p role="alert">{error?.message ?? 'You are not allowed to list CronDaemonJobs.'}</p>;
  if (found.length === 0) return null;
  return (
    <ListTable label="CronDaemonJobs" columns={COLUMNS}>
      {found.map((cron) => (
        <CronJobRow key={cron.metadata.uid} cron={cron} />
      ))}
    </ListTable>
  );
}

function CronJobRow({ cron }: { cron: CronDaemonJob }) {
  const { metadata, spec, status } = cron;
  const { namespace = '', name } = metadata;
  return (
    <tr>
      <th scope="row">
        <Link href={`/jobs/scheduled/${namespace}/${name}`}>{name}</Link>
      </th>
      <td>
        <StatusBadge status={cronStatus(cron)} />
      </td>
      <td>
        <code>{spec.schedule}</code> {spec.timeZone ?? t('in the time zone of each host')}
      </td>
      <td>{nextRunOf(cron)}</td>
      <td>{status?.lastScheduleTime ? <RelativeTime at={status.lastScheduleTime} /> : 'never'}</td>
      <td>{imagesText(spec.jobTemplate.spec.template.spec.containers)}</td>
      <td>{namespace}</td>
    </tr>
  );
}

/** A suspended job has no next run, whatever its status still says. */
export function nextRunOf({ spec, status }: CronDaemonJob) {
  if (spec.suspend) return t('none while suspended');
  return status?.nextScheduleTime ? <RelativeTime at={status.nextScheduleTime} /> : t('not known yet');
}
