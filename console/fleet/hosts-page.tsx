/** Hosts page: issues, map and table of hosts. The URL contains filter and selection. */
import { memo, useDeferredValue, useMemo, useState } from 'react';
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { ACCESS, useIsAllowed } from '../api/access-checks.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { useKeptState } from '../layout/kept-view.js';
import { NotAllowed } from '../layout/not-allowed.js';
import { Page } from '../layout/shell/page.js';
import { HOST_HEALTH_STATES, type HostHealth, hostHealth } from '../layout/status/host-health.js';
import { useUrlFilter } from '../layout/use-url-query.js';
import { t } from '../texts/translate.js';
import { BulkBar } from './bulk/bulk-bar.js';
import { causesOfHost } from './failing-cause.js';
import { FleetCounters } from './fleet-counters.js';
import { FleetCounts } from './fleet-counts.js';
import { FleetFilter } from './fleet-filter.js';
import { hostFilter } from './host-filter.js';
import { type FleetContext, ISSUES, type Issue, issuesOf } from './host-issues.js';
import { IssueList, useFleetContext } from './issue-list.js';
import { FleetMap } from './map/fleet-map.js';
import { groupHosts } from './map/map-groups.js';
import { NoHosts } from './no-hosts.js';
import { parseColumns, parseSort } from './table/host-columns.js';
import { HostTable } from './table/host-table.js';
import { LabelCounts } from './table/label-counts.js';
import { TableSettings } from './table/table-settings.js';

const HOSTS = '/apis/fleet.everynode.dev/v1/hosts';

export function HostsPage() {
  const { objects, phase } = useLiveList<Host>(HOSTS);
  // User input takes precedence over updates of the fleet.
  const hosts = useDeferredValue(objects);
  return (
    <Page title="Hosts">
      <h1>{t('Hosts')}</h1>
      {phase === 'refused' && <NotAllowed what="hosts" resource="hosts.fleet.everynode.dev" />}
      {phase === 'loading' && <p role="status">Loading hosts…</p>}
      {phase === 'live' && objects.length === 0 && <NoHosts />}
      {hosts.length > 0 && <Fleet hosts={hosts} />}
    </Page>
  );
}

/** Memoised: rendered when the hosts change, not on each deferred update. */
const Fleet = memo(function Fleet({ hosts }: { hosts: readonly Host[] }) {
  const [params, set] = useUrlFilter();
  const filterText = params.get('filter') ?? '';
  const label = params.get('group') ?? '';
  const condition = HOST_HEALTH_STATES.find((each) => each === params.get('condition'));
  const issue = ISSUES.find((each) => each === params.get('issue'));
  const cause = params.get('cause') ?? '';
  const columnNames = params.get('columns');
  const surroundings = useFleetContext();

  const filter = useMemo(() => hostFilter(filterText), [filterText]);
  const filtered = useMemo(
    () =>
      hosts.filter((host) => filter.matches(host) && (cause === '' || causesOfHost(host).includes(cause))),
    [hosts, filter, cause],
  );
  const shown = useMemo(
    () => withThese(filtered, condition, issue, surroundings),
    [filtered, condition, issue, surroundings],
  );
  const groups = useMemo(() => groupHosts(shown, label), [shown, label]);
  const [labelTally] = useState(() => new LabelCounts());
  const labels = useMemo(() => labelTally.of(hosts), [labelTally, hosts]);
  const [tally] = useState(() => new FleetCounters());
  const counts = useMemo(() => tally.of(filtered, surroundings), [tally, filtered, surroundings]);
  const columns = useMemo(() => parseColumns(columnNames), [columnNames]);
  const sort = useMemo(() => parseSort(params.get('sort')), [params]);
  const { selected, names, hidden, select } = useSelected(hosts, shown);

  return (
    <>
      <FleetCounts
        total={filtered.length}
        counts={counts.conditions}
        selected={condition}
        onSelect={(each) => set('condition', each ?? '')}
      />
      <IssueList counts={counts.issues} selected={issue} onSelect={(each) => set('issue', each ?? '')} />
      <FleetFilter
        {...{ filterText, label, labels }}
        {...(filter.problem ? { problem: filter.problem } : {})}
        onChange={set}
      />
      {cause !== '' && (
        <p className={controls.row}>
          <span>
            Only hosts with <strong>{cause}</strong>
          </span>
          <button type="button" className={controls.button} onClick={() => set('cause', '')}>
            {t('Show all hosts')}
          </button>
        </p>
      )}
      <section className={controls.card} aria-label="Map">
        {shown.length === 0 ? <p role="status">No hosts match.</p> : <FleetMap groups={groups} />}
      </section>
      <TableSettings columns={columns} labels={labels} onColumns={(text) => set('columns', text)} />
      <HostTable
        {...{ columns, sort, selected }}
        hosts={shown}
        onSort={(text) => set('sort', text)}
        onSelect={select}
      />
      <BulkBar names={names} hidden={hidden} onClear={() => select(new Set())} />
    </>
  );
});

const NONE: ReadonlySet<string> = new Set();

function useSelected(hosts: readonly Host[], shown: readonly Host[]) {
  const [selected, select] = useKeptState<ReadonlySet<string>>('selected', NONE);
  const mayChange = useIsAllowed(ACCESS.changeNodes);
  const mayRevoke = useIsAllowed(ACCESS.revoke);
  const names = useMemo(
    () =>
      selected.size === 0
        ? []
        : hosts.map(({ metadata }) => metadata.name).filter((name) => selected.has(name)),
    [hosts, selected],
  );
  const visible = shown.filter(({ metadata }) => selected.has(metadata.name)).length;
  const isOffered = mayChange || mayRevoke;
  return { selected: isOffered ? selected : undefined, names, hidden: names.length - visible, select };
}

function withThese(
  hosts: readonly Host[],
  condition: HostHealth | undefined,
  issue: Issue | undefined,
  surroundings: FleetContext,
): readonly Host[] {
  if (condition === undefined && issue === undefined) return hosts;
  return hosts.filter(
    (host) =>
      (condition === undefined || hostHealth(host) === condition) &&
      (issue === undefined || issuesOf(host, surroundings).includes(issue)),
  );
}
