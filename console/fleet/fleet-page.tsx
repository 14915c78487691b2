/** The fleet: what needs attention, every host on the map, and the same as a table. What is chosen stands in the URL. */
import { useDeferredValue, useMemo } from 'react';
import type { Host } from '../../shared/kube/host.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { Shell } from '../layout/shell.js';
import { useQuery } from '../layout/use-query.js';
import { FleetCounts } from './fleet-counts.js';
import { FleetMap } from './fleet-map.js';
import { groupHosts, groupingLabels } from './group-hosts.js';
import { conditionOf, HOST_CONDITIONS, type HostCondition } from './host-condition.js';
import { HostTable } from './host-table.js';
import { hostFilter } from './label-filter.js';

const HOSTS = '/apis/fleet.everynode.dev/v1/hosts';

export function FleetPage() {
  const { objects, phase, error } = useLiveList<Host>(HOSTS);
  // What a person does goes before what the fleet does.
  const hosts = useDeferredValue(objects);
  const [params, set] = useQuery();
  const filterText = params.get('filter') ?? '';
  const label = params.get('group') ?? '';
  const chosen = HOST_CONDITIONS.find((condition) => condition === params.get('condition'));

  const filter = useMemo(() => hostFilter(filterText), [filterText]);
  const filtered = useMemo(() => hosts.filter(filter.matches), [hosts, filter]);
  const shown = useMemo(() => ofCondition(filtered, chosen), [filtered, chosen]);
  const groups = useMemo(() => groupHosts(shown, label), [shown, label]);
  const labels = useMemo(() => groupingLabels(hosts), [hosts]);

  return (
    <Shell phase={phase}>
      <h1>Fleet</h1>
      {phase === 'refused' && <p role="alert">You may not see hosts: {error?.message}</p>}
      {phase === 'loading' && <p role="status">Loading hosts…</p>}
      {phase !== 'loading' && phase !== 'refused' && hosts.length === 0 && <NoHosts />}
      {hosts.length > 0 && (
        <>
          <FleetCounts
            hosts={filtered}
            chosen={chosen}
            onChoose={(condition) => set('condition', condition ?? '')}
          />
          <div className={controls.row}>
            <label>
              Filter{' '}
              <input
                className={controls.input}
                type="search"
                value={filterText}
                placeholder="site=hamburg, or a name"
                aria-invalid={filter.problem !== undefined}
                onChange={(event) => set('filter', event.target.value)}
              />
            </label>
            <label>
              Group by{' '}
              <select
                className={controls.input}
                value={label}
                onChange={(event) => set('group', event.target.value)}
              >
                <option value="">nothing</option>
                {labels.map((key) => (
                  <option key={key}>{key}</option>
                ))}
              </select>
            </label>
            {filter.problem && (
              <p role="alert" className={controls.problem}>
                {filter.problem}
              </p>
            )}
          </div>
          <section className={controls.card} aria-label="Map">
            <FleetMap groups={groups} />
          </section>
          <HostTable hosts={shown} />
        </>
      )}
    </Shell>
  );
}

function ofCondition(hosts: readonly Host[], condition: HostCondition | undefined): readonly Host[] {
  return condition === undefined ? hosts : hosts.filter((host) => conditionOf(host) === condition);
}

function NoHosts() {
  return (
    <section className={controls.card}>
      <h2>No hosts yet</h2>
      <p>
        Make a token on the coordinator with <code>everynode token create</code>; the line that it prints
        joins a host, and the host appears here by itself.
      </p>
    </section>
  );
}
