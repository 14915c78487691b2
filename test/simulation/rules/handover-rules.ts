/** Rules on what hosts decide by themselves: when they replace a Pod that has its turn, and when they take one back. */
import {
  type HostHandover,
  handoverOf,
  type RevertReason,
} from '../../../shared/kube/handovers/host-handover.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { START_MS } from '../machines/simulated-process.js';
import type { Invariant, Violation } from './invariants.js';
import type { ObservedWorld } from './observed-world.js';
import { isInHours } from './reference-placement.js';
import type { StoredChange } from './stored-truth.js';
import type { WaveHistory } from './wave-rules.js';

/** Maximum time from a host's decision until it is on disk. */
const WRITING_MS = 15_000;
/** A host's clock shows whole milliseconds. */
const WHOLE_MS = 1;
/** A host that can reach the coordinator does so by then: it waits up to a minute between two tries, and a handshake may time out. */
const RECONNECT_MS = 100_000;
/** Images that are ready within a few seconds of their start; and how long it may take until the agent knows that they are. */
const WELL = /:(1|2|3|slow1|slow2|stubborn)$/;
const READY_MS = 30_000;
/** So many reboots before it is confirmed are the Pod's fault. */
const REBOOTS = 3;

/** All handovers that a Pod ever had. A host uses the last one that it received. */
interface Given {
  turns: HostHandover[];
  firstAtMs: number;
}

class TurnBook {
  readonly #given = new Map<string, Given>();

  /** Answers a turn that was given just now. */
  committed({ kind, previous, current }: StoredChange, nowMs: number): HostHandover | undefined {
    const turn = kind === 'Pod' && current ? handoverOf(current) : undefined;
    if (!turn) return undefined;
    const before = kind === 'Pod' && previous ? handoverOf(previous) : undefined;
    if (before && JSON.stringify(before) === JSON.stringify(turn)) return undefined;
    const { uid = '' } = current?.metadata ?? {};
    const given = this.#given.get(uid) ?? { turns: [], firstAtMs: nowMs };
    given.turns.push(turn);
    this.#given.set(uid, given);
    return turn;
  }

  of(podUid: string): Given | undefined {
    return this.#given.get(podUid);
  }
}

/** An unreachable host uses the handover and the coordinator time that it received last. */
export function handoversKeepToWindows(waves: WaveHistory): Invariant {
  const book = new TurnBook();
  return {
    rule: 'a Pod is replaced by its host only by a turn that was given, and only in the hours that the policy had then',
    committed: (change, scene) => {
      const turn = book.committed(change, scene.nowMs);
      const daemonSet = change.kind === 'Pod' && change.current && scene.stored.ownerOf(change.current);
      const { policy } = scene.stored;
      if (!turn || !daemonSet || !policy || !waves.governs(daemonSet, scene)) return undefined;
      return (
        !isOutside(turn, policy.spec) ||
        `the turn to ${turn.successor.metadata.name} may begin in ${JSON.stringify(turn.windows ?? 'any hour')}`
      );
    },
    handoverStarted: ({ podUid, successorUid }, node, scene) => {
      const turns =
        book.of(podUid)?.turns.filter((each) => each.successor.metadata.uid === successorUid) ?? [];
      if (turns.length === 0)
        return `${node} puts ${successorUid} in the place of ${podUid}, and was not told to`;
      const isNow = turns.some(({ windows }) => !windows || windows.some((window) => mayBeIn(window, scene)));
      const { name } = turns[0]?.successor.metadata ?? {};
      return isNow || `${node} begins its turn to ${name} outside of its hours`;
    },
  };
}

function isOutside({ windows }: HostHandover, spec: RolloutPolicySpec): boolean {
  if (!windows) return (spec.windows?.length ?? 0) > 0;
  return windows.some(({ from, until }) =>
    [Date.parse(from), Date.parse(until) - 1_000].some((time) => !isInHours(spec, time)),
  );
}

/** By some time that the coordinator's clock ever made a host believe in; both show whole milliseconds. */
function mayBeIn({ from, until }: { from: string; until: string }, scene: ObservedWorld): boolean {
  const times = [...scene.coordinatorOffsetsMs].map(
    (offsetMs) => START_MS + Math.round(scene.nowMs) + offsetMs,
  );
  return times.some((time) => Date.parse(from) <= time && time < Date.parse(until) + WRITING_MS);
}

export function busyHostsDecide(): Invariant {
  const book = new TurnBook();
  return {
    rule: 'a host that says "not now" has its Pod replaced only when it has said so for as long as it may',
    committed: (change, { nowMs }) => void book.committed(change, nowMs),
    handoverStarted: ({ podUid }, node, { hostOf, nowMs }) => {
      const { busySinceMs, busyUntilMs } = hostOf(node);
      const { turns = [], firstAtMs = 0 } = book.of(podUid) ?? {};
      // It was put off, and begins as soon as it may.
      if (busySinceMs === undefined)
        return turns.some((turn) => wasPutOff(turn, firstAtMs, busyUntilMs)) || undefined;
      // It may have said so before, for the same Pod: that counts as well.
      const saidForMs = nowMs - firstAtMs;
      const isHeld = turns.every(({ maxLockSeconds = 0 }) => saidForMs < maxLockSeconds * 1_000 - WHOLE_MS);
      if (!isHeld || nowMs - busySinceMs < WRITING_MS) return true;
      return `${node} has been busy for ${(nowMs - busySinceMs) / 1_000} s and begins a turn of ${saidForMs / 1_000} s`;
    },
  };
}

/** In its hours, while the host said 'not now' and could be asked. */
function wasPutOff({ windows, maxLockSeconds }: HostHandover, firstAtMs: number, busyUntilMs = 0): boolean {
  if (!maxLockSeconds || busyUntilMs - firstAtMs < WRITING_MS) return false;
  const time = START_MS + busyUntilMs;
  return !windows || windows.some(({ from, until }) => Date.parse(from) < time && time < Date.parse(until));
}

export function revertsHaveReason(): Invariant {
  /** By uid of the Pod: when a container of it last started, and how often its host had booted when its turn began. */
  const startedAtMs = new Map<string, number>();
  const bootsBefore = new Map<string, number>();

  const doubt = (
    podUid: string,
    reason: RevertReason,
    node: string,
    scene: ObservedWorld,
  ): Violation | undefined => {
    const { boots, reachableSinceMs, engineUpSinceMs } = scene.hostOf(node);
    const isFor = (sinceMs: number | undefined, ms: number) =>
      sinceMs !== undefined && scene.nowMs - sinceMs >= ms;
    const runs = scene.running(node).find((container) => container.podUid === podUid);
    switch (reason) {
      case 'NotReady':
        return runs &&
          WELL.test(runs.image) &&
          isFor(startedAtMs.get(podUid), READY_MS) &&
          isFor(engineUpSinceMs, READY_MS)
          ? `${runs.podName} has run well`
          : undefined;
      case 'LinkLost':
        return isFor(reachableSinceMs, RECONNECT_MS)
          ? 'the coordinator could be reached all the time'
          : undefined;
      case 'HostRebooted': {
        const reboots = boots - (bootsBefore.get(podUid) ?? 0);
        return reboots < REBOOTS ? `it has rebooted ${reboots} times` : undefined;
      }
    }
  };

  return {
    rule: 'a host takes a Pod back only when that is not ready, the coordinator is lost, or it reboots again and again',
    podStarted: (podUid, _, { nowMs }) => void startedAtMs.set(podUid, nowMs),
    handoverStarted: ({ successorUid }, node, { hostOf }) =>
      void bootsBefore.set(successorUid, hostOf(node).boots),
    podReverted: ({ podUid, reason }, node, scene) => {
      const why = doubt(podUid, reason, node, scene);
      return why === undefined || `${node} takes ${podUid} back as ${reason}, and ${why}`;
    },
  };
}
