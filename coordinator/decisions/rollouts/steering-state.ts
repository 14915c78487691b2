/** What people have asked of a rollout, summed up. Pure; `rolloutStep` obeys it. */
import type { SteeringStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import {
  ALL_TARGETS,
  type SteeringRequest,
  type SteeringVerb,
} from '../../../shared/kube/rollouts/steering-requests.js';

/** So many requests are kept to be read. */
const KEPT_REQUESTS = 20;

/** Nothing was asked. */
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

/** These concern the DaemonSet, whatever revision is on its way; all others the revision that their author saw. */
const ANY_REVISION: ReadonlySet<SteeringVerb> = new Set(['pause', 'freeze', 'resume']);

/** Whether a list of names has this one, or all. */
export function isListed(names: readonly string[] | undefined, name: string): boolean {
  return names !== undefined && (names.includes(name) || names.includes(ALL_TARGETS));
}

/** What holds on for the next revision: a pause, a freeze, and the record. */
export function forNextRevision({ handled, requests, paused, frozen }: SteeringStatus): SteeringStatus {
  return {
    handled,
    ...(requests ? { requests } : {}),
    ...(paused ? { paused } : {}),
    ...(frozen ? { frozen } : {}),
  };
}

/** Requests that are new to `steering`, oldest first. */
export function newRequests(
  { handled }: SteeringStatus,
  requests: readonly SteeringRequest[] = [],
): SteeringRequest[] {
  return requests.filter(({ id }) => id > handled);
}

/** Whether a request is about the revision that is on its way: what was asked of another is not done to this one. */
export function appliesTo({ verb, revision }: SteeringRequest, current: string): boolean {
  return ANY_REVISION.has(verb) || revision === undefined || revision === current;
}

/** `steering` with one more request in it, in the record in any case, in force if it `concerns` the revision. */
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

/** Who asked for this last, and why, for a message: `by ann: stock-taking`; "" when nobody did. */
export function lastRequestText({ requests = [] }: SteeringStatus, verb: SteeringVerb): string {
  const request = requests.findLast((one) => one.verb === verb);
  return request ? ` by ${request.user}${request.reason ? `: ${request.reason}` : ''}` : '';
}
