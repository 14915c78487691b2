/** Pods of a host with state and version. Those that need an operator come first. */
import { Link } from 'wouter';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { Live } from '../api/live-list.js';
import { ListState } from '../layout/list-state.js';
import { TableCard } from '../layout/list-table.js';
import { bySeverity, podStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import table from '../layout/table.module.css';
import { imagesText } from '../layout/text/image-text.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { logOfPod, logsQuery, MOST_LOGS } from '../pods/logs-query.js';

export function HostPods({ pods: { objects, phase, error } }: { pods: Live<Pod> }) {
  const rows = objects
    .map((pod) => ({ pod, status: podStatus(pod) }))
    .sort((a, b) => bySeverity(a.status, b.status) || (a.pod.metadata.name < b.pod.metadata.name ? -1 : 1));
  return (
    <TableCard label="Pods">
      <h2>Pods</h2>
      {rows.length > 1 && (
        <p>
          <Link href={`/logs?pods=${logsQuery(rows.slice(0, MOST_LOGS).map(({ pod }) => logOfPod(pod)))}`}>
            Compare logs
          </Link>
        </p>
      )}
      <ListState phase={phase} error={error} what="Pods" isEmpty={rows.length === 0}>
        No Pods on this host.
      </ListState>
      <table className={`${table.table} ${table.wraps}`}>
        <tbody>
          {rows.map(({ pod: { metadata, spec }, status }) => (
            <tr key={metadata.uid}>
              <th scope="row">
                <Link href={`/pods/${metadata.namespace}/${metadata.name}`}>{metadata.name}</Link>
              </th>
              <td>
                <StatusBadge status={status} />
              </td>
              <td>{imagesText(spec.containers)}</td>
              <td>{metadata.creationTimestamp && <RelativeTime at={metadata.creationTimestamp} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableCard>
  );
}
