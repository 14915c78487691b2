/** Actions on rollouts. They are sent as annotations, which kubectl can set as well. */
import { countText } from '../../shared/kube/objects/meta.js';
import { UPDATE_BLOCK_CODES, type UpdateBlockCode } from '../../shared/kube/rollouts/rollout-reason-codes.js';
import type { Rollout, RolloutPhase, RolloutStatus } from '../../shared/kube/rollouts/rollout-types.js';
import {
  ALL_TARGETS,
  NEEDS_REASON,
  REASON_ANNOTATION,
  type SteeringVerb,
  steeringAnnotation,
} from '../../shared/kube/rollouts/steering-requests.js';
import { requestApi } from '../api/api-call.js';

/** An action that is possible now. */
export interface RolloutAction {
  verb: SteeringVerb;
  /** Value of the annotation: a wave or a node. "true" for actions on the whole rollout. */
  value: string;
  label: string;
  /** The effect, with the number of affected hosts. */
  consequence: string;
  needsReason: boolean;
}

export const ROLLOUTS = '/apis/fleet.everynode.dev/v1/rollouts';

export function rolloutPath(namespace: string, name: string): string {
  return `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/rollouts/${name}`;
}

export function policiesPath(namespace: string): string {
  return `/apis/fleet.everynode.dev/v1/namespaces/${namespace}/rolloutpolicies`;
}

const OVER: ReadonlySet<RolloutPhase> = new Set(['Completed', 'RolledBack']);

/** Returns the possible actions for a rollout's state, most likely first. Pure. */
export function actionsOfRollout(status: RolloutStatus): RolloutAction[] {
  const { phase, steering, aborted } = status;
  const isBlocked = steering?.paused === true || steering?.frozen === true;
  const left = status.nodes - status.updated - status.failed - status.skipped;
  const updated = status.updated + status.failed;
  const locked = status.codes?.UpdateLocked ?? 0;
  const actions: (RolloutAction | false)[] = [
    phase === 'AwaitingApproval' && approval(status),
    (phase === 'Soaking' || phase === 'AwaitingHosts') && promotion(status),
    (status.outsideWindow ?? 0) > 0 &&
      !isBlocked &&
      action(
        'override-windows',
        ALL_TARGETS,
        'Override windows',
        `Windows and freeze periods no longer block ${hosts(status.outsideWindow)}, or any other host, until the template changes.`,
      ),
    locked > 0 &&
      action(
        'override-locks',
        ALL_TARGETS,
        'Override locks',
        `${hosts(locked, 'with a local update lock is', 'with local update locks are')} updated anyway.`,
      ),
    isBlocked && action('resume', 'true', 'Resume', `${hosts(left)} may be updated again, wave by wave.`),
    !isBlocked &&
      !OVER.has(phase) &&
      phase !== 'Failed' &&
      action(
        'pause',
        'true',
        'Pause',
        `No further Pod is replaced; ${hosts(left, 'keeps its current Pod', 'keep their current Pods')}. New hosts still get Pods.`,
      ),
    !isBlocked &&
      !OVER.has(phase) &&
      action(
        'freeze',
        'true',
        'Freeze',
        `No Pod of this DaemonSet is created, replaced or deleted on any of ${hosts(status.nodes)}.`,
      ),
    !OVER.has(phase) &&
      !aborted &&
      action(
        'abort',
        'true',
        'Abort',
        `${hosts(updated, 'with the new revision is', 'with the new revision are')} reverted to the last completed one. The new revision is barred.`,
      ),
    (phase === 'Failed' || phase === 'RolledBack' || aborted === true) &&
      action(
        'retry',
        'true',
        'Try again',
        `The failed revision is rolled out again from the first wave, to up to ${hosts(status.nodes)}.`,
      ),
  ];
  return actions.filter((each) => each !== false);
}

/** Block codes of hosts that are not updated in this rollout any further. With other codes the update is pending. */
const NOT_PENDING: ReadonlySet<UpdateBlockCode> = new Set(['Reverted', 'RolloutFailed', 'Skipped']);
const PENDING: ReadonlySet<string> = new Set(UPDATE_BLOCK_CODES.filter((code) => !NOT_PENDING.has(code)));

/** Returns the possible actions for a host, by its reason code. Pure. */
export function actionsOfHost(code: string, node: string): RolloutAction[] {
  const actions: (RolloutAction | false)[] = [
    code === 'OutsideWindow' &&
      action(
        'override-windows',
        node,
        `Override windows of ${node}`,
        `Windows and freeze periods do not block ${node} until the template changes.`,
      ),
    code === 'UpdateLocked' &&
      action('override-locks', node, `Force ${node}`, `${node} is updated despite its local update lock.`),
    PENDING.has(code) &&
      action('skip', node, `Skip ${node}`, `${node} keeps its current revision during this rollout.`),
    code === 'Skipped' &&
      action('unskip', node, `Include ${node} again`, `${node} is updated like other hosts.`),
  ];
  return actions.filter((each) => each !== false);
}

function promotion({ waves, wave, phase }: RolloutStatus): RolloutAction {
  const next = nextWave({ waves, wave });
  const then = next
    ? `wave ${next.name} may open: ${hosts(next.nodes, 'is updated', 'are updated')}.`
    : 'there is no further wave.';
  const first =
    phase === 'Soaking' ? `The soak time of wave ${wave} ends` : `No host of wave ${wave} has been updated`;
  return action('promote', wave, `Promote ${wave}`, `${first}; ${then}`);
}

function approval(status: RolloutStatus): RolloutAction | false {
  const next = nextWave(status);
  if (!next) return false;
  return action(
    'approve',
    next.name,
    `Approve ${next.name}`,
    `Wave ${next.name} opens: ${hosts(next.nodes, 'is updated', 'are updated')}.`,
  );
}

function nextWave({ waves, wave }: Pick<RolloutStatus, 'waves' | 'wave'>) {
  return waves[waves.findIndex(({ name }) => name === wave) + 1];
}

function action(verb: SteeringVerb, value: string, label: string, consequence: string): RolloutAction {
  return { verb, value, label, consequence, needsReason: NEEDS_REASON.has(verb) };
}

/** `one` and `many` follow the noun. */
function hosts(count: number, one = '', many = one): string {
  return countText(count, `host ${one}`, `hosts ${many}`).trimEnd();
}

/** Sends the action. Rejects with `ApiCallError`. */
export async function sendRolloutAction(
  rollout: Rollout,
  { verb, value }: RolloutAction,
  reason: string,
): Promise<void> {
  const { namespace = '', name } = rollout.metadata;
  const annotations = {
    [steeringAnnotation(verb)]: value,
    ...(reason ? { [REASON_ANNOTATION]: reason } : {}),
  };
  await requestApi(rolloutPath(namespace, name), {
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    body: { metadata: { annotations } },
  });
}

export function rolloutActionCommand(rollout: Rollout, { verb, value, needsReason }: RolloutAction): string {
  const { namespace = '', name } = rollout.metadata;
  const reason = needsReason ? ` ${REASON_ANNOTATION}='…'` : '';
  return `kubectl -n ${namespace} annotate rollout ${name} ${steeringAnnotation(verb)}=${value}${reason}`;
}
