/** The hosts of a job as a map and as a table. One request loads both, because each visits all hosts of the fleet. */
import type { DaemonJobHosts } from '../../shared/kube/fleet/daemonjob-host-types.js';
import { type ApiResource, useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { useFrozenValue } from '../layout/use-frozen-value.js';
import { t } from '../texts/translate.js';
import { JobHostTable, useHostFilter } from './job-host-table.js';
import { JobMap } from './job-map.js';

/** The status of a job that runs changes up to twice a second. With 10,000 hosts a request costs 100 ms of CPU time. */
const PAUSE_MS = 5_000;

interface JobHostsProps {
  /** Path of the job in the API. */
  path: string;
  namespace: string;
  /** The hosts are loaded again when it changes. */
  version: string;
}

export function JobHosts({ path, namespace, version }: JobHostsProps) {
  const filter = useHostFilter();
  const hosts = useApiResource<DaemonJobHosts>(`${path}/hosts?names=true&${filter.search}`, version, {
    pauseMs: PAUSE_MS,
  });
  // The map does not depend on the filter, so it stays while another page of the table is loaded.
  const states = useFrozenValue(hosts.answer?.states, hosts.answer === undefined);
  return (
    <>
      <HostMap states={states} problem={hosts.problem} />
      <JobHostTable namespace={namespace} filter={filter} hosts={hosts} />
    </>
  );
}

interface HostMapProps extends Pick<ApiResource<unknown>, 'problem'> {
  states: DaemonJobHosts['states'] | undefined;
}

function HostMap({ states, problem }: HostMapProps) {
  return (
    <section className={controls.card} aria-label={t('Map')}>
      <h2>{t('Hosts by result')}</h2>
      {problem && (
        <p role="alert">
          {t('The map could not be loaded:')} {problem}
        </p>
      )}
      {!states && !problem && <p role="status">{t('Loading the map…')}</p>}
      {states?.length === 0 && <p>{t('The job selects no host.')}</p>}
      {states && states.length > 0 && <JobMap states={states} />}
    </section>
  );
}
