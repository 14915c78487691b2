/** All HostValues by priority, with the number of their hosts. Objects can be large, so only their cells are loaded. */
import { Link } from 'wouter';
import type { ValueCounts } from '../../shared/kube/fleet/effective-values-types.js';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import type { useScopedResource } from '../api/use-scoped-resource.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { NotAllowed } from '../layout/not-allowed.js';
import { RichText } from '../texts/rich-text.js';
import { t } from '../texts/translate.js';

/** Objects of the first page, and how many more each click adds. */
export const PAGE_SIZE = 200;
export const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const COLUMNS = ['Name', 'Priority', 'Selector', 'Hosts', 'Keys', 'Namespace'] as const;
const MOST_KEYS = 8;

/** The parts of meta.k8s.io/v1 Table that the page shows. */
export interface ValuesTable {
  metadata?: { continue?: string };
  columnDefinitions: readonly { name: string }[];
  rows: readonly { cells: readonly unknown[]; object: KubeObject }[];
}

interface ValuesRow {
  namespace: string;
  name: string;
  priority: number;
  selector: string;
  keys: readonly string[];
}

interface ValuesObjectTableProps {
  list: ReturnType<typeof useScopedResource<ValuesTable>>;
  /** Undefined until they are loaded, or without permission. */
  counts: ValueCounts | undefined;
  /** Loads the next objects too. */
  onMore: () => void;
}

export function ValuesObjectTable({ list, counts, onMore }: ValuesObjectTableProps) {
  const { answer, problem, phase, namespace } = list;
  const hosts = new Map(counts?.objects.map((each) => [`${each.namespace}/${each.name}`, each.hosts]));
  if (phase === 'refused')
    return (
      <NotAllowed
        what="HostValues"
        resource="hostvalues.fleet.everynode.dev"
        {...{ namespace }}
        isNamespaced
      />
    );
  if (problem)
    return (
      <p role="alert">
        {t('HostValues could not be listed:')} {problem}
      </p>
    );
  if (!answer) return <p role="status">{t('Loading HostValues…')}</p>;
  if (answer.rows.length === 0)
    return (
      <div className={controls.card}>
        <p>{t('No HostValues yet. With them one DaemonSet runs with other values on each host.')}</p>
        <p>
          <RichText
            text="<to>Add values</to>, or <command/> a HostValues object."
            parts={{
              to: (
                <Link href={namespace === undefined ? '/values/new' : `/values/new?namespace=${namespace}`} />
              ),
              command: <code>kubectl apply -f</code>,
            }}
          />
        </p>
      </div>
    );
  return (
    <>
      <ListTable label="HostValues" columns={COLUMNS}>
        {rowsOf(answer).map((row) => (
          <Row
            key={`${row.namespace}/${row.name}`}
            row={row}
            hosts={hosts.get(`${row.namespace}/${row.name}`)}
          />
        ))}
      </ListTable>
      {answer.metadata?.continue && (
        <button type="button" className={controls.button} onClick={onMore}>
          {t('Show {{count}} more', { count: PAGE_SIZE })}
        </button>
      )}
    </>
  );
}

function Row({ row, hosts }: { row: ValuesRow; hosts: number | undefined }) {
  const { namespace, name, priority, selector, keys } = row;
  const more = keys.length - MOST_KEYS;
  return (
    <tr>
      <th scope="row">
        <Link href={`/values/${namespace}/${name}`}>{name}</Link>
      </th>
      <td>{priority}</td>
      <td>{selector}</td>
      <td>{hosts ?? ''}</td>
      <td>
        {keys.slice(0, MOST_KEYS).join(', ')}
        {more > 0 && ` and ${more} more`}
      </td>
      <td>{namespace}</td>
    </tr>
  );
}

/** Highest priority first: this is the order in which they win. */
function rowsOf({ columnDefinitions, rows }: ValuesTable): ValuesRow[] {
  const columns = new Map(columnDefinitions.map(({ name }, at) => [name, at]));
  const cell = (cells: readonly unknown[], name: string) => cells[columns.get(name) ?? -1];
  return rows
    .map(({ cells, object: { metadata } }) => ({
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      priority: Number(cell(cells, 'Priority') ?? 0),
      selector: String(cell(cells, 'Selector') ?? ''),
      keys: String(cell(cells, 'Keys') ?? '').split(','),
    }))
    .sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
}
