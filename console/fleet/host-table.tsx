/** Hosts in rows, sortable; only the rows on the screen exist. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Host } from '../../shared/kube/host.js';
import { CONDITION_NAMES, conditionOf, HOST_CONDITIONS } from './host-condition.js';
import classes from './host-table.module.css';

interface HostColumn {
  name: string;
  /** What rows are ordered by. */
  order: (host: Host) => string | number;
  text: (host: Host) => string;
}

const COLUMNS: readonly HostColumn[] = [
  { name: 'Name', order: ({ metadata }) => metadata.name, text: ({ metadata }) => metadata.name },
  {
    name: 'Condition',
    order: (host) => HOST_CONDITIONS.indexOf(conditionOf(host)),
    text: (host) => CONDITION_NAMES[conditionOf(host)],
  },
  {
    name: 'Since',
    order: ({ status }) => status.since ?? '',
    text: ({ status }) => (status.since ? new Date(status.since).toLocaleString() : ''),
  },
  {
    name: 'Pods ready',
    order: ({ status }) => status.pods.ready - status.pods.total,
    text: ({ status }) => `${status.pods.ready}/${status.pods.total}`,
  },
  {
    name: 'Trouble',
    order: ({ status }) => status.failing[0]?.because ?? status.message ?? '',
    text: ({ status }) => status.failing[0]?.because ?? status.pressures[0] ?? status.message ?? '',
  },
];

const ROW_PX = 40;

export function HostTable({ hosts }: { hosts: readonly Host[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const [sort, setSort] = useState({ column: 'Condition', down: false });
  const rows = useMemo(() => sorted(hosts, sort), [hosts, sort]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  const shown = virtual.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section ref={frame} className={classes.frame} tabIndex={0} aria-label="Hosts">
      <table className={classes.table} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {COLUMNS.map(({ name }) => (
              <th key={name} scope="col" aria-sort={ariaSort(sort, name)}>
                <button type="button" onClick={() => setSort(next(sort, name))}>
                  {name}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Spacer height={above} />}
          {shown.map(({ index }) => {
            const host = rows[index];
            return host && <Row key={host.metadata.name} host={host} index={index} />;
          })}
          {below > 0 && <Spacer height={below} />}
        </tbody>
      </table>
    </section>
  );
}

function Row({ host, index }: { host: Host; index: number }) {
  return (
    <tr aria-rowindex={index + 2}>
      {COLUMNS.map(({ name, text }) => (
        <td key={name}>
          {name === 'Name' ? <Link href={`/hosts/${host.metadata.name}`}>{text(host)}</Link> : text(host)}
        </td>
      ))}
    </tr>
  );
}

function Spacer({ height }: { height: number }) {
  return (
    <tr>
      <td colSpan={COLUMNS.length} style={{ height }} />
    </tr>
  );
}

interface Sort {
  column: string;
  down: boolean;
}

function next(sort: Sort, column: string): Sort {
  return { column, down: sort.column === column && !sort.down };
}

function ariaSort(sort: Sort, column: string): 'ascending' | 'descending' | 'none' {
  if (sort.column !== column) return 'none';
  return sort.down ? 'descending' : 'ascending';
}

function sorted(hosts: readonly Host[], { column, down }: Sort): Host[] {
  const order = COLUMNS.find(({ name }) => name === column)?.order ?? (() => 0);
  const sign = down ? -1 : 1;
  return [...hosts].sort((a, b) => {
    const [x, y] = [order(a), order(b)];
    // Equal ones stay in order of their names.
    return x === y ? 0 : x < y ? -sign : sign;
  });
}
