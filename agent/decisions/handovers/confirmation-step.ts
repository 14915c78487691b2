/** Decides on this host alone whether a handover's successor is confirmed, may still prove itself, or is reverted. */
import type { RevertReason } from '../../../shared/kube/handovers/host-handover.js';
import type { Confirming } from './handover-record.js';

/**
 * State of the link to the coordinator. `answered`: the coordinator, or a proxy in front of it, responded, so the
 * network works. `refused`: a machine or a firewall refused the connection. `heardAt`: last bytes from the coordinator;
 * a cut link may look live for a while. Times in ms by the host's clock.
 */
export type LinkEvidence =
  | { state: 'live'; heardAt: number }
  | { state: 'lost'; since: number; lastTry: 'answered' | 'refused' | 'unreachable' };

/** A suspension of this process of `ms` until then, by a signal or by lack of CPU time. */
export interface Suspension {
  until: number;
  ms: number;
}

/** Inputs of the decision. Times in ms by the host's clock. */
export interface ConfirmationFacts {
  handover: Pick<Confirming, 'linkWasLive' | 'confirmSeconds'>;
  /** When the Pod could start because its predecessor was gone; undefined: not yet. */
  startableAt: number | undefined;
  isReady: boolean;
  link: LinkEvidence;
  /** When this agent and its engine came up. Earlier time does not count against the Pod. */
  upSince: number;
  /** Suspensions of this process, oldest first; they extend the Pod's deadlines. */
  suspensions: readonly Suspension[];
  /** When the coordinator was first pinged on this Pod's behalf; absent: not on this connection. */
  pingedAt?: number | undefined;
  now: number;
}

/** `pingedAt`: ping the coordinator now; the time of the first ping. */
type ConfirmationStep =
  | { kind: 'wait'; until?: number; pingedAt?: number }
  | { kind: 'confirm' }
  | { kind: 'revert'; reason: RevertReason; message: string };

/** Timeout for the coordinator's answer to a ping. */
export const PONG_TIMEOUT_MS = 5_000;
const POLL_INTERVAL_MS = 1_000;
/** Least time for a reconnect, because reconnects are spread over up to a minute. */
export const RECONNECT_TIMEOUT_MS = 90_000;
/** Factor of the timeouts after a refused connection, which may only mean that the coordinator restarts. */
const REFUSED_FACTOR = 3;

/**
 * A Pod is confirmed if it is ready at its deadline and the coordinator answered since, or was unreachable when the
 * handover started. It is reverted for a lost link only if the link was live before and the network seems cut. While
 * the coordinator answers but rejects this host, nothing is decided. A confirmed Pod is never checked again.
 */
export function confirmationStep(facts: ConfirmationFacts): ConfirmationStep {
  const { handover, startableAt, isReady, link, upSince, suspensions, now } = facts;
  if (startableAt === undefined) return { kind: 'wait' };
  const confirmMs = handover.confirmSeconds * 1000;
  // If the clock was set back, `startableAt` lies in the future; then the time counts from the agent's start.
  const from = startableAt > now ? upSince : Math.max(startableAt, upSince);
  const end = awakeUntil(suspensions, from, confirmMs);
  if (now < end) return { kind: 'wait', until: end };
  if (!isReady) {
    const message = `not ready within ${handover.confirmSeconds} s`;
    return { kind: 'revert', reason: 'NotReady', message };
  }
  if (!handover.linkWasLive) return { kind: 'confirm' };
  if (link.state === 'lost') return lostStep(link, end, confirmMs, now);
  return liveStep(link.heardAt, facts, end, confirmMs);
}

/** Returns when this process has been awake for `ms` since then. */
function awakeUntil(suspensions: readonly Suspension[], since: number, ms: number): number {
  return suspensions.reduce((end, suspension) => {
    const isOver = suspension.until - suspension.ms >= end || suspension.until <= since;
    return isOver ? end : end + Math.min(suspension.ms, suspension.until - since);
  }, since + ms);
}

/** The timeout counts from the ping, because this process may have been suspended at the deadline and long after it. */
function liveStep(
  heardAt: number,
  { pingedAt, suspensions, now }: Pick<ConfirmationFacts, 'pingedAt' | 'suspensions' | 'now'>,
  end: number,
  confirmMs: number,
): ConfirmationStep {
  if (heardAt >= end) return { kind: 'confirm' };
  // Ignore pings from before the deadline, and from before the clock was set back.
  const asked = pingedAt !== undefined && pingedAt >= end && pingedAt <= now ? pingedAt : now;
  if (now < awakeUntil(suspensions, asked, PONG_TIMEOUT_MS))
    return { kind: 'wait', until: now + POLL_INTERVAL_MS, pingedAt: asked };
  return lostStep({ since: heardAt, lastTry: 'unreachable' }, end, confirmMs, now);
}

function lostStep(
  { since, lastTry }: Pick<LinkEvidence & { state: 'lost' }, 'since' | 'lastTry'>,
  end: number,
  confirmMs: number,
  now: number,
): ConfirmationStep {
  if (lastTry === 'answered') return { kind: 'wait' };
  const factor = lastTry === 'refused' ? REFUSED_FACTOR : 1;
  const linkEnd = Math.max(
    end + (factor - 1) * confirmMs,
    since + factor * Math.min(confirmMs, RECONNECT_TIMEOUT_MS),
  );
  if (now < linkEnd) return { kind: 'wait', until: linkEnd };
  const message = `the link to the coordinator broke after the Pod started and did not return within ${confirmMs / 1000} s`;
  return { kind: 'revert', reason: 'LinkLost', message };
}

/**
 * Classifies broken or failed connections by the link's reason texts, one for each address that was tried. One answer
 * of any coordinator proves that the network works.
 */
export function linkEvidenceOf(reasons: readonly string[]): 'answered' | 'refused' | 'unreachable' {
  const evidence = reasons.map(evidenceOfReason);
  if (evidence.includes('answered')) return 'answered';
  return evidence.includes('refused') ? 'refused' : 'unreachable';
}

function evidenceOfReason(reason: string): 'answered' | 'refused' | 'unreachable' {
  if (
    /^refused with \d|^the proxy \S+ refused |^(draining|duplicate|superseded|refused|nodeDeleted): |another clusterUID/.test(
      reason,
    )
  )
    return 'answered';
  return /ECONNREFUSED/.test(reason) ? 'refused' : 'unreachable';
}
