/**
 * The bystander's book on rollouts by waves: since when the policy is as it is, how far each rollout was opened, and which hosts
 * have failed. Waves are drawn when a count begins, from labels of then; so a node is in any wave that its labels ever said.
 */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import {
  HANDOVER_CONDITION,
  handoverOf,
  REVERTED_CONDITION,
} from '../../../shared/kube/handovers/host-handover.js';
import { findCondition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { NEWS_MS } from './daemonset-availability.js';
import { DurationTracker } from './duration-tracker.js';
import type { ObservedWorld } from './observed-world.js';
import { hasTemplateGeneration, waveIndexOf } from './reference-placement.js';
import { isLeaving, isReady, type StoredChange, versionOf } from './stored-truth.js';

const WAVES = ['first', 'second', 'rest'];
/** More restarts than this are trouble. */
const MAX_RESTARTS = 1;

/** The progress of a rollout at a time: its current revision and the index of its last open wave. */
interface Opening {
  atMs: number;
  upTo: number;
  revision: string;
  hasFailed: boolean;
}

/** The template of a DaemonSet, by its version. */
interface Template {
  version: string | undefined;
  sinceMs: number;
  /** The previous template. A Pod of that template is old only since this time. */
  before: string | undefined;
  /** Which revision the Rollout named before this template came: a restored backup brings both at once. */
  revisionBefore: string;
  /** Which one it names now. */
  revision: string;
}

export class WaveHistory {
  readonly #waves = new Map<string, Set<number>>();
  #policy = { text: '', sinceMs: 0 };
  readonly #openings = new Map<string, Opening[]>();
  readonly #templates = new Map<string, Template>();
  /** Keys are `DaemonSet uid@node`. */
  readonly #trouble = new DurationTracker<string>();
  /** Not in trouble, and late: what a failure budget calls a failure, too. */
  readonly #late = new DurationTracker<string>();
  readonly #here = new DurationTracker<string>();

  /** Must receive every change before other methods are called. */
  committed(change: StoredChange, scene: ObservedWorld): void {
    const { stored: truth, nowMs } = scene;
    const text = truth.policy ? JSON.stringify(truth.policy.spec) : '';
    if (text !== this.#policy.text) this.#policy = { text, sinceMs: nowMs };
    for (const [name, node] of truth.nodes) {
      const waves = this.#waves.get(name) ?? new Set();
      this.#waves.set(name, waves.add(waveIndexOf(node)));
      const isHere = ['Ready', 'Connected'].every((type) => isConditionTrue(node.status?.conditions, type));
      this.#here.note(name, isHere, nowMs);
    }
    if (change.kind === 'Rollout') this.#noteOpening(change, nowMs);
    for (const daemonSet of truth.daemonSets.values()) this.#noteTemplate(daemonSet, scene);
  }

  /** Names of the waves that a node may be in. */
  of(node: string): string[] {
    return [...(this.#waves.get(node) ?? [])].map((wave) => WAVES[wave] ?? '');
  }

  isInOneWaveWith(node: string, other: string): boolean {
    const both = [...(this.#waves.get(node) ?? []), ...(this.#waves.get(other) ?? [])];
    return new Set(both).size === 1;
  }

  /** There is a policy, or was one within the last while. */
  mayGovern({ spec }: DaemonSet, { stored: truth, nowMs }: ObservedWorld): boolean {
    const isRolling = spec.updateStrategy?.type === 'RollingUpdate';
    return isRolling && (truth.policy !== undefined || this.#policy.sinceMs >= nowMs - NEWS_MS);
  }

  /** The policy is there, as it is, long enough for everybody to know; and the rollout has taken the DaemonSet up. */
  governs(daemonSet: DaemonSet, scene: ObservedWorld): boolean {
    const { stored: truth, nowMs } = scene;
    const rollout = truth.rollouts.get(daemonSet.metadata.name);
    return (
      this.mayGovern(daemonSet, scene) &&
      truth.policy !== undefined &&
      this.#policy.sinceMs < nowMs - NEWS_MS &&
      rollout?.status !== undefined &&
      this.#templates.has(daemonSet.metadata.uid ?? '')
    );
  }

  isPaused({ stored: truth }: ObservedWorld): boolean {
    return truth.policy?.spec.paused === true;
  }

  isFrozen({ stored: truth, coordinatorNowMs }: ObservedWorld): boolean {
    const freezes = truth.policy?.spec.freezes ?? [];
    return freezes.some(
      ({ from, to }) => Date.parse(from) <= coordinatorNowMs && coordinatorNowMs < Date.parse(to),
    );
  }

  /** Made of the template as it is, for long enough that this is known. */
  isNewest(daemonSet: DaemonSet, pod: Pod, { nowMs }: ObservedWorld): boolean {
    const template = this.#templates.get(daemonSet.metadata.uid ?? '');
    if (!template || template.sinceMs >= nowMs - NEWS_MS) return false;
    return versionOf(pod) === template.version || hasTemplateGeneration(pod, daemonSet);
  }

  /**
   * The wave of the node may have been open when this Pod's turn was given: by the stored Rollout, within the last while. A Pod of the template
   * before this one has its turn by this one's revision alone.
   */
  mayBeOpen(daemonSet: DaemonSet, pod: Pod, node: string, { nowMs }: ObservedWorld): boolean {
    const template = this.#templates.get(daemonSet.metadata.uid ?? '');
    const isFresh = template !== undefined && versionOf(pod) === template.before;
    const openings = this.#recent(daemonSet, nowMs).filter(
      ({ revision }) => !isFresh || revision !== template?.revisionBefore,
    );
    const lowest = Math.min(...(this.#waves.get(node) ?? []));
    return openings.some(({ upTo }) => upTo >= lowest);
  }

  /** It is of a revision that has failed, and hosts go back from it. */
  mayGoBack(daemonSet: DaemonSet, pod: Pod, { nowMs }: ObservedWorld): boolean {
    const isNew = versionOf(pod) === versionOf(daemonSet.spec.template);
    const template = this.#templates.get(daemonSet.metadata.uid ?? '');
    const wasNew = versionOf(pod) === template?.before && nowMs - (template?.sinceMs ?? 0) < NEWS_MS;
    return (isNew || wasNew) && this.#recent(daemonSet, nowMs).some(({ hasFailed }) => hasFailed);
  }

  /**
   * There is another template that hosts outside of open waves are to have. Without one, the newest is all there is: a
   * rollout of values alone has no earlier Pod to make (docs/design/host-values.md).
   */
  hasStable(daemonSet: DaemonSet, { stored: truth }: ObservedWorld): boolean {
    const { revision = '', stableRevision } = truth.rollouts.get(daemonSet.metadata.name)?.status ?? {};
    return stableRevision !== undefined && templateOf(stableRevision) !== templateOf(revision);
  }

  /** How far the rollout is open now, in words. */
  openIn(daemonSet: DaemonSet, { stored: truth }: ObservedWorld): string {
    const { wave, phase } = truth.rollouts.get(daemonSet.metadata.name)?.status ?? {};
    return `${wave || 'none'} (${phase ?? 'no rollout'})`;
  }

  /** Returns the nodes with the newest revision that have been failing in the store for long enough to be noticed. */
  failed({ metadata }: DaemonSet, { stored: truth, nowMs }: ObservedWorld): string[] {
    return [...truth.nodes.keys()].filter((name) =>
      this.#trouble.isFor(`${metadata.uid}@${name}`, NEWS_MS, nowMs),
    );
  }

  /** The node uses budget of its wave: it is in contact, and has not failed. */
  countsIn({ metadata }: DaemonSet, node: string, { nowMs }: ObservedWorld): boolean {
    const key = `${metadata.uid}@${node}`;
    const hasFailed = [this.#trouble, this.#late].some((each) => each.isWithin(key, NEWS_MS, nowMs));
    return this.#here.isFor(node, NEWS_MS, nowMs) && !hasFailed;
  }

  #recent({ metadata }: DaemonSet, nowMs: number): Opening[] {
    const all = this.#openings.get(metadata.name) ?? [];
    return all.filter((_, index) => (all[index + 1]?.atMs ?? nowMs) >= nowMs - NEWS_MS);
  }

  #noteOpening({ previous, current }: Extract<StoredChange, { kind: 'Rollout' }>, nowMs: number): void {
    const { name = '' } = (current ?? previous)?.metadata ?? {};
    const { wave = '', revision = '', failure } = current?.status ?? {};
    const all = this.#openings.get(name) ?? [];
    all.push({ atMs: nowMs, upTo: WAVES.indexOf(wave), revision, hasFailed: failure !== undefined });
    this.#openings.set(name, all.slice(-40));
  }

  #noteTemplate(daemonSet: DaemonSet, { stored: truth, nowMs, coordinatorNowMs }: ObservedWorld): void {
    const { uid = '', name } = daemonSet.metadata;
    const version = versionOf(daemonSet.spec.template);
    const present = this.#templates.get(uid);
    const revision = truth.rollouts.get(name)?.status?.revision ?? '';
    if (!present || present.version !== version) {
      const revisionBefore = present?.revision ?? revision;
      this.#templates.set(uid, {
        version,
        sinceMs: nowMs,
        before: present?.version,
        revisionBefore,
        revision,
      });
    } else present.revision = revision;
    for (const node of truth.nodes.keys()) {
      const pods = truth.podsOf(daemonSet, node).filter((pod) => !isLeaving(pod));
      const isTroubled = pods.some((pod) => versionOf(pod) === version && isInTrouble(pod));
      this.#trouble.note(`${uid}@${node}`, isTroubled, nowMs);
      const { progressDeadlineSeconds } = truth.policy?.spec.failureBudget ?? {};
      const dueMs = coordinatorNowMs - (progressDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1_000;
      const isLate = pods.some((pod) => (triedSince(pod, versionOf(pod) === version) ?? dueMs + 1) <= dueMs);
      this.#late.note(`${uid}@${node}`, isLate, nowMs);
    }
  }
}

/** A revision of a Rollout is `HASH` or `HASH+VALUES`. */
function templateOf(revision: string): string | undefined {
  return revision.split('+')[0];
}

/** Since when it has tried to be ready or, where it is to make room, lacked its successor's image; undefined: it does not. */
function triedSince(pod: Pod, isNew: boolean): number | undefined {
  const waits = findCondition(pod.status?.conditions, HANDOVER_CONDITION);
  const isStuck = !isNew && handoverOf(pod) !== undefined && waits?.reason === 'ImageNotPulled';
  if (isStuck) return Date.parse(waits?.lastTransitionTime ?? '');
  return isNew && !isReady(pod) ? Date.parse(pod.metadata.creationTimestamp ?? '') : undefined;
}

/** A reverted Pod fails at once, before any deadline. */
function isInTrouble({ status }: Pod): boolean {
  if (isConditionTrue(status?.conditions, REVERTED_CONDITION)) return true;
  const containers = status?.containerStatuses ?? [];
  const isStuck = containers.some(({ state }) => /BackOff|^Err/.test(state?.waiting?.reason ?? ''));
  return status?.phase === 'Failed' || isStuck || containers.some((each) => each.restartCount > MAX_RESTARTS);
}
