/** Hosts of a job with exit code, duration and last output, one page at a time. */
import { Link, useSearchParams } from 'wouter';
import {
  type DaemonJobHosts,
  JOB_HOST_STATES,
  type JobHost,
} from '../../shared/kube/fleet/daemonjob-host-types.js';
import type { ApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { t, translated } from '../texts/translate.js';
import classes from './job-page.module.css';
import { betweenText, jobHostStatus } from './job-text.js';

const PAGE_SIZE = 50;
const COLUMNS = ['Host', 'Result', 'Exit code', 'Duration', 'Ended', 'Attempts', 'Output'] as const;

/** State and page of the table. The URL contains them. */
export function useHostFilter() {
  const [query, setParameters] = useSearchParams();
  const state = JOB_HOST_STATES.find((each) => each === query.get('state'));
  const after = query.get('after') ?? '';
  const search = `limit=${PAGE_SIZE}${state ? `&state=${state}` : ''}${after && `&continue=${encodeURIComponent(after)}`}`;
  /** Another state begins with its first page. */
  const select = (next: { state?: string | undefined; after?: string | undefined }) =>
    setParameters((before) => {
      const parameters = new URLSearchParams(before);
      for (const [name, value] of Object.entries({ state: next.state, after: next.after })) {
        if (value) parameters.set(name, value);
        else parameters.delete(name);
      }
      return parameters;
    });
  return { state, after, search, select };
}

interface JobHostTableProps {
  namespace: string;
  filter: ReturnType<typeof useHostFilter>;
  hosts: ApiResource<DaemonJobHosts>;
}

export function JobHostTable({ namespace, filter, hosts: { answer, problem } }: JobHostTableProps) {
  const { state, after, select } = filter;
  return (
    <section className={classes.part} aria-label={t('Results')}>
      <div className={controls.row}>
        <h2>{t('Results')}</h2>
        <label>
          {t('Show')}{' '}
          <select
            className={controls.input}
            value={state ?? ''}
            onChange={({ target }) => select({ state: target.value })}
          >
            <option value="">{t('all hosts')}</option>
            {JOB_HOST_STATES.map((each) => (
              <option key={each} value={each}>
                {translated(jobHostStatus(each).word)} ({countOf(answer, each)})
              </option>
            ))}
          </select>
        </label>
      </div>
      {problem && (
        <p role="alert">
          {t('The hosts could not be loaded:')} {problem}
        </p>
      )}
      {!answer && !problem && <p role="status">{t('Loading hosts…')}</p>}
      {answer?.hosts.length === 0 && (
        <p role="status">{state ? t('No host has this state now.') : t('The job selects no host.')}</p>
      )}
      {answer && answer.hosts.length > 0 && (
        <ListTable label="Hosts of the job" columns={COLUMNS}>
          {answer.hosts.map((host) => (
            <HostRow key={host.node} namespace={namespace} host={host} />
          ))}
        </ListTable>
      )}
      {answer && (after !== '' || answer.continue) && (
        <div className={controls.row}>
          {after !== '' && (
            <button type="button" className={controls.button} onClick={() => select({ state })}>
              {t('First page')}
            </button>
          )}
          {answer.continue && (
            <button
              type="button"
              className={controls.button}
              onClick={() => select({ state, after: answer.continue })}
            >
              {t('Next {{count}} hosts', { count: PAGE_SIZE })}
            </button>
          )}
          <span className={controls.dim}>{t('{{total}} hosts', { total: answer.total })}</span>
        </div>
      )}
    </section>
  );
}

function countOf(answer: DaemonJobHosts | undefined, state: string): number {
  return answer?.states.find((each) => each.state === state)?.count ?? 0;
}

function HostRow({ namespace, host }: { namespace: string; host: JobHost }) {
  const { node, state, pod, exitCode, attempts, reason, message, startTime, completionTime } = host;
  return (
    <tr>
      <th scope="row">
        <Link href={`/hosts/${node}`}>{node}</Link>
      </th>
      <td>
        <StatusBadge status={jobHostStatus(state)} />
      </td>
      <td>{exitCode}</td>
      <td className={classes.nowrap}>{betweenText(startTime, completionTime)}</td>
      <td>{completionTime && <RelativeTime at={completionTime} />}</td>
      <td>{attempts}</td>
      <td data-long>
        {reason && <strong>{reason} </strong>}
        {pod && (
          <Link className={classes.pod} href={`/pods/${namespace}/${pod}`}>
            {t('Pod and log')}
          </Link>
        )}
        {message && <pre className={classes.output}>{message.trimEnd()}</pre>}
      </td>
    </tr>
  );
}
