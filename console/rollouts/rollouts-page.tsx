/** Page with all rollouts. Rollouts that need an operator come first. */
import { Link } from 'wouter';
import type { ControllerRevision } from '../../shared/kube/daemonsets/daemonset-types.js';
import {
  PAST_ROLLOUT_LABEL,
  type Rollout,
  type RolloutPhase,
} from '../../shared/kube/rollouts/rollout-types.js';
import { useScopedList } from '../api/namespace-choice.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { NotAllowed } from '../layout/not-allowed.js';
import { Page } from '../layout/shell/page.js';
import { rolloutStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { namespaceFlag } from '../layout/text/shell-words.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { t } from '../texts/translate.js';
import { rolloutVersions } from './rollout-versions.js';
import { WaveBar } from './wave-bar.js';

/** Sort order: rollouts that need an operator first, finished ones last. */
const ORDER: readonly RolloutPhase[] = [
  'Failed',
  'AwaitingApproval',
  'Paused',
  'Frozen',
  'Progressing',
  'Soaking',
  'AwaitingWindow',
  'AwaitingHosts',
  'RolledBack',
  'Completed',
];

export function RolloutsPage() {
  const { objects, phase, namespace } = useScopedList<Rollout>('/apis/fleet.everynode.dev/v1', 'rollouts');
  const { objects: revisions } = useScopedList<ControllerRevision>('/apis/apps/v1', 'controllerrevisions');
  // Past rollouts are shown on the page of the current one.
  const present = objects.filter(({ metadata }) => metadata.labels?.[PAST_ROLLOUT_LABEL] === undefined);
  const rollouts = present.sort((a, b) => rank(a) - rank(b) || (nameOf(a) < nameOf(b) ? -1 : 1));
  return (
    <Page title="Rollouts">
      <h1>{t('Rollouts')}</h1>
      {phase === 'loading' && <p role="status">Loading rollouts…</p>}
      {phase === 'refused' && (
        <NotAllowed
          what="rollouts"
          resource="rollouts.fleet.everynode.dev"
          namespace={namespace}
          isNamespaced
        />
      )}
      {phase === 'live' && rollouts.length === 0 && (
        <p className={controls.card}>
          No rollouts. A DaemonSet that is selected by a <code>RolloutPolicy</code> gets one with its next
          change. Other DaemonSets are updated like in Kubernetes.
        </p>
      )}
      {rollouts.length > 0 && (
        <ListTable wraps label="Rollouts" columns={['DaemonSet', 'State', 'Version', 'Progress', 'Started']}>
          {rollouts.map((rollout) => (
            <Row key={nameOf(rollout)} rollout={rollout} version={rolloutVersions(rollout, revisions)} />
          ))}
        </ListTable>
      )}
      <CopyCommand text={`kubectl get rollouts ${namespaceFlag(namespace)}`} />
    </Page>
  );
}

function Row({ rollout, version }: { rollout: Rollout; version: string }) {
  const { namespace = '', name } = rollout.metadata;
  const { status } = rollout;
  return (
    <tr>
      <td>
        <Link href={`/rollouts/${namespace}/${name}`}>{nameOf(rollout)}</Link>
      </td>
      <td>
        <StatusBadge status={rolloutStatus(status?.phase)} />
      </td>
      <td>{version}</td>
      <td>{status && <WaveBar counts={status} />}</td>
      <td>{status && <RelativeTime at={status.startTime} />}</td>
    </tr>
  );
}

function nameOf({ metadata }: Rollout): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function rank({ status }: Rollout): number {
  return status ? ORDER.indexOf(status.phase) : ORDER.length;
}
