/** Chooses the Pods that end so that a critical Pod can start (pkg/kubelet/preemption/preemption.go). */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { type Amounts, podRequests } from '../../../shared/kube/pods/pod-requests.js';
import { qualityOfService } from '../../../shared/kube/pods/quality-of-service.js';
import { isCritical, isPreemptable, type PodOfHost, priorityOf } from './pod-priority.js';

/** Amount of one resource to free: millicores of `cpu`, whole units of others, number of `pods`. */
export interface Requirement {
  resource: string;
  quantity: number;
}

/** The chosen Pods; or the requirements that remain even if all preemptable Pods ended. */
type PreemptionChoice<P> = { kind: 'victims'; pods: P[] } | { kind: 'unmet'; requirements: Requirement[] };

interface Candidate<P> {
  of: P;
  requests: Amounts;
}

/**
 * Returns a set of Pods that frees the requirements, none of which could stay. Pods of lower priority end first, then
 * BestEffort before Burstable before Guaranteed. Within such a group as few Pods as possible end, with small requests.
 */
export function podsToPreempt<P extends PodOfHost>(
  preemptor: PodOfHost,
  pods: readonly P[],
  requirements: readonly Requirement[],
): PreemptionChoice<P> {
  const groups = groupsOf(pods.filter((pod) => isPreemptable(preemptor, pod)));
  const unmet = remaining(requirements, groups.flat());
  if (unmet.length > 0) return { kind: 'unmet', requirements: unmet };
  let chosen: Candidate<P>[] = [];
  // The most important group first: it loses only what all groups below together cannot free.
  for (let index = groups.length - 1; index >= 0; index -= 1) {
    const rest = remaining(requirements, [...groups.slice(0, index).flat(), ...chosen]);
    chosen = [...chosen, ...nearest(groups[index] ?? [], rest)];
  }
  return { kind: 'victims', pods: withoutSuperfluous(chosen, requirements).map(({ of }) => of) };
}

/** Returns the requirements that remain after these Pods ended. */
export function remaining(
  requirements: readonly Requirement[],
  pods: readonly Pick<Candidate<unknown>, 'requests'>[],
): Requirement[] {
  return requirements
    .map(({ resource, quantity }) => ({
      resource,
      quantity: pods.reduce((left, { requests }) => left - requested(requests, resource), quantity),
    }))
    .filter(({ quantity }) => quantity > 0);
}

/** Returns how far the Pod's requests are from the requirements: per resource 0 to 1, squared, and added. */
export function distance(requirements: readonly Requirement[], requests: Amounts): number {
  return requirements.reduce((sum, { resource, quantity }) => {
    const missing = Math.max(quantity - requested(requests, resource), 0);
    return sum + (missing / quantity) ** 2;
  }, 0);
}

/** Like the kubelet's log and error texts. */
export function requirementsText(requirements: readonly Requirement[]): string {
  return `[${requirements.map(({ resource, quantity }) => `(res: ${resource}, q: ${quantity}), `).join('')}]`;
}

function requested(requests: Amounts, resource: string): number {
  return resource === 'pods' ? 1 : (ownValue(requests, resource) ?? 0);
}

const QUALITY = { BestEffort: 0, Burstable: 1, Guaranteed: 2 };

/** Returns groups of equally important Pods, the least important group first. */
function groupsOf<P extends PodOfHost>(pods: readonly P[]): Candidate<P>[][] {
  const ranked = pods.map((of) => ({
    candidate: { of, requests: podRequests(of.pod.spec) },
    rank: [
      Number(isCritical(of.pod, of.isStatic)),
      priorityOf(of.pod.spec) ?? 0,
      QUALITY[qualityOfService(of.pod.spec)],
    ],
  }));
  const byRank = new Map<string, { rank: number[]; members: Candidate<P>[] }>();
  for (const { candidate, rank } of ranked) {
    const group = byRank.get(rank.join()) ?? { rank, members: [] };
    group.members.push(candidate);
    byRank.set(rank.join(), group);
  }
  return [...byRank.values()]
    .sort((a, b) => a.rank.map((each, index) => each - (b.rank[index] ?? 0)).find((by) => by !== 0) ?? 0)
    .map(({ members }) => members);
}

/** Returns the Pods that are closest to the requirements, one after another, until nothing remains. */
function nearest<P>(group: readonly Candidate<P>[], requirements: readonly Requirement[]): Candidate<P>[] {
  const chosen: Candidate<P>[] = [];
  const left = [...group];
  let rest = [...requirements];
  while (rest.length > 0 && left.length > 0) {
    const best = left.reduce((one, other) => (isNearer(rest, other, one) ? other : one));
    left.splice(left.indexOf(best), 1);
    chosen.push(best);
    rest = remaining(rest, [best]);
  }
  return chosen;
}

/** Returns true if `one` should end rather than `other`; at the same distance the smaller memory, then CPU request. */
function isNearer<P>(requirements: readonly Requirement[], one: Candidate<P>, other: Candidate<P>): boolean {
  const by = distance(requirements, one.requests) - distance(requirements, other.requests);
  const differences = ['memory', 'cpu'].map(
    (resource) => requested(one.requests, resource) - requested(other.requests, resource),
  );
  return ([by, ...differences].find((difference) => difference !== 0) ?? 0) <= 0;
}

/** Drops Pods that the later choices made superfluous, the most important first. Upstream keeps them. */
function withoutSuperfluous<P>(
  chosen: readonly Candidate<P>[],
  requirements: readonly Requirement[],
): Candidate<P>[] {
  return chosen.reduce<Candidate<P>[]>(
    (kept, each) => {
      const others = kept.filter((other) => other !== each);
      return remaining(requirements, others).length === 0 ? others : kept;
    },
    [...chosen],
  );
}
