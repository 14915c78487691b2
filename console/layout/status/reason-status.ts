/** The reason codes of a DaemonSet on hosts, as words and tones. Pure. */
import type { ShownStatus, StatusTone } from './object-status.js';

/** Codes whose own words would mislead, or are words of the API that an operator need not know. */
const WORDS: Readonly<Record<string, string>> = {
  RolloutFailed: 'Not updated: the rollout failed',
  DeferredOffline: 'Offline, updated on return',
  NodeOffline: 'Offline',
  NotEligible: 'Not meant for these hosts',
  NodeNameMismatch: 'Not meant for this host: another name',
  NodeSelectorMismatch: 'Not meant for this host: node selector',
  NodeAffinityMismatch: 'Not meant for this host: node affinity',
  NodeNotFound: 'Host not found',
  FailedCreate: 'Pod cannot be created',
  BackOff: 'Failed, tried again after a pause',
  Unschedulable: 'Does not fit on the host',
  InsufficientResources: 'Not enough room for the new Pod',
  Preempting: 'Waiting for less important Pods to stop',
  Preempted: 'Stopped for a more important Pod',
  Budget: 'Waiting for other hosts',
  WaitingForWave: 'Waiting for its wave',
  OutsideWindow: 'Waiting for a window',
  AwaitingResync: 'Waiting for the host to report',
  UpdateLocked: 'Update locked on the host',
  ImageNotPulled: 'Waiting for its image',
  NoTrustedTime: 'Waiting for a trusted clock',
  UpdateOnDelete: 'Updated when its Pod is deleted',
  KeptDespiteTaint: 'Kept despite a taint',
  UntoleratedTaint: 'Kept away by a taint',
  DaemonSetDeleting: 'The DaemonSet is being deleted',
};

const TONES: Readonly<Record<string, StatusTone>> = {
  Running: 'ok',
  Updated: 'ok',
  FailedCreate: 'failed',
  Failing: 'failed',
  Failed: 'failed',
  BackOff: 'failed',
  Unschedulable: 'failed',
  RolloutFailed: 'failed',
  NodeOffline: 'offline',
  DeferredOffline: 'offline',
  Creating: 'progress',
  Starting: 'progress',
  Updating: 'progress',
  Soaking: 'progress',
  Terminating: 'progress',
  NotEligible: 'over',
  NodeNameMismatch: 'over',
  NodeSelectorMismatch: 'over',
  NodeAffinityMismatch: 'over',
};

/** Codes without a tone of their own wait for something: a window, an approval, a budget. */
export function reasonStatus(code: string): ShownStatus {
  return { tone: TONES[code] ?? 'waiting', word: codeWords(code) };
}

/** True if the DaemonSet does not select the host, so that a missing Pod is no problem. */
export function isNotMeantForHost(code: string): boolean {
  return TONES[code] === 'over';
}

/** Returns `Rollout paused` for the code `RolloutPaused`. */
export function codeWords(code: string): string {
  const words = code.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(' ');
  return WORDS[code] ?? [words[0], ...words.slice(1).map((word) => word.toLowerCase())].join(' ');
}
