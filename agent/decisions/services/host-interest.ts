/**
 * Which Services a host asks the hub for, and for how long. A Pod that asks for random names must fill neither memory
 * nor the link.
 */
import { isEndpointKey, type ServiceView } from '../../../shared/kube/services/service-view.js';

/** A Service that no Pod has looked up for this long is not sent any longer. */
const INTEREST_MS = 3_600_000;
/** An absence is confirmed with the hub again after this time, in case a notification was lost. */
const ABSENCE_MS = 30_000;
/** Absences are forgotten when no Pod has looked them up for this long. */
const ABSENCE_INTEREST_MS = 600_000;
/** Limit of all Services in memory. */
export const MAX_SERVICES = 2_000;
/** Limit of single endpoints in memory. The one that was looked up least recently is dropped for a new one. */
export const MAX_SINGLE_ENDPOINTS = 2_000;
/**
 * Limit of names of Services without a view, and of those of single endpoints. The one that was looked up least recently
 * is dropped for a new one.
 */
export const MAX_NAMES_WITHOUT_VIEW = 256;

/** `requested`: the hub has not answered yet. Times in ms by the host's clock. */
export type ServiceKnowledge =
  | { state: 'requested' }
  | { state: 'absent'; confirmedAt: number }
  | { state: 'known'; view: ServiceView };

export interface LookupFacts {
  /** True if the hub can be asked. */
  isLive: boolean;
  /** True if the limits permit one more request. */
  mayRequest: boolean;
  /** True if the hub reported that the namespace does not exist, and whether that report is recent. */
  namespaceAbsence: 'none' | 'recent' | 'old';
  /** True if this host has Pods or views in the namespace. */
  isNamespaceUsed: () => boolean;
  now: number;
}

/**
 * What a lookup does. `refresh`: answers with the absence, and asks the hub again. `request`: asks the hub and waits.
 * `wait`: the hub was already asked.
 */
export type LookupStep = 'answer' | 'absent' | 'refresh' | 'request' | 'wait' | 'unknown';

/** Returns the step of a lookup. `known` is undefined for a name that was never looked up. */
export function lookupStep(known: ServiceKnowledge | undefined, facts: LookupFacts): LookupStep {
  switch (known?.state) {
    case 'known':
      return 'answer';
    case 'absent':
      return facts.isLive && facts.now - known.confirmedAt > ABSENCE_MS ? 'refresh' : 'absent';
    case 'requested':
      return facts.isLive ? 'wait' : offlineStep(facts);
    case undefined:
      if (facts.namespaceAbsence === 'recent') return 'absent';
      if (!facts.isLive) return offlineStep(facts);
      return facts.mayRequest ? 'request' : 'unknown';
  }
}

/**
 * Without the hub, a name in a namespace of which this host has nothing is most likely an external name with a suffix of
 * the search list. "Absent" lets the resolver try the next suffix. musl's resolver would stop at a failure.
 */
function offlineStep({ namespaceAbsence, isNamespaceUsed }: LookupFacts): LookupStep {
  return namespaceAbsence !== 'none' || !isNamespaceUsed() ? 'absent' : 'unknown';
}

/** Returns whether a reported absence of a namespace is recent enough to answer without the hub. */
export function namespaceAbsence(
  confirmedAt: number | undefined,
  isLive: boolean,
  now: number,
): LookupFacts['namespaceAbsence'] {
  if (confirmedAt === undefined) return 'none';
  return !isLive || now - confirmedAt <= ABSENCE_MS ? 'recent' : 'old';
}

/** What the interest in a Service depends on. */
interface ServiceUse {
  /** When a Pod last looked the Service up; when its view arrived, if none did. */
  lastUsedAt: number;
  knowledge: ServiceKnowledge;
}

/**
 * Returns true if this host no longer needs the Service. A Pod may keep a ClusterIP as long as it runs, without another
 * lookup. So the rules of a ClusterIP stay while a Pod runs that was there at the last lookup. Must not be asked while
 * the hub is unreachable. `oldestPodAt`: when the oldest Pod was assigned; undefined: there is none.
 */
export function isInterestOver(
  { lastUsedAt, knowledge }: ServiceUse,
  oldestPodAt: number | undefined,
  now: number,
): boolean {
  const unusedMs = now - lastUsedAt;
  if (knowledge.state !== 'known') return unusedMs > ABSENCE_INTEREST_MS;
  const { view } = knowledge;
  if (isNeededByHost(view)) return false;
  const mayHoldAddress = oldestPodAt !== undefined && oldestPodAt <= lastUsedAt;
  return unusedMs > INTEREST_MS && !(view.addressing.type === 'clusterIP' && mayHoldAddress);
}

/** Returns true for a Service that the host itself serves to clients elsewhere. */
function isNeededByHost({ ports, relayPorts }: ServiceView): boolean {
  return relayPorts !== undefined || ports.some(({ nodePort }) => nodePort > 0);
}

/**
 * Returns the name that has to leave before `added` is stored; undefined if no limit is reached. Services and single
 * endpoints have limits of their own, so that names of endpoints never displace a Service.
 */
export function nameToDrop(
  names: Iterable<[key: string, use: ServiceUse]>,
  added: string,
): string | undefined {
  const isEndpoint = isEndpointKey(added);
  const alike = [...names].filter(([key]) => isEndpointKey(key) === isEndpoint);
  const absent = alike.filter(([, { knowledge }]) => knowledge.state !== 'known');
  if (absent.length >= MAX_NAMES_WITHOUT_VIEW) return leastRecent(absent);
  return isEndpoint && alike.length >= MAX_SINGLE_ENDPOINTS ? leastRecent(alike) : undefined;
}

function leastRecent(names: [key: string, use: ServiceUse][]): string | undefined {
  const [oldest] = names.sort(([, one], [, other]) => one.lastUsedAt - other.lastUsedAt);
  return oldest?.[0];
}

/** Requests of new names that a host may send at once, and per second. */
const BURST = 100;
const PER_SECOND = 10;

/** Limits requests of new names. Pure: each call returns the next state, or undefined if the limit is reached. */
export interface RequestBudget {
  tokens: number;
  at: number;
}

export const FULL_BUDGET: RequestBudget = { tokens: BURST, at: 0 };

/** Returns the budget after one request at `now`, ms of a monotonic clock; undefined if the request must not be sent. */
export function afterRequest({ tokens, at }: RequestBudget, now: number): RequestBudget | undefined {
  const refilled = Math.min(BURST, tokens + (Math.max(now - at, 0) * PER_SECOND) / 1000);
  return refilled < 1 ? undefined : { tokens: refilled - 1, at: now };
}
