/** The DaemonSetOverrides of a DaemonSet. Shows nothing if there are none. */
import { Link } from 'wouter';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import type { LabelSelector } from '../../shared/kube/objects/selectors.js';
import { useLiveList } from '../api/live-list.js';
import { ListTable } from '../layout/list-table.js';
import { selectorText } from '../layout/text/selector-text.js';

/** fleet.everynode.dev/v1 DaemonSetOverride, as far as the page shows it. */
interface ShownOverride extends KubeObject {
  spec: {
    daemonSetName: string;
    nodeSelector?: LabelSelector;
    priority?: number;
    containers?: readonly { name: string; image?: string; resources?: object; env?: readonly object[] }[];
    volumes?: readonly { name: string }[];
  };
}

const RESOURCE = 'fleet.everynode.dev/v1/daemonsetoverrides';
const COLUMNS = ['Override', 'Priority', 'Hosts', 'Changes'] as const;

interface DaemonSetOverridesProps {
  namespace: string;
  name: string;
}

export function DaemonSetOverrides({ namespace, name }: DaemonSetOverridesProps) {
  const { objects, phase, error } = useLiveList<ShownOverride>(
    `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/daemonsetoverrides`,
  );
  const own = objects
    .filter(({ spec }) => spec.daemonSetName === name)
    .sort((a, b) => (b.spec.priority ?? 0) - (a.spec.priority ?? 0));
  if (phase === 'refused') return <p role="alert">The overrides could not be loaded: {error?.message}</p>;
  if (own.length === 0) return null;
  return (
    <ListTable label="Overrides" columns={COLUMNS}>
      {own.map(({ metadata, spec }) => (
        <tr key={metadata.uid}>
          <th scope="row">
            <Link href={`/resources/${RESOURCE}/${namespace}/${metadata.name}`}>{metadata.name}</Link>
          </th>
          <td>{spec.priority ?? 0}</td>
          <td>{selectorText(spec.nodeSelector)}</td>
          <td>{changesText(spec)}</td>
        </tr>
      ))}
    </ListTable>
  );
}

/** Returns for example `image and variables of till; volume cache`. */
function changesText({ containers = [], volumes = [] }: ShownOverride['spec']): string {
  const changes = containers.map(({ name, image, resources, env }) => {
    const parts = [image && 'image', resources && 'resources', env && 'variables'].filter(Boolean);
    return `${parts.join(' and ')} of ${name}`;
  });
  return [...changes, ...volumes.map(({ name }) => `volume ${name}`)].join('; ');
}
