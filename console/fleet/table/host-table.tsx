/** Virtualised table of hosts with sorting and selection. Rows do not move while the user points at the table. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { keepValue, keptValue } from '../../layout/kept-view.js';
import { ScrollFrame } from '../../layout/scroll-frame.js';
import { useRowHeight } from '../../layout/shell/row-density.js';
import { hostHealth } from '../../layout/status/host-health.js';
import { hostStatus } from '../../layout/status/object-status.js';
import { StatusBadge } from '../../layout/status/status-badge.js';
import { RelativeTime } from '../../layout/time/relative-time.js';
import { useFrozenValue } from '../../layout/use-frozen-value.js';
import { translated } from '../../texts/translate.js';
import { columnsText, type HostColumn, type Sort, toggledSort } from './host-columns.js';
import { HostSorting } from './host-sorting.js';
import classes from './host-table.module.css';

const SCROLLED = 'host table';

interface HostTableProps {
  hosts: readonly Host[];
  columns: readonly HostColumn[];
  sort: Sort;
  onSort: (sort: string) => void;
  /** Names of the selected hosts. Absent if the user may not perform any action. */
  selected?: ReadonlySet<string> | undefined;
  onSelect: (names: ReadonlySet<string>) => void;
}

export function HostTable({ hosts, columns, sort, onSort, selected, onSelect }: HostTableProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [isHovered, setHovered] = useState(false);
  const rows = useRows(hosts, columns, sort, isHovered);
  const rowPx = useRowHeight();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowPx,
    overscan: 10,
    initialOffset: () => keptValue<number>(SCROLLED) ?? 0,
    onChange: ({ scrollOffset }) => keepValue(SCROLLED, scrollOffset ?? 0),
  });
  // The rows that are measured already would keep their former height.
  useEffect(() => {
    if (rowPx > 0) virtual.measure();
  }, [virtual, rowPx]);
  const shown = virtual.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  const width = columns.length + (selected ? 1 : 0);
  const all =
    selected !== undefined && rows.length > 0 && rows.every(({ metadata }) => selected.has(metadata.name));
  const toggle = (name: string) => {
    const next = new Set(selected);
    if (!next.delete(name)) next.add(name);
    onSelect(next);
  };
  return (
    <ScrollFrame
      ref={frame}
      className={classes.frame}
      label="Hosts"
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
    >
      <table
        className={classes.table}
        data-default={columnsText(columns) === '' || undefined}
        aria-rowcount={rows.length + 1}
      >
        <thead>
          <tr>
            {selected && (
              <th scope="col" className={classes.check}>
                <input
                  type="checkbox"
                  aria-label={`Select all ${rows.length}`}
                  checked={all}
                  onChange={() => onSelect(new Set(all ? [] : rows.map(({ metadata }) => metadata.name)))}
                />
              </th>
            )}
            {columns.map(({ id, name }) => (
              <th key={id} scope="col" data-column={id} aria-sort={ariaSort(sort, id)}>
                <button type="button" onClick={() => onSort(toggledSort(sort, id))}>
                  {translated(name)}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Spacer height={above} columns={width} />}
          {shown.map(({ index }) => {
            const host = rows[index];
            if (!host) return null;
            const { name } = host.metadata;
            const isSelected = selected?.has(name);
            return (
              <Row
                key={name}
                {...{ host, columns, index }}
                {...(isSelected === undefined ? {} : { isSelected, onToggle: toggle })}
              />
            );
          })}
          {below > 0 && <Spacer height={below} columns={width} />}
        </tbody>
      </table>
    </ScrollFrame>
  );
}

/** Returns the sorted hosts. `isFrozen` keeps the previous order: deleted hosts are removed, new ones appended. */
function useRows(
  hosts: readonly Host[],
  columns: readonly HostColumn[],
  sort: Sort,
  isFrozen: boolean,
): readonly Host[] {
  const [order] = useState(() => new HostSorting());
  const sorted = useMemo(() => order.of(hosts, columns, sort), [order, hosts, columns, sort]);
  const frozenSort = `${sort.column} ${sort.down}`;
  const last = useFrozenValue({ sort: frozenSort, hosts: sorted }, isFrozen);
  return useMemo(() => {
    if (last.hosts === sorted || last.sort !== frozenSort) return sorted;
    const left = new Map(sorted.map((host) => [host.metadata.name, host]));
    const kept: Host[] = [];
    for (const { metadata } of last.hosts) {
      const host = left.get(metadata.name);
      if (host) kept.push(host);
      left.delete(metadata.name);
    }
    return [...kept, ...left.values()];
  }, [last, sorted, frozenSort]);
}

interface RowProps {
  host: Host;
  columns: readonly HostColumn[];
  index: number;
  isSelected?: boolean;
  onToggle?: (name: string) => void;
}

function Row({ host, columns, index, isSelected = false, onToggle }: RowProps) {
  const { name } = host.metadata;
  return (
    <tr aria-rowindex={index + 2}>
      {onToggle && (
        <td className={classes.check}>
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={isSelected}
            onChange={() => onToggle(name)}
          />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.id} data-column={column.id}>
          <Cell host={host} column={column} />
        </td>
      ))}
    </tr>
  );
}

function Cell({ host, column: { id, text } }: { host: Host; column: HostColumn }) {
  const { name } = host.metadata;
  if (id === 'name') return <Link href={`/hosts/${name}`}>{name}</Link>;
  if (id === 'condition') return <StatusBadge status={hostStatus(hostHealth(host))} />;
  if (id === 'since') return host.status.since ? <RelativeTime at={host.status.since} /> : null;
  return text(host);
}

function Spacer({ height, columns }: { height: number; columns: number }) {
  return (
    <tr>
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}

function ariaSort({ column, down }: Sort, id: string): 'ascending' | 'descending' | 'none' {
  if (column !== id) return 'none';
  return down ? 'descending' : 'ascending';
}
