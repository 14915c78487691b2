/** Past rollouts of a DaemonSet: result, duration and cause of failure. */
import { Link } from 'wouter';
import type { ControllerRevision } from '../../shared/kube/daemonsets/daemonset-types.js';
import { PAST_ROLLOUT_LABEL, type Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { useLiveList } from '../api/live-list.js';
import { LabelledTable, TableCard } from '../layout/list-table.js';
import { rolloutStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { rolloutVersions } from './rollout-versions.js';

const COLUMNS = ['Revision', 'Outcome', 'Version', 'Started', 'Took', 'Hosts', 'Why'] as const;

interface PastRolloutsProps {
  namespace: string;
  /** The DaemonSet. */
  name: string;
  revisions: readonly ControllerRevision[];
}

export function PastRollouts({ namespace, name, revisions }: PastRolloutsProps) {
  const selector = encodeURIComponent(`${PAST_ROLLOUT_LABEL}=${name}`);
  const { objects, phase } = useLiveList<Rollout>(
    `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/rollouts?labelSelector=${selector}`,
  );
  const past = [...objects].sort((a, b) => (b.status?.revisionNumber ?? 0) - (a.status?.revisionNumber ?? 0));
  if (phase === 'refused') return null;
  return (
    <TableCard label="Past rollouts">
      <h2>Past rollouts</h2>
      {phase === 'live' && past.length === 0 && <p>None: this is the first rollout by a policy.</p>}
      {past.length > 0 && (
        <LabelledTable columns={COLUMNS}>
          {past.map((rollout) => (
            <Row key={rollout.metadata.uid} rollout={rollout} version={rolloutVersions(rollout, revisions)} />
          ))}
        </LabelledTable>
      )}
      <CopyCommand text={`everynode rollout history ds/${name} -n ${namespace}`} />
    </TableCard>
  );
}

function Row({ rollout: { metadata, status }, version }: { rollout: Rollout; version: string }) {
  if (!status) return null;
  const end = status.endTime ?? status.completionTime;
  return (
    <tr>
      <th scope="row">
        <Link href={`/rollouts/${metadata.namespace}/${metadata.name}`}>
          {status.revisionNumber ?? status.revision}
        </Link>
      </th>
      <td>
        <StatusBadge status={rolloutStatus(status.phase)} />
      </td>
      <td>{version}</td>
      <td>
        <RelativeTime at={status.startTime} />
      </td>
      <td>{end ? duration(Date.parse(end) - Date.parse(status.startTime)) : ''}</td>
      <td>
        {status.updated} of {status.nodes}
        {status.failed > 0 && `, ${status.failed} failed`}
      </td>
      <td>{status.failure ?? ''}</td>
    </tr>
  );
}

/** Formats `4 min` or `3 h 20 min`. */
function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.max(Math.round(ms / 1000), 0)} s`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
