/** Warnings for steering requests that are valid but have no effect, or not the expected one. */
import type { Rollout, RolloutPhase, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { ALL_TARGETS, type SteeringRequest } from '../../../shared/kube/rollouts/steering-requests.js';

const OVER: ReadonlySet<RolloutPhase> = new Set(['Completed', 'Failed', 'RolledBack']);

/** Returns warnings for the requests that the controller has not handled yet. */
export function steeringWarnings({ spec, status }: Rollout): string[] {
  if (!status) return [];
  const handled = status.steering?.handled ?? 0;
  return (spec?.requests ?? [])
    .filter(({ id }) => id > handled)
    .flatMap((request, index, waiting) => {
      const before = waiting.slice(0, index);
      return requestWarnings(request, status, before).map((text) => `${request.verb}: ${text}`);
    });
}

/** `before`: earlier requests, which the controller handles first. */
function requestWarnings(
  { verb, targets = [] }: SteeringRequest,
  status: RolloutStatus,
  before: readonly SteeringRequest[],
): string[] {
  const { revision, phase, steering, policy, stableRevision } = status;
  const named = targets.filter((name) => name !== ALL_TARGETS);
  switch (verb) {
    case 'approve':
    case 'promote':
      return OVER.has(phase)
        ? [`revision ${revision} is ${phase}: no wave opens`]
        : named.flatMap((name) => waveWarnings(verb, name, status));
    case 'pause':
      if (steering?.paused) return ['the rollout is already paused'];
      return (phase === 'Completed' && status.caughtUp) || phase === 'RolledBack'
        ? [`revision ${revision} is ${phase}: the next revision will be paused`]
        : [];
    case 'freeze':
      return steering?.frozen ? ['the rollout is already frozen'] : [];
    case 'resume':
      if (steering?.paused || steering?.frozen) return [];
      return phase === 'Paused' || phase === 'Frozen'
        ? [`RolloutPolicy ${policy} pauses or freezes the rollout (spec.paused, spec.frozen)`]
        : ['the rollout is neither paused nor frozen'];
    case 'abort':
      if (status.aborted) return ['the rollout was already aborted'];
      if (stableRevision === undefined || stableRevision === revision)
        return ['there is no earlier revision to roll back to: hosts keep their current Pods'];
      return phase === 'Completed'
        ? [
            `revision ${revision} is already completed: its hosts still roll back to revision ${stableRevision}`,
          ]
        : [];
    case 'retry':
      return status.failure === undefined
        ? [`revision ${revision} has not failed: there is nothing to retry`]
        : [];
    case 'unskip':
      return named
        .filter((name) => !steering?.skipped?.includes(name))
        .filter((name) => !before.some((one) => one.verb === 'skip' && one.targets?.includes(name)))
        .map((name) => `${name} was not skipped by name`);
    default:
      return [];
  }
}

function waveWarnings(verb: 'approve' | 'promote', name: string, { waves, wave }: RolloutStatus): string[] {
  const indexOf = (wanted: string) => waves.findIndex((one) => one.name === wanted);
  const ahead = indexOf(name) - indexOf(wave);
  if (verb === 'approve') return ahead > 0 ? [] : [`wave ${name} is already open`];
  if (ahead === 0) return [];
  return ahead < 0
    ? [`the rollout has already passed wave ${name}`]
    : [`wave ${name} is not open yet: the rollout will not wait for it once it opens`];
}
