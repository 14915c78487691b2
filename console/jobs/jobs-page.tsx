/** Page with all CronDaemonJobs and DaemonJobs. Jobs that need an operator come first, then the newest. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import { useIsAllowed } from '../api/access-checks.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { ListState } from '../layout/list-state.js';
import { ListTable } from '../layout/list-table.js';
import { PageShell } from '../layout/shell/page-shell.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { imagesText } from '../layout/text/image-text.js';
import { useUrlFilter } from '../layout/use-url-query.js';
import { CronJobTable } from './cron-job-table.js';
import { JobBar } from './job-bar.js';
import { JobStart } from './job-fact.js';
import classes from './job-page.module.css';
import { jobStatus, jobsPath } from './job-text.js';

/** Rows of the first page, and how many more each click adds. */
const PAGE_SIZE = 100;
const COLUMNS = ['Name', 'State', 'Hosts', 'Image', 'Started', 'Namespace'] as const;

export function JobsPage() {
  const [query, setQuery] = useUrlFilter();
  const namespace = query.get('namespace') ?? '';
  const mayRun = useIsAllowed({
    ...{ verb: 'create', group: 'fleet.everynode.dev', resource: 'daemonjobs' },
    namespace: namespace || 'default',
  });
  return (
    <PageShell title="Jobs">
      <div className={classes.head}>
        <h1>Jobs</h1>
        {mayRun && (
          <Link href="/jobs/new" className={`${controls.button} ${classes.action}`} data-main>
            Run on hosts…
          </Link>
        )}
      </div>
      <div className={controls.row}>
        <input
          className={controls.input}
          type="search"
          aria-label="Filter by name or image"
          placeholder="Name or image"
          value={query.get('filter') ?? ''}
          data-shortcut="/"
          onChange={({ target }) => setQuery('filter', target.value)}
        />
        <input
          className={controls.input}
          type="search"
          aria-label="Namespace"
          placeholder="All namespaces"
          value={namespace}
          onChange={({ target }) => setQuery('namespace', target.value.trim())}
        />
        <label>
          <input
            type="checkbox"
            checked={query.has('failed')}
            onChange={({ target }) => setQuery('failed', target.checked ? '1' : '')}
          />{' '}
          Only with failed or missed hosts
        </label>
      </div>
      <CronJobTable namespace={namespace} filter={query.get('filter') ?? ''} />
      <JobTable
        key={namespace}
        namespace={namespace}
        filter={query.get('filter') ?? ''}
        onlyFailed={query.has('failed')}
      />
      <CopyCommand text={`kubectl get daemonjobs ${namespace === '' ? '-A' : `-n ${namespace}`}`} />
    </PageShell>
  );
}

interface JobTableProps {
  namespace: string;
  filter: string;
  onlyFailed: boolean;
}

function JobTable({ namespace, filter, onlyFailed }: JobTableProps) {
  const [rows, setRows] = useState(PAGE_SIZE);
  const { objects, phase, error } = useLiveList<DaemonJob>(jobsPath('daemonjobs', namespace));
  const found = objects
    .filter((job) => matches(job, filter) && (!onlyFailed || hasFailedHosts(job)))
    .sort(inOrder);
  return (
    <>
      <ListState {...{ phase, error }} what="DaemonJobs" isEmpty={objects.length === 0}>
        <p>No jobs yet. A job runs a command once on each host, also on hosts that are offline now.</p>
        <p>
          <Link href="/jobs/new">Run a command on hosts</Link>, or <code>kubectl apply -f</code> a DaemonJob.
        </p>
      </ListState>
      {objects.length > 0 && found.length === 0 && <p role="status">No jobs match.</p>}
      {found.length > 0 && (
        <ListTable label="DaemonJobs" columns={COLUMNS}>
          {found.slice(0, rows).map((job) => (
            <JobRow key={job.metadata.uid} job={job} />
          ))}
        </ListTable>
      )}
      {found.length > rows && (
        <p>
          {rows} of {found.length} jobs are shown.{' '}
          <button type="button" className={controls.button} onClick={() => setRows(rows + PAGE_SIZE)}>
            Show {PAGE_SIZE} more
          </button>
        </p>
      )}
    </>
  );
}

function JobRow({ job }: { job: DaemonJob }) {
  const { namespace = '', name } = job.metadata;
  return (
    <tr>
      <th scope="row">
        <Link href={`/jobs/${namespace}/${name}`}>{name}</Link>
      </th>
      <td>
        <StatusBadge status={jobStatus(job)} />
      </td>
      <td>
        <JobBar status={job.status} />
      </td>
      <td>{imagesText(job.spec.template.spec.containers)}</td>
      <td>
        <JobStart job={job} />
      </td>
      <td>{namespace}</td>
    </tr>
  );
}

function matches({ metadata, spec }: DaemonJob, filter: string): boolean {
  const text = filter.trim().toLowerCase();
  const images = spec.template.spec.containers.map(({ image }) => image ?? '');
  return [metadata.name, ...images].some((each) => each.toLowerCase().includes(text));
}

function hasFailedHosts({ status }: DaemonJob): boolean {
  return (status?.failed ?? 0) + (status?.missed ?? 0) > 0;
}

/** Running jobs come first, then the newest. */
function inOrder(a: DaemonJob, b: DaemonJob): number {
  const running =
    Number(b.status?.completionTime === undefined) - Number(a.status?.completionTime === undefined);
  const [first, second] = [a, b].map(({ metadata }) => metadata.creationTimestamp ?? '');
  return running || ((first ?? '') < (second ?? '') ? 1 : -1);
}
