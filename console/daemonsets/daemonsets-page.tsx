/** Page with all DaemonSets. */
import { Link } from 'wouter';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import { useIsAllowedInAny } from '../api/access-checks.js';
import { useScopedList } from '../api/namespace-choice.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { NotAllowed } from '../layout/not-allowed.js';
import { Page } from '../layout/shell/page.js';
import { daemonSetStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { imagesText } from '../layout/text/image-text.js';
import { namespaceFlag } from '../layout/text/shell-words.js';
import { t } from '../texts/translate.js';

const COLUMNS = [
  'Namespace',
  'Name',
  'State',
  'Version',
  'Desired',
  'Ready',
  'Up to date',
  'Available',
  'On other hosts',
] as const;

const CREATE = { verb: 'create', group: 'apps', resource: 'daemonsets' };
const FIRST_NAMESPACE = 'default';

export function DaemonSetsPage() {
  const { objects, phase, namespace } = useScopedList<DaemonSet>('/apis/apps/v1', 'daemonsets');
  const sorted = [...objects].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const mayCreate = useIsAllowedInAny(CREATE, namespacesOf(objects, namespace));
  return (
    <Page title="DaemonSets">
      <h1>{t('DaemonSets')}</h1>
      {phase === 'loading' && <p role="status">{t('Loading…')}</p>}
      {phase === 'refused' && (
        <NotAllowed what="DaemonSets" resource="daemonsets.apps" namespace={namespace} isNamespaced />
      )}
      {phase === 'live' && sorted.length === 0 && (
        <p className={controls.card}>
          None yet. {mayCreate && 'Create one here, or '}
          <code>kubectl apply -f</code> a manifest.
        </p>
      )}
      {mayCreate && (
        <p>
          <Link href="/daemonsets/new">Create a DaemonSet</Link>
        </p>
      )}
      {sorted.length > 0 && (
        <ListTable label="DaemonSets" columns={COLUMNS}>
          {sorted.map((daemonSet) => (
            <Row key={keyOf(daemonSet)} daemonSet={daemonSet} />
          ))}
        </ListTable>
      )}
      <CopyCommand text={`kubectl get daemonsets ${namespaceFlag(namespace)}`} />
    </Page>
  );
}

function Row({ daemonSet }: { daemonSet: DaemonSet }) {
  const { metadata, spec, status } = daemonSet;
  const { namespace = '', name } = metadata;
  const counts = [
    status?.desiredNumberScheduled,
    status?.numberReady,
    status?.updatedNumberScheduled,
    status?.numberAvailable,
  ];
  return (
    <tr>
      <td>{namespace}</td>
      <th scope="row">
        <Link href={`/daemonsets/${namespace}/${name}`}>{name}</Link>
      </th>
      <td>
        <StatusBadge status={daemonSetStatus(daemonSet)} />
      </td>
      <td>{imagesText(spec.template.spec.containers)}</td>
      {counts.map((count, index) => (
        <td key={COLUMNS[index + 4]}>{count ?? 0}</td>
      ))}
      <td>{status?.numberMisscheduled || ''}</td>
    </tr>
  );
}

/** Returns namespaces in which to check for permission: the chosen or the default one, and all with DaemonSets. */
function namespacesOf(daemonSets: readonly DaemonSet[], chosen = FIRST_NAMESPACE): string[] {
  return [...new Set([chosen, ...daemonSets.map(({ metadata }) => metadata.namespace ?? '')])].sort();
}

function keyOf({ metadata }: DaemonSet): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
