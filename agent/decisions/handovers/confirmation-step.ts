/** Whether a Pod that took another's place is confirmed, may still prove itself, or goes back: by this host alone. */
import type { RevertReason } from '../../../shared/kube/handovers/host-handover.js';
import type { HandoverRecord } from './handover-record.js';

/**
 * How the link to the coordinator stands. `answered`: something at its address spoke with us as only the coordinator or
 * what stands before it can, so the way there is open. `refused`: a machine, or a firewall, said that nobody listens.
 * `heardAt`: a link that is cut may look live for a while yet. Times in ms by the host's clock.
 */
export type LinkEvidence =
  | { state: 'live'; heardAt: number }
  | { state: 'lost'; since: number; lastTry: 'answered' | 'refused' | 'unreachable' };

/** The process stood still for so many ms until then: it was stopped, or the host had no time for it. */
export interface Stall {
  until: number;
  ms: number;
}

/** What the decision reads. Times in ms by the host's clock. */
export interface ConfirmationFacts {
  handover: Pick<HandoverRecord, 'linkWasLive'> & { confirmSeconds: number };
  /** When the Pod could begin: what stood in its place was gone; undefined: not yet. */
  startableAt: number | undefined;
  isReady: boolean;
  link: LinkEvidence;
  /** Since when this agent and its engine have been up: a Pod is not judged for the time before. */
  upSince: number;
  /** When this process stood still, oldest first: what was to happen meanwhile has its time after that. */
  stalls: readonly Stall[];
  /** When the coordinator was first asked for a sign of life on this Pod's behalf; absent: not on this link. */
  pingedAt?: number | undefined;
  now: number;
}

/** `askedAt`: the coordinator is to be asked for a sign of life now, and was first asked then. */
type ConfirmationStep =
  | { kind: 'wait'; until?: number; askedAt?: number }
  | { kind: 'confirm' }
  | { kind: 'revert'; reason: RevertReason; message: string };

/** How long the coordinator has to answer when it is asked. */
export const PONG_TIMEOUT_MS = 5_000;
const LOOK_AGAIN_MS = 1_000;
/** A link that breaks late in the period has at least so long to come back: reconnects are spread over up to a minute. */
export const RECONNECT_TIMEOUT_MS = 90_000;
/** 'Refused' is what a coordinator that is being restarted says, and what a firewall may say: it gets so many times the time. */
const REFUSED_PATIENCE = 3;

/**
 * A Pod is confirmed when its time is over, it is ready, and the coordinator was heard since, or was not in reach when the
 * turn began. Losing the link counts against it only if the link stood before and the way to the coordinator seems cut:
 * while that answers and does not want us, nothing is decided. Pods that are confirmed are not asked again, whatever the
 * link does.
 */
export function confirmationStep(facts: ConfirmationFacts): ConfirmationStep {
  const { handover: turn, startableAt, isReady, link, upSince, stalls, now } = facts;
  if (startableAt === undefined) return { kind: 'wait' };
  const confirmMs = turn.confirmSeconds * 1000;
  // A clock that was set back makes it one of the future: its time then counts from the agent's start.
  const from = startableAt > now ? upSince : Math.max(startableAt, upSince);
  const end = awakeUntil(stalls, from, confirmMs);
  if (now < end) return { kind: 'wait', until: end };
  if (!isReady) {
    const message = `not ready within ${turn.confirmSeconds} s`;
    return { kind: 'revert', reason: 'NotReady', message };
  }
  if (!turn.linkWasLive) return { kind: 'confirm' };
  if (link.state === 'lost') return lostStep(link, end, confirmMs, now);
  return liveStep(link.heardAt, facts, end, confirmMs);
}

/** When this process will have been awake for so many ms since then, or has been. */
function awakeUntil(stalls: readonly Stall[], since: number, ms: number): number {
  return stalls.reduce((end, stall) => {
    const isOver = stall.until - stall.ms >= end || stall.until <= since;
    return isOver ? end : end + Math.min(stall.ms, stall.until - since);
  }, since + ms);
}

/** An answer has its time from when it was asked for: this process may have stood still over the end, and long after it. */
function liveStep(
  heardAt: number,
  { pingedAt: askedAt, stalls, now }: Pick<ConfirmationFacts, 'pingedAt' | 'stalls' | 'now'>,
  end: number,
  confirmMs: number,
): ConfirmationStep {
  if (heardAt >= end) return { kind: 'confirm' };
  // What was asked before the end, or by a clock that was set back since, says nothing.
  const asked = askedAt !== undefined && askedAt >= end && askedAt <= now ? askedAt : now;
  if (now < awakeUntil(stalls, asked, PONG_TIMEOUT_MS))
    return { kind: 'wait', until: now + LOOK_AGAIN_MS, askedAt: asked };
  return lostStep({ since: heardAt, lastTry: 'unreachable' }, end, confirmMs, now);
}

function lostStep(
  { since, lastTry }: Pick<LinkEvidence & { state: 'lost' }, 'since' | 'lastTry'>,
  end: number,
  confirmMs: number,
  now: number,
): ConfirmationStep {
  if (lastTry === 'answered') return { kind: 'wait' };
  const patience = lastTry === 'refused' ? REFUSED_PATIENCE : 1;
  const linkEnd = Math.max(
    end + (patience - 1) * confirmMs,
    since + patience * Math.min(confirmMs, RECONNECT_TIMEOUT_MS),
  );
  if (now < linkEnd) return { kind: 'wait', until: linkEnd };
  const message = `the link to the coordinator broke after it started and is not back within ${confirmMs / 1000} s`;
  return { kind: 'revert', reason: 'LinkLost', message };
}

/** What a broken or failed connection says about the way to the coordinator, by the reason that the link gives. */
export function linkEvidenceOf(reason: string): 'answered' | 'refused' | 'unreachable' {
  if (
    /^refused with \d|^(draining|duplicate|superseded|refused|nodeDeleted): |another clusterUID/.test(reason)
  )
    return 'answered';
  return /ECONNREFUSED/.test(reason) ? 'refused' : 'unreachable';
}
