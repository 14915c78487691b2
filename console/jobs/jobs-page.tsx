/** Page with all CronDaemonJobs and DaemonJobs. Jobs that need an operator come first, then the newest. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import { useIsAllowed } from '../api/access-checks.js';
import { type ScopedList, useScopedList } from '../api/namespace-choice.js';
import controls from '../layout/controls.module.css';
import { ListState } from '../layout/list-state.js';
import { ListTable } from '../layout/list-table.js';
import { NamespaceProblem, useNamespaceFilter } from '../layout/namespace-filter.js';
import { NotAllowed } from '../layout/not-allowed.js';
import { Page } from '../layout/shell/page.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { imagesText } from '../layout/text/image-text.js';
import { namespaceFlag } from '../layout/text/shell-words.js';
import { useUrlFilter } from '../layout/use-url-query.js';
import { RichText } from '../texts/rich-text.js';
import { t } from '../texts/translate.js';
import { CronJobTable } from './cron-job-table.js';
import { JobBar } from './job-bar.js';
import { JobStart } from './job-fact.js';
import classes from './job-page.module.css';
import { FLEET_API, jobStatus } from './job-text.js';

/** Rows of the first page, and how many more each click adds. */
const PAGE_SIZE = 100;
const COLUMNS = ['Name', 'State', 'Hosts', 'Image', 'Started', 'Namespace'] as const;

export function JobsPage() {
  const [query, setQuery] = useUrlFilter();
  const typed = query.get('namespace') ?? '';
  const asked = useNamespaceFilter(typed);
  const filter = query.get('filter') ?? '';
  const jobs = useScopedList<DaemonJob>(FLEET_API, 'daemonjobs', asked);
  const { namespace } = jobs;
  const mayRun = useIsAllowed({
    ...{ verb: 'create', group: 'fleet.everynode.dev', resource: 'daemonjobs' },
    namespace: namespace ?? 'default',
  });
  return (
    <Page title="Jobs">
      <div className={classes.head}>
        <h1>{t('Jobs')}</h1>
        {mayRun && (
          <Link href={runAddress(namespace)} className={`${controls.button} ${classes.action}`} data-main>
            {t('Run on hosts…')}
          </Link>
        )}
      </div>
      <div className={controls.row}>
        <input
          className={controls.input}
          type="search"
          aria-label={t('Filter by name or image')}
          placeholder={t('Name or image')}
          value={filter}
          data-shortcut="/"
          onChange={({ target }) => setQuery('filter', target.value)}
        />
        <input
          className={controls.input}
          type="search"
          aria-label={t('Namespace')}
          placeholder={namespace ?? t('All namespaces')}
          value={typed}
          onChange={({ target }) => setQuery('namespace', target.value.trim())}
        />
        <label>
          <input
            type="checkbox"
            checked={query.has('failed')}
            onChange={({ target }) => setQuery('failed', target.checked ? '1' : '')}
          />{' '}
          {t('Only with failed or missed hosts')}
        </label>
      </div>
      <NamespaceProblem typed={typed} />
      <CronJobTable asked={asked} filter={filter} />
      <JobTable key={namespace} jobs={jobs} filter={filter} onlyFailed={query.has('failed')} />
      <CopyCommand text={`kubectl get daemonjobs ${namespaceFlag(namespace)}`} />
    </Page>
  );
}

/** Returns the address of the form, which starts in this namespace. */
function runAddress(namespace: string | undefined): string {
  return namespace === undefined ? '/jobs/new' : `/jobs/new?namespace=${namespace}`;
}

interface JobTableProps {
  jobs: ScopedList<DaemonJob>;
  filter: string;
  onlyFailed: boolean;
}

function JobTable({ jobs, filter, onlyFailed }: JobTableProps) {
  const { objects, phase, error, namespace } = jobs;
  const [rows, setRows] = useState(PAGE_SIZE);
  const found = objects
    .filter((job) => matches(job, filter) && (!onlyFailed || hasFailedHosts(job)))
    .sort(inOrder);
  if (phase === 'refused' && error?.code !== 404)
    return (
      <NotAllowed
        what="DaemonJobs"
        resource="daemonjobs.fleet.everynode.dev"
        {...{ namespace }}
        isNamespaced
      />
    );
  return (
    <>
      <ListState {...{ phase, error }} what="DaemonJobs" isEmpty={objects.length === 0}>
        <p>{t('No jobs yet. A job runs a command once on each host, also on hosts that are offline now.')}</p>
        <p>
          <RichText
            text="<to>Run a command on hosts</to>, or <command/> a DaemonJob."
            parts={{ to: <Link href={runAddress(namespace)} />, command: <code>kubectl apply -f</code> }}
          />
        </p>
      </ListState>
      {objects.length > 0 && found.length === 0 && <p role="status">{t('No jobs match.')}</p>}
      {found.length > 0 && (
        <ListTable label="DaemonJobs" columns={COLUMNS}>
          {found.slice(0, rows).map((job) => (
            <JobRow key={job.metadata.uid} job={job} />
          ))}
        </ListTable>
      )}
      {found.length > rows && (
        <p>
          {t('{{shown}} of {{total}} jobs are shown.', { shown: rows, total: found.length })}{' '}
          <button type="button" className={controls.button} onClick={() => setRows(rows + PAGE_SIZE)}>
            {t('Show {{count}} more', { count: PAGE_SIZE })}
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
