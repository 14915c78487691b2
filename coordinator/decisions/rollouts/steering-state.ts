/** The sum of all requests of operators to a rollout. `judgeRollout` applies it. */
import type { SteeringStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import {
  ALL_TARGETS,
  type SteeringRequest,
  type SteeringVerb,
} from '../../../shared/kube/rollouts/steering-requests.js';

/** Number of requests that the status keeps for display. */
const KEPT_REQUESTS = 20;

export const NO_STEERING: SteeringStatus = { handled: 0 };

type Named = 'approved' | 'promoted' | 'skipped' | 'overridden' | 'forced';

/** Verbs that add names to a list. */
const LISTS: Partial<Record<SteeringVerb, Named>> = {
  approve: 'approved',
  promote: 'promoted',
  skip: 'skipped',
  'override-windows': 'overridden',
  'override-locks': 'forced',
};

/** Verbs that apply to any revision. All others apply to the revision that was current when the operator asked. */
const ANY_REVISION: ReadonlySet<SteeringVerb> = new Set(['pause', 'freeze', 'resume']);

/** Returns true if the list has this name, or `*`. */
export function isListed(names: readonly string[] | undefined, name: string): boolean {
  return names !== undefined && (names.includes(name) || names.includes(ALL_TARGETS));
}

/** Returns what also applies to the next revision: a pause, a freeze, and the log of requests. */
export function forNextRevision({ handled, requests, paused, frozen }: SteeringStatus): SteeringStatus {
  return {
    handled,
    ...(requests ? { requests } : {}),
    ...(paused ? { paused } : {}),
    ...(frozen ? { frozen } : {}),
  };
}

/** Returns requests that are not in `steering` yet, oldest first. */
export function newRequests(
  { handled }: SteeringStatus,
  requests: readonly SteeringRequest[] = [],
): SteeringRequest[] {
  return requests.filter(({ id }) => id > handled);
}

/** Returns true if the request applies to the current revision. A request for another revision is only logged. */
export function appliesTo({ verb, revision }: SteeringRequest, current: string): boolean {
  return ANY_REVISION.has(verb) || revision === undefined || revision === current;
}

/** Logs the request. Applies it if it applies to the revision. */
export function withRequest(
  steering: SteeringStatus,
  request: SteeringRequest,
  revision: string,
): SteeringStatus {
  const requests = [...(steering.requests ?? []), request].slice(-KEPT_REQUESTS);
  const recorded = { ...steering, handled: request.id, requests };
  return appliesTo(request, revision) ? obeyed(recorded, request) : recorded;
}

function obeyed(steering: SteeringStatus, { verb, targets = [] }: SteeringRequest): SteeringStatus {
  const list = LISTS[verb];
  if (list) return { ...steering, [list]: [...new Set([...(steering[list] ?? []), ...targets])] };
  const { paused: _paused, frozen: _frozen, ...going } = steering;
  switch (verb) {
    case 'pause':
      return { ...steering, paused: true };
    case 'freeze':
      return { ...steering, frozen: true };
    case 'resume':
      return going;
    case 'unskip': {
      const { skipped = [], ...others } = steering;
      const left = targets.includes(ALL_TARGETS) ? [] : skipped.filter((name) => !targets.includes(name));
      return left.length > 0 ? { ...others, skipped: left } : others;
    }
    default:
      return steering;
  }
}

/**
 * Returns the author and reason of the last request with this verb, like ` by ann: stock-taking`. "" if there is none.
 */
export function lastRequestText({ requests = [] }: SteeringStatus, verb: SteeringVerb): string {
  const request = requests.findLast((one) => one.verb === verb);
  return request ? ` by ${request.user}${request.reason ? `: ${request.reason}` : ''}` : '';
}
