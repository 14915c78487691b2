/** Rules on preemption: who may be ended for whom, how many, and who gets the room. */

import { milliCpu } from '../../../shared/kube/objects/quantity.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { NEWS_MS } from './daemonset-availability.js';
import type { Invariant, Verdict } from './invariants.js';
import type { ObservedWorld } from './observed-world.js';
import { isLeaving, isPreempted, type StoredChange } from './stored-truth.js';

/** The victims of one round are marked within this time. */
const ROUND_MS = 2_000;

/** The victims that the scheduler chose for a Pod at one time. */
interface Round {
  preemptor: Pod;
  node: string;
  startedAtMs: number;
  victims: Map<string, Pod>;
  /** Pods that were to stay on the node when the round started. Absent: the scheduler may have seen others. */
  present?: readonly Pod[];
}

/** The nomination of a node for an unbound Pod. */
interface Nomination {
  pod: Pod;
  /** Uids of Pods that had the node nominated before, if this Pod does not fit beside them. It may end none then. */
  blockers: readonly string[];
  /** When it ended. Absent: it holds. */
  endedAtMs?: number;
}

const priorityOf = ({ spec }: Pod): number => spec.priority ?? 0;

const cpuOf = (pods: readonly Pod[]): number =>
  pods
    .flatMap(({ spec }) => spec.containers)
    .reduce((sum, { resources }) => sum + milliCpu(resources?.requests?.cpu), 0);

/** Returns the Pods that will still be on the node when all Pods that are ending have ended. */
function staying(node: string, { stored }: ObservedWorld): Pod[] {
  return [...stored.pods.values()].filter(
    (pod) => pod.spec.nodeName === node && !isLeaving(pod) && !isPodTerminal(pod),
  );
}

function cpuOfNode(node: string, { stored }: ObservedWorld): number {
  return milliCpu(stored.nodes.get(node)?.status?.allocatable?.cpu);
}

export function preemptionRules(): Invariant[] {
  const book = new PreemptionBook();
  return [
    { rule: '', committed: (change, scene) => void book.committed(change, scene) },
    {
      rule: 'a Pod is preempted only for a Pod of higher priority for which its node is nominated',
      committed: (change, scene) => book.judgeVictim(change, scene),
    },
    {
      rule: 'nobody is preempted for a Pod while its earlier victims are ending',
      committed: (change, scene) => book.judgeRound(change, scene),
    },
    {
      rule: 'without any one of the victims the preemptor would not fit',
      committed: (_change, scene) => book.judgeNeed(scene),
    },
    {
      rule: 'one Pod never preempts a Pod and its successor',
      committed: (change, scene) => book.judgeSuccessor(change, scene),
    },
    {
      rule: 'a Pod that is bound leaves the room of every nominated Pod of higher priority',
      committed: (change, scene) => book.judgeBinding(change, scene),
    },
  ];
}

/** What was nominated and preempted so far. */
class PreemptionBook {
  /** By uid of the Pod. */
  readonly #nominations = new Map<string, Nomination>();
  /** By uid of the preemptor: its latest round. */
  readonly #rounds = new Map<string, Round>();
  /** By uid of the preemptor: its victims of each DaemonSet and node, with the start of the round. */
  readonly #victimsOf = new Map<string, Map<string, number>>();
  /** When a Pod last left or joined each node. */
  readonly #movedAtMs = new Map<string, number>();
  /** The rounds that are not judged yet. */
  readonly #open = new Set<Round>();
  /** The round that the present change belongs to, and the one before it. */
  #current: { round: Round; before: Round | undefined } | undefined;

  committed(change: StoredChange, scene: ObservedWorld): void {
    this.#current = undefined;
    if (change.kind !== 'Pod') return;
    const victim = victimOf(change);
    if (victim) this.#note(victim, scene);
    const { previous, current } = change;
    if (!victim) this.#noteMove(previous, current, scene.nowMs);
    this.#nominate(current ?? previous, current, scene);
  }

  /** A Pod that joins or leaves a node makes what the scheduler saw uncertain, unless it is of the round itself. */
  #noteMove(previous: Pod | undefined, current: Pod | undefined, nowMs: number): void {
    const isMove = previous?.spec.nodeName !== current?.spec.nodeName || !current;
    const hasEnded = current && previous && isPodTerminal(current) !== isPodTerminal(previous);
    const isDeletion = current && isLeaving(current) && previous && !isLeaving(previous);
    const pod = current ?? previous;
    const { nodeName: node } = pod?.spec ?? {};
    if (!pod || !node || !(isMove || hasEnded || isDeletion)) return;
    this.#movedAtMs.set(node, nowMs);
    for (const round of this.#open) {
      const isDuring = round.node === node && nowMs - round.startedAtMs <= ROUND_MS;
      const { uid = '' } = pod.metadata;
      const isOfRound = round.victims.has(uid) || round.preemptor.metadata.uid === uid;
      if (isDuring && !isOfRound) delete round.present;
    }
  }

  #nominate(pod: Pod | undefined, current: Pod | undefined, scene: ObservedWorld): void {
    const { uid = '' } = pod?.metadata ?? {};
    const isNominated = current && !current.spec.nodeName && !isLeaving(current);
    const node = isNominated ? current.status?.nominatedNodeName : undefined;
    const known = this.#nominations.get(uid);
    if (current && node) {
      const isKnown = known && known.endedAtMs === undefined && known.pod.status?.nominatedNodeName === node;
      const blockers = isKnown ? known.blockers : this.#blockersOf(current, node, scene);
      this.#nominations.set(uid, { pod: current, blockers });
    } else if (known && known.endedAtMs === undefined) known.endedAtMs = scene.nowMs;
  }

  #blockersOf(pod: Pod, node: string, scene: ObservedWorld): string[] {
    const before = this.#nominated(node)
      .map(({ pod: other }) => other)
      .filter((other) => other.metadata.uid !== pod.metadata.uid && priorityOf(other) >= priorityOf(pod));
    if (cpuOf([...before, pod]) <= cpuOfNode(node, scene)) return [];
    return before.map(({ metadata }) => metadata.uid ?? '');
  }

  /** True if the Pod may end others: the scheduler could see all its blockers before it stored the nomination. */
  #isAble({ blockers }: Nomination): boolean {
    const isThere = (uid: string) => this.#nominations.get(uid)?.endedAtMs === undefined;
    return blockers.length === 0 || !blockers.every(isThere);
  }

  /** Returns the nominations of this node. With `sinceMs`, also those that have ended since then. */
  #nominated(node: string, sinceMs = Number.POSITIVE_INFINITY): Nomination[] {
    return [...this.#nominations.values()].filter(({ pod, endedAtMs }) => {
      const counts = endedAtMs === undefined || endedAtMs >= sinceMs;
      return counts && pod.status?.nominatedNodeName === node;
    });
  }

  /** Finds the round of a victim, if only one Pod may have caused it. */
  #note(victim: Pod, scene: ObservedWorld): void {
    const { nowMs } = scene;
    const { nodeName: node = '' } = victim.spec;
    const able = this.#nominated(node, nowMs - NEWS_MS).filter((nomination) => this.#isAble(nomination));
    const preemptor = able[0]?.pod;
    if (!preemptor || able.length > 1) return;
    const { uid = '' } = preemptor.metadata;
    const before = this.#rounds.get(uid);
    const isSame = before?.node === node && nowMs - before.startedAtMs <= ROUND_MS;
    const round: Round = isSame ? before : this.#newRound(preemptor, victim, scene);
    round.victims.set(victim.metadata.uid ?? '', victim);
    this.#rounds.set(uid, round);
    this.#open.add(round);
    this.#current = { round, before: isSame ? undefined : before };
  }

  #newRound(preemptor: Pod, victim: Pod, scene: ObservedWorld): Round {
    const { nodeName: node = '' } = victim.spec;
    const { nowMs } = scene;
    const isQuiet = nowMs - (this.#movedAtMs.get(node) ?? Number.NEGATIVE_INFINITY) > NEWS_MS;
    const round: Round = { preemptor, node, startedAtMs: nowMs, victims: new Map() };
    return isQuiet ? { ...round, present: [...staying(node, scene), victim] } : round;
  }

  judgeVictim(change: StoredChange, { nowMs }: ObservedWorld): Verdict {
    const victim = victimOf(change);
    if (!victim) return undefined;
    const { nodeName: node = '' } = victim.spec;
    const takers = this.#nominated(node, nowMs - NEWS_MS).map(({ pod }) => pod);
    if (takers.some((pod) => priorityOf(pod) > priorityOf(victim))) return true;
    const named = takers.map((pod) => `${pod.metadata.name} (${priorityOf(pod)})`).join(', ');
    return `${victim.metadata.name} (${priorityOf(victim)}) is preempted on ${node}, nominated are [${named}]`;
  }

  judgeRound(_change: StoredChange, { stored }: ObservedWorld): Verdict {
    if (!this.#current) return undefined;
    const { round, before } = this.#current;
    if (!before || before.node !== round.node) return true;
    const ending = [...before.victims.keys()].find((uid) => stored.pods.has(uid));
    if (ending === undefined) return true;
    const names = [before, round].map(({ victims }) => [...victims.values()].map(nameOf).join(' and '));
    return `${nameOf(round.preemptor)} preempts ${names[1]} while ${names[0]} are ending`;
  }

  judgeSuccessor({ kind, current }: StoredChange, scene: ObservedWorld): Verdict {
    if (!this.#current || kind !== 'Pod' || !current) return undefined;
    const daemonSet = scene.stored.ownerOf(current as Pod);
    if (!daemonSet || isHostsOwn(current as Pod, scene)) return undefined;
    const { round } = this.#current;
    const { uid = '' } = round.preemptor.metadata;
    const ended = this.#victimsOf.get(uid) ?? new Map<string, number>();
    this.#victimsOf.set(uid, ended);
    const place = `${daemonSet.metadata.uid}@${round.node}`;
    const at = ended.get(place) ?? round.startedAtMs;
    ended.set(place, at);
    if (at === round.startedAtMs) return true;
    return `${nameOf(round.preemptor)} preempts a second Pod of ${daemonSet.metadata.name} on ${round.node}`;
  }

  /** Judges rounds that are complete. */
  judgeNeed(scene: ObservedWorld): Verdict {
    let verdict: Verdict;
    for (const round of this.#open) {
      if (scene.nowMs - round.startedAtMs <= ROUND_MS) continue;
      this.#open.delete(round);
      if (!round.present) continue;
      verdict = unneeded(round, cpuOfNode(round.node, scene)) ?? true;
      if (verdict !== true) return verdict;
    }
    return verdict;
  }

  judgeBinding({ kind, previous, current }: StoredChange, scene: ObservedWorld): Verdict {
    if (kind !== 'Pod' || !current || (previous as Pod | undefined)?.spec.nodeName) return undefined;
    const bound = current as Pod;
    const { nodeName: node } = bound.spec;
    if (!node || cpuOf([bound]) === 0 || isHostsOwn(bound, scene)) return undefined;
    const higher = this.#nominated(node)
      .map(({ pod }) => pod)
      .filter((pod) => priorityOf(pod) > priorityOf(bound));
    if (higher.length === 0) return undefined;
    const used = cpuOf(staying(node, scene));
    const squeezed = higher.find((pod) => used + cpuOf([pod]) > cpuOfNode(node, scene));
    return !squeezed || `${nameOf(bound)} is bound to ${node} and takes the room of ${nameOf(squeezed)}`;
  }
}

/** True for the successor of a handover. Its host may have started it before the scheduler chose. */
function isHostsOwn({ metadata }: Pod, { stored }: ObservedWorld): boolean {
  return stored.acknowledgedPods.has(metadata.uid ?? '');
}

const nameOf = ({ metadata }: Pod): string => metadata.name;

/** Returns the Pod if this change preempts it. */
function victimOf({ kind, previous, current }: StoredChange): Pod | undefined {
  if (kind !== 'Pod' || !previous || !current || isLeaving(previous)) return undefined;
  return isPreempted(current as Pod) ? (current as Pod) : undefined;
}

/** Returns a victim that could have stayed. */
function unneeded({ preemptor, present = [], victims, node }: Round, cpus: number): string | undefined {
  const kept = present.filter(({ metadata }) => !victims.has(metadata.uid ?? ''));
  const spared = [...victims.values()].find((victim) => cpuOf([...kept, victim, preemptor]) <= cpus);
  return spared && `${nameOf(spared)} is preempted on ${node}, and ${nameOf(preemptor)} fits beside it`;
}
