/** For each DaemonSet: whether it runs on this host, and the reason, as printed by `everynode why`. */
import { Link } from 'wouter';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import { useLiveList } from '../api/live-list.js';
import { useApiResource } from '../api/use-api-resource.js';
import { TableCard } from '../layout/list-table.js';
import table from '../layout/table.module.css';

interface Reason {
  code: string;
  sentence: string;
}

/** `version` is the Node's resourceVersion: a changed Node can have other reasons. */
export function DaemonSetReasons({ node, version }: { node: string; version: string }) {
  const { objects, phase } = useLiveList<DaemonSet>('/apis/apps/v1/daemonsets');
  if (phase === 'refused' || objects.length === 0) return null;
  return (
    <TableCard label="DaemonSets">
      <h2>DaemonSets on this host</h2>
      <table className={`${table.table} ${table.details}`}>
        <tbody>
          {objects.map((daemonSet) => (
            <Row key={daemonSet.metadata.uid} daemonSet={daemonSet} node={node} version={version} />
          ))}
        </tbody>
      </table>
    </TableCard>
  );
}

function Row({ daemonSet, node, version }: { daemonSet: DaemonSet; node: string; version: string }) {
  const { namespace = '', name } = daemonSet.metadata;
  const { answer: reason, problem } = useApiResource<Reason>(
    `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/daemonsets/${name}/why?node=${node}`,
    // A changed DaemonSet can have other reasons as well.
    `${version} ${daemonSet.metadata.resourceVersion}`,
  );
  return (
    <tr>
      <th scope="row">
        <Link href={`/daemonsets/${namespace}/${name}`}>{name}</Link>
      </th>
      <td>{reason?.code}</td>
      <td data-long>{reason?.sentence ?? problem}</td>
    </tr>
  );
}
