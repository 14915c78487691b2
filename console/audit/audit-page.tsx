/** Audit log, newest first. The URL contains the filter. */
import { useCallback, useEffect, useState } from 'react';
import type { AuditEvent } from '../../shared/kube/access/audit-types.js';
import { ApiCallError, callApi } from '../api/api-call.js';
import { useInterval } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { PageShell } from '../layout/shell/page-shell.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { useFrozenValue } from '../layout/use-frozen-value.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import classes from './audit-page.module.css';

/** Filters of the API. */
const FILTERS = ['user', 'verb', 'resource', 'namespace', 'name', 'code'] as const;
const MAX_ITEMS = 200;
/** The audit log is a file and cannot be watched. */
const ASK_AGAIN_MS = 5_000;

export function AuditPage() {
  const [params, set] = useUrlQuery();
  const [isHovered, setHovered] = useState(false);
  const { events: newest, problem } = useAudit(params.toString());
  // New rows appear at the top. Keep them back while the user points at the table.
  const events = useFrozenValue(newest, isHovered);
  const flags = FILTERS.filter((name) => params.get(name)).map((name) => `--${name} ${params.get(name)}`);
  return (
    <PageShell title="Audit">
      <h1>Audit</h1>
      <div className={classes.filters}>
        {FILTERS.map((name) => (
          <label key={name} className={controls.field}>
            {name}
            <input
              className={controls.input}
              value={params.get(name) ?? ''}
              onChange={(event) => set(name, event.target.value)}
            />
          </label>
        ))}
      </div>
      {problem && <p role="alert">{problem}</p>}
      {!events && !problem && <p role="status">Loading…</p>}
      {events?.length === 0 && <p>No events match.</p>}
      {events && events.length > 0 && (
        <div onPointerEnter={() => setHovered(true)} onPointerLeave={() => setHovered(false)}>
          <ListTable label="Audit events" columns={['When', 'Who', 'Did', 'To', 'From', 'Result']}>
            {events.map((event) => (
              <Row key={event.auditID} event={event} />
            ))}
          </ListTable>
        </div>
      )}
      <CopyCommand text={['everynode audit', ...flags].join(' ')} />
    </PageShell>
  );
}

/** Reloads when the query changes, and periodically. */
function useAudit(query: string): { events: readonly AuditEvent[] | undefined; problem: string } {
  const [events, setEvents] = useState<readonly AuditEvent[]>();
  const [problem, setProblem] = useState('');
  const [reloads, setReloads] = useState(0);
  useInterval(
    ASK_AGAIN_MS,
    useCallback(() => setReloads((count) => (document.hidden ? count : count + 1)), []),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: reload when the timer fires
  useEffect(() => {
    const abort = new AbortController();
    const path = `/apis/fleet.everynode.dev/v1/auditevents?limit=${MAX_ITEMS}&${query}`;
    callApi<{ items: AuditEvent[] }>(path, { signal: abort.signal }).then(
      ({ items }) => {
        setEvents(items.reverse());
        setProblem('');
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(error instanceof ApiCallError ? error.message : String(error));
      },
    );
    return () => abort.abort();
  }, [query, reloads]);
  return { events, problem };
}

function Row({ event }: { event: AuditEvent }) {
  const { objectRef, user, verb, sourceIPs, responseStatus, requestURI, requestReceivedTimestamp } = event;
  const object = objectRef
    ? [objectRef.resource, objectRef.namespace, objectRef.name, objectRef.subresource]
        .filter(Boolean)
        .join('/')
    : requestURI;
  return (
    <tr>
      <td>
        <RelativeTime at={requestReceivedTimestamp} />
      </td>
      <td>{user.username || 'unknown'}</td>
      <td>{verb}</td>
      <td>{object}</td>
      <td>{sourceIPs.join(', ')}</td>
      <td>{responseStatus.code}</td>
    </tr>
  );
}
