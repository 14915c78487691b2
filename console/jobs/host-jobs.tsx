/** What one host did for DaemonJobs, newest first. Shows nothing if there are none. */
import { Link } from 'wouter';
import type { JobsOfHost } from '../../shared/kube/fleet/daemonjob-host-types.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { LabelledTable, TableCard } from '../layout/list-table.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { RichText } from '../texts/rich-text.js';
import { t } from '../texts/translate.js';
import classes from './job-page.module.css';
import { betweenText, FLEET_API, jobHostStatus } from './job-text.js';

const COLUMNS = ['Job', 'Result', 'Exit code', 'Duration', 'Ended', 'Namespace'] as const;

/** The results are loaded again when `version` changes. */
export function HostJobs({ node, version }: { node: string; version: string }) {
  const { answer, problem } = useApiResource<JobsOfHost>(`${FLEET_API}/hosts/${node}/jobs`, version);
  if (!answer && problem)
    return (
      <p role="alert">
        {t('The jobs of {{node}} could not be loaded:', { node })} {problem}
      </p>
    );
  if (!answer || answer.jobs.length === 0) return null;
  return (
    <TableCard label="Jobs of the host">
      <h2>{t('Jobs')}</h2>
      <LabelledTable columns={COLUMNS}>
        {answer.jobs.map(({ namespace, name, state, exitCode, reason, startTime, completionTime }) => (
          <tr key={`${namespace}/${name}`}>
            <th scope="row">
              <Link href={`/jobs/${namespace}/${name}`}>{name}</Link>
            </th>
            <td>
              <StatusBadge status={jobHostStatus(state)}>{reason && `: ${reason}`}</StatusBadge>
            </td>
            <td>{exitCode}</td>
            <td className={classes.nowrap}>{betweenText(startTime, completionTime)}</td>
            <td>{completionTime && <RelativeTime at={completionTime} />}</td>
            <td>{namespace}</td>
          </tr>
        ))}
      </LabelledTable>
      {answer.more > 0 && (
        <p className={controls.dim}>
          <RichText
            text="and {{more}} older jobs: <to>all jobs</to>"
            values={{ more: answer.more }}
            parts={{ to: <Link href="/jobs" /> }}
          />
        </p>
      )}
    </TableCard>
  );
}
