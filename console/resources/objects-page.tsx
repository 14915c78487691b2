/** Page with the objects of one kind, with the columns that `kubectl get` prints. */
import { useCallback, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { useInterval } from '../api/live-list.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { NamespaceProblem, useNamespaceFilter } from '../layout/namespace-filter.js';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { namespaceFlag } from '../layout/text/shell-words.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { t } from '../texts/translate.js';
import { collectionPath, fromAddress, kubectlName, objectAddress, type ServedKind } from './served-kinds.js';
import { useServedKinds } from './use-served-kinds.js';

/** Objects of the first page, and how many more each click adds. */
const PAGE_SIZE = 200;
/** A watch would send whole objects, of which this page needs a few cells. */
const REFRESH_MS = 5_000;
const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** The parts of meta.k8s.io/v1 Table that the page shows. */
interface Table {
  metadata?: { continue?: string; remainingItemCount?: number };
  columnDefinitions: readonly { name: string; priority?: number }[];
  rows: readonly { cells: readonly unknown[]; object: KubeObject }[];
}

export function ObjectsPage() {
  const { group, version = '', resource = '' } = useParams();
  const { kinds, problem } = useServedKinds();
  const served = kinds?.find((kind) => kind.group === fromAddress(group) && kind.resource === resource);
  return (
    <Page title={served?.kind ?? resource}>
      <p>
        <Link href="/resources">{t('Resources')}</Link> / {fromAddress(group) || 'core'} / {version}
      </p>
      <h1>{served?.kind ?? resource}</h1>
      {problem && (
        <p role="alert">
          {t('The kinds could not be loaded:')} {problem}
        </p>
      )}
      {!kinds && !problem && <p role="status">{t('Loading…')}</p>}
      {kinds && !served && <p>{t('The API does not serve this kind.')}</p>}
      {served && <Objects kind={{ ...served, version }} />}
    </Page>
  );
}

function Objects({ kind }: { kind: ServedKind }) {
  const [query, setQuery] = useUrlQuery();
  const [limit, setLimit] = useState(PAGE_SIZE);
  const typed = kind.namespaced ? (query.get('namespace') ?? '') : '';
  const namespace = useNamespaceFilter(typed);
  const { answer, problem } = useTable(`${collectionPath(kind, namespace)}?limit=${limit}`);
  return (
    <>
      {kind.namespaced && (
        <label>
          {t('Namespace')}{' '}
          <input
            className={controls.input}
            type="search"
            value={typed}
            placeholder={t('all')}
            data-shortcut="/"
            onChange={(event) => setQuery('namespace', event.target.value)}
          />
        </label>
      )}
      <NamespaceProblem typed={typed} />
      {problem && (
        <p role="alert">
          {t('The list could not be loaded:')} {problem}
        </p>
      )}
      {!answer && !problem && <p role="status">{t('Loading…')}</p>}
      {answer?.rows.length === 0 && <p role="status">{t('There are no objects of this kind.')}</p>}
      {answer && answer.rows.length > 0 && <Rows kind={kind} table={answer} inAll={namespace === ''} />}
      {answer?.metadata?.continue && (
        <button type="button" className={controls.button} onClick={() => setLimit(limit + PAGE_SIZE)}>
          {t('Show {{count}} more', { count: PAGE_SIZE })}
        </button>
      )}
      <CopyCommand text={`kubectl get ${kubectlName(kind)}${scopeFlag(kind, namespace)}`} />
    </>
  );
}

function scopeFlag({ namespaced }: ServedKind, namespace: string): string {
  return namespaced ? ` ${namespaceFlag(namespace)}` : '';
}

/** Loads the table again regularly, but not while the tab is hidden. */
function useTable(path: string) {
  const [round, setRound] = useState(0);
  useInterval(
    REFRESH_MS,
    useCallback(() => setRound((before) => (document.hidden ? before : before + 1)), []),
  );
  return useApiResource<Table>(path, String(round), { accept: AS_TABLE });
}

interface RowsProps {
  kind: ServedKind;
  table: Table;
  /** True if the objects are of all namespaces. */
  inAll: boolean;
}

function Rows({ kind, table, inAll }: RowsProps) {
  const shown = table.columnDefinitions.flatMap(({ name, priority = 0 }, at) =>
    priority === 0 ? [{ name, at }] : [],
  );
  const hasNamespace = kind.namespaced && inAll;
  const columns = [...(hasNamespace ? ['Namespace'] : []), ...shown.map(({ name }) => name)];
  return (
    <ListTable label={kind.kind} columns={columns}>
      {table.rows.map(({ cells, object: { metadata } }) => (
        <tr key={metadata.uid}>
          {hasNamespace && <td>{metadata.namespace}</td>}
          {shown.map(({ name, at }, position) =>
            position === 0 ? (
              <th key={name} scope="row">
                <Link href={objectAddress(kind, metadata.namespace ?? '', metadata.name)}>
                  {metadata.name}
                </Link>
              </th>
            ) : (
              <td key={name}>{cellText(cells[at])}</td>
            ),
          )}
        </tr>
      ))}
    </ListTable>
  );
}

function cellText(cell: unknown): string {
  return cell === null || cell === undefined ? '' : String(cell);
}
