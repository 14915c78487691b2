/** What whoever steers a rollout is to know of what they asked: recorded it is in any case, and may yet do nothing. Warnings in words. Pure. */
import type { Rollout, RolloutPhase, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { ALL_TARGETS, type SteeringRequest } from '../../../shared/kube/rollouts/steering-requests.js';

const OVER: ReadonlySet<RolloutPhase> = new Set(['Completed', 'Failed', 'RolledBack']);

/** Of the requests that the controller has yet to take in. */
export function steeringWarnings({ spec, status }: Rollout): string[] {
  if (!status) return [];
  const handled = status.steering?.handled ?? 0;
  return (spec?.requests ?? [])
    .filter(({ id }) => id > handled)
    .flatMap((request, index, waiting) => {
      const before = waiting.slice(0, index);
      return policyWarnings(request, status, before).map((text) => `${request.verb}: ${text}`);
    });
}

/** `before`: requests that will have been taken in by then. */
function policyWarnings(
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
      if (steering?.paused) return ['it is paused already'];
      return (phase === 'Completed' && status.caughtUp) || phase === 'RolledBack'
        ? [`revision ${revision} is ${phase}: the next one will be paused`]
        : [];
    case 'freeze':
      return steering?.frozen ? ['it is frozen already'] : [];
    case 'resume':
      if (steering?.paused || steering?.frozen) return [];
      return phase === 'Paused' || phase === 'Frozen'
        ? [`RolloutPolicy ${policy} holds it, by spec.paused or spec.frozen`]
        : ['it is neither paused nor frozen'];
    case 'abort':
      if (status.aborted) return ['it was aborted already'];
      if (stableRevision === undefined || stableRevision === revision)
        return ['there is no earlier revision to go back to: hosts keep what they have'];
      return phase === 'Completed'
        ? [`revision ${revision} was completed: its hosts go back to revision ${stableRevision} all the same`]
        : [];
    case 'retry':
      return status.failure === undefined ? [`revision ${revision} has not failed: nothing begins anew`] : [];
    case 'unskip':
      return named
        .filter((name) => !steering?.skipped?.includes(name))
        .filter((name) => !before.some((one) => one.verb === 'skip' && one.targets?.includes(name)))
        .map((name) => `${name} was not skipped by its name`);
    default:
      return [];
  }
}

function waveWarnings(verb: 'approve' | 'promote', name: string, { waves, wave }: RolloutStatus): string[] {
  const indexOf = (wanted: string) => waves.findIndex((one) => one.name === wanted);
  const ahead = indexOf(name) - indexOf(wave);
  if (verb === 'approve') return ahead > 0 ? [] : [`wave ${name} is open already`];
  if (ahead === 0) return [];
  return ahead < 0
    ? [`wave ${name} has been left already`]
    : [`wave ${name} is not open yet: it will not be watched when it is`];
}
