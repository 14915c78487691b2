/** The writes of users to an object, from the audit log. */
import { useCallback, useState } from 'react';
import type { AuditEvent } from '../../shared/kube/access/audit-types.js';
import { useInterval } from '../api/live-list.js';
import { useApiResource } from '../api/use-api-resource.js';

/** Each request reads the whole audit log. */
const ASK_AGAIN_MS = 60_000;
const MAX_ITEMS = 100;

/** The loaded writes, and how far they reach. */
export interface Writes {
  events: readonly AuditEvent[];
  reach: string;
}

/** `filter` has parameters of the API: resource, namespace and name. */
export function useWrites(filter: Readonly<Record<string, string>>): Writes {
  const [ticks, setTicks] = useState(1);
  useInterval(
    ASK_AGAIN_MS,
    useCallback(() => setTicks((count) => (document.hidden ? count : count + 1)), []),
  );
  const query = new URLSearchParams({ ...filter, changes: 'true', limit: String(MAX_ITEMS) });
  const { answer, code } = useApiResource<{ items: AuditEvent[] }>(
    `/apis/fleet.everynode.dev/v1/auditevents?${query}`,
    String(ticks),
  );
  const events = answer?.items ?? [];
  return { events, reach: reachOf(events.length, answer === undefined ? code : 200) };
}

function reachOf(count: number, code: number | undefined): string {
  if (code === 403) return 'you are not allowed to read the audit log';
  if (code === 404) return 'the audit log is off';
  if (code !== 200) return 'loading';
  return count >= MAX_ITEMS ? `the newest ${MAX_ITEMS} writes` : 'all that the audit log still has';
}
