/** The reason codes of a DaemonSet on hosts, as words and tones. Pure. */
import type { ShownStatus, StatusTone } from './object-status.js';

/** Codes whose own words would mislead. */
const WORDS: Readonly<Record<string, string>> = {
  RolloutFailed: 'Not updated: the rollout failed',
  DeferredOffline: 'Offline, updated on return',
  NodeOffline: 'Offline',
  NotEligible: 'Not meant for these hosts',
  NodeNameMismatch: 'Not meant for this host: another name',
  NodeSelectorMismatch: 'Not meant for this host: node selector',
  NodeAffinityMismatch: 'Not meant for this host: node affinity',
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

/** Returns `Outside window` for the code `OutsideWindow`. */
export function codeWords(code: string): string {
  const words = code.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(' ');
  return WORDS[code] ?? [words[0], ...words.slice(1).map((word) => word.toLowerCase())].join(' ');
}
