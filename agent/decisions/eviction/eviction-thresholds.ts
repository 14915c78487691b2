/**
 * Eviction thresholds with upstream's signals, grammar and defaults (pkg/kubelet/eviction/helpers.go,
 * apis/config/v1beta1/defaults_linux.go).
 */

import { parseGoDuration } from '../../../shared/kube/objects/go-duration.js';
import { parseQuantity } from '../../../shared/kube/objects/quantity.js';
import { DEFAULT_GRACE_SECONDS } from '../../../shared/kube/pods/pod-defaults.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';

/** Measured signals with upstream's names. */
export const SIGNALS = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
] as const;
export type Signal = (typeof SIGNALS)[number];

/** Conditions of the Node. */
export type Pressure = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** Bytes, inodes or processes; or a share of the capacity, 0 to 1. `text`: as written by the user. */
type ThresholdValue = { kind: 'quantity'; amount: number; text: string } | { kind: 'share'; share: number };

/** Reached if less than `value` is available. `graceMs` 0: a hard threshold. */
export interface Threshold {
  signal: Signal;
  value: ThresholdValue;
  graceMs: number;
  /** Amount above `value` that must be available before the threshold is resolved. */
  minReclaim?: ThresholdValue;
}

export interface Observation {
  available: number;
  capacity: number;
}
export type Observations = ReadonlyMap<Signal, Observation>;

/** One measurement. `hasImageFs`: images and containers are on another file system than the agent's data. */
export interface PressureReadings {
  observations: Observations;
  hasImageFs: boolean;
}

/** The user's settings, with upstream's names. */
interface EvictionSettings {
  evictionHard: string;
  evictionSoft: string;
  evictionSoftGracePeriod: string;
  evictionMinimumReclaim: string;
}

/**
 * Upstream's defaults on Linux, which has none for `pid.available`. A user's value replaces all of them, as upstream
 * does.
 */
export const DEFAULT_EVICTION_HARD =
  'memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%';

const PRESSURES: Record<Signal, Pressure> = {
  'memory.available': 'MemoryPressure',
  'nodefs.available': 'DiskPressure',
  'nodefs.inodesFree': 'DiskPressure',
  'imagefs.available': 'DiskPressure',
  'imagefs.inodesFree': 'DiskPressure',
  'pid.available': 'PIDPressure',
};
const RESOURCES: Record<Signal, StarvedResource> = {
  'memory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
  'nodefs.inodesFree': 'inodes',
  'imagefs.available': 'ephemeral-storage',
  'imagefs.inodesFree': 'inodes',
  'pid.available': 'pids',
};

/** Scarce resources as named in messages. */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

/** Returns the condition of a signal below its threshold. */
export function pressureOf(signal: Signal): Pressure {
  return PRESSURES[signal];
}

/** Returns the resource to reclaim for a signal below its threshold. */
export function resourceOf(signal: Signal): StarvedResource {
  return RESOURCES[signal];
}

/** Returns `value` in the signal's own unit. */
export function amountOf(value: ThresholdValue, capacity: number): number {
  return value.kind === 'quantity' ? value.amount : Math.floor(capacity * value.share);
}

/**
 * Parses `memory.available<100Mi,nodefs.available<10%` by signal; maps of the settings file arrive with `=` instead of
 * `<`. `0%` and `100%` switch a signal off. Throws an Error that names the expected format.
 */
export function parseThresholds(text: string): Map<Signal, ThresholdValue> {
  const values = new Map<Signal, ThresholdValue>();
  for (const [signal, written] of parsePairs(text)) {
    if (written === '0%' || written === '100%') continue;
    const value = parseValue(written);
    if (value.kind === 'quantity' && value.amount === 0) throw new Error(QUANTITIES);
    values.set(signal, value);
  }
  return values;
}

/**
 * Parses `nodefs.available=500Mi` by signal; 0 is allowed, as upstream. Throws an Error that names the expected format.
 */
export function parseMinimumReclaims(text: string): Map<Signal, ThresholdValue> {
  return new Map(
    parsePairs(text).map(([signal, written]) => {
      const value = parseValue(written);
      if (value.kind === 'share' && value.share === 0) throw new Error('must have percentages above 0%');
      return [signal, value];
    }),
  );
}

/** Parses `memory.available=1m30s` by signal, ms. Throws an Error that names the expected format. */
export function parseGracePeriods(text: string): Map<Signal, number> {
  return new Map(
    parsePairs(text).map(([signal, value]) => {
      const ms = parseGoDuration(value);
      if (ms === undefined) throw new Error('must have durations such as 30s or 1m30s');
      return [signal, ms];
    }),
  );
}

/** Returns all thresholds, hard ones first. Throws an Error for a soft one without grace period. */
export function thresholdsOf(settings: EvictionSettings): Threshold[] {
  const graces = parseGracePeriods(settings.evictionSoftGracePeriod);
  const reclaims = parseMinimumReclaims(settings.evictionMinimumReclaim);
  const complete = (signal: Signal, value: ThresholdValue, graceMs: number): Threshold => {
    const minReclaim = reclaims.get(signal);
    return { signal, value, graceMs, ...(minReclaim && { minReclaim }) };
  };
  const hard = [...parseThresholds(settings.evictionHard)].map(([signal, value]) =>
    complete(signal, value, 0),
  );
  const soft = [...parseThresholds(settings.evictionSoft)].map(([signal, value]) => {
    const graceMs = graces.get(signal);
    if (graceMs === undefined) {
      throw new Error(`grace period must be specified for the soft eviction threshold ${signal}`);
    }
    return complete(signal, value, graceMs);
  });
  return [...hard, ...soft];
}

function parsePairs(text: string): [Signal, string][] {
  const items = text.split(',').map((item) => item.trim());
  return items
    .filter((item) => item !== '')
    .map((item) => {
      const match = /^([^<=]+)[<=](.+)$/.exec(item);
      const name = match?.[1]?.trim();
      const signal = SIGNALS.find((each) => each === name);
      if (!match || !signal)
        throw new Error(`must be SIGNAL<VALUE,… with SIGNAL one of ${SIGNALS.join(', ')}`);
      return [signal, (match[2] ?? '').trim()];
    });
}

const QUANTITIES = 'must have quantities above 0, such as 100Mi, or percentages';

function parseValue(text: string): ThresholdValue {
  if (text.endsWith('%')) {
    const percent = Number(text.slice(0, -1));
    if (text === '%' || !(percent >= 0 && percent <= 100))
      throw new Error('must have percentages from 0% to 100%');
    return { kind: 'share', share: percent / 100 };
  }
  const amount = parseQuantity(text);
  if (amount === undefined || amount < 0) throw new Error(QUANTITIES);
  return { kind: 'quantity', amount, text };
}

/** Same as the kubelet's immediate evictions. */
const HARD_SECONDS = 1;

/**
 * Returns seconds. A hard threshold leaves no time; a soft one the Pod's own grace period, up to `maxSeconds`. A
 * negative value means no limit, as documented upstream; actual kubelets treat it as 0 (kubernetes#118172).
 */
export function evictionGraceSeconds(
  { graceMs }: Pick<Threshold, 'graceMs'>,
  { terminationGracePeriodSeconds = DEFAULT_GRACE_SECONDS }: PodSpec,
  maxSeconds: number,
): number {
  if (graceMs === 0) return HARD_SECONDS;
  return maxSeconds < 0 ? terminationGracePeriodSeconds : Math.min(terminationGracePeriodSeconds, maxSeconds);
}
