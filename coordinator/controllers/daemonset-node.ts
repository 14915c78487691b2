/** Key `ds@node`: place, remove and replace one DaemonSet's Pods on one node. Nobody else creates or deletes them. */
import type { KubeObject } from '../../shared/kube/meta.js';
import type { Pod } from '../../shared/kube/pod.js';
import { ApiError } from '../../shared/kube/status.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { daemonPod } from '../decisions/daemon-pod.js';
import type { HostTurnTerms } from '../decisions/host-turn-terms.js';
import { recordNode } from '../decisions/node-record.js';
import { isIdle, type NodeStep, nodeStep, type PodDeletion } from '../decisions/node-step.js';
import type { NodeSituation } from '../decisions/rolling-update.js';
import { podKind } from '../kinds/index.js';
import { CreateGate } from './create-gate.js';
import { DaemonPodModels } from './daemon-pod-models.js';
import { fleetKey, nodeKey, parseKey } from './daemonset-keys.js';
import type { DaemonSetParts } from './daemonset-parts.js';
import type { DaemonSetTallies } from './daemonset-tallies.js';
import type { DaemonSetTally, GivenTurn } from './daemonset-tally.js';
import { type DaemonNodeView, viewNode } from './daemonset-view.js';
import { HostRoom, ROOM_RECHECK_MS } from './host-room.js';
import { HostTurns } from './host-turns.js';
import { adopt, preconditionsOf, release } from './ownership.js';
import type { Turn } from './worker.js';

/** How the node controller calls for other looks. */
export interface NodeSignals {
  /** The tally of a DaemonSet moved. */
  tallyMoved(fleetKey: string): void;
  /** Look at a node again. */
  wakeNode(nodeKey: string): void;
}

/** One look at a node: what stands there, and what it asks for. */
export interface Look extends DaemonNodeView {
  step: NodeStep;
  place?: NodeSituation;
  busy: boolean;
  /** Name of the old Pod whose host has said that it knows that its turn was taken back. */
  settled?: string;
  /** Time alone changes something after so many ms. */
  againMs?: number;
}

interface Subject {
  daemonSet: DaemonSet;
  tally: DaemonSetTally;
  nodeName: string;
  turn: Turn;
}

/** Reconciles nodes' keys; what it keeps in memory only slows or delays, and may be lost. */
export class DaemonSetNodes {
  readonly #parts: DaemonSetParts;
  readonly #tallies: DaemonSetTallies;
  readonly #signals: NodeSignals;
  /** Keys whose writes the informers may not show yet: they end with the next look of that key. */
  readonly #writing = new Set<string>();
  /** By uid of the DaemonSet; only those whose creates were asked for. */
  readonly #gates = new Map<string, CreateGate>();

  readonly #models: DaemonPodModels;
  readonly #hostTurns: HostTurns;
  readonly #room: HostRoom;

  constructor(parts: DaemonSetParts, tallies: DaemonSetTallies, signals: NodeSignals) {
    this.#models = new DaemonPodModels(parts.registry);
    this.#hostTurns = new HostTurns(parts.registry, this.#models);
    this.#room = new HostRoom(parts, this.#hostTurns);
    this.#parts = parts;
    this.#tallies = tallies;
    this.#signals = signals;
  }

  /** Takes the node's state into the tally. `busy`: there is something to do there, which is for the node's key. */
  count(daemonSet: DaemonSet, tally: DaemonSetTally, nodeName: string): Look {
    const { clock, informers, restoredEra } = this.#parts;
    const { current } = tally.subject;
    const now = clock.now();
    const heldTo = tally.heldBack(nodeName)?.daemonSet;
    const view = viewNode(informers, daemonSet, current, nodeName, { restoredEra, heldTo });
    const { claims } = view;
    const node = this.#room.judge(daemonSet, tally, view.node);
    const backoff = tally.backoffs.get(nodeName);
    const step = nodeStep({ node, spec: daemonSet.spec, current, backoff, now });
    const record = recordNode(node, daemonSet.spec.minReadySeconds ?? 0, now);
    if (tally.record(nodeName, record)) this.#signals.tallyMoved(fleetKey(daemonSet));
    if (this.#writing.has(nodeKey(daemonSet, nodeName))) tally.markUnderWay(nodeName);
    const settled = node.pods.find(
      ({ turn, terminating }) => turn?.withdrawn === 'Heard' && !terminating,
    )?.name;
    const roomAt = tally.noRoom.has(nodeName) ? now + ROOM_RECHECK_MS : undefined;
    const times = [record.lookAgainAt, step.lookAgainAt, roomAt].filter((time) => time !== undefined);
    return {
      node,
      claims,
      step,
      ...(record.place ? { place: record.place } : {}),
      busy: claims.length > 0 || !isIdle(step) || settled !== undefined,
      ...(settled === undefined ? {} : { settled }),
      ...(times.length > 0 ? { againMs: Math.min(...times) - now } : {}),
    };
  }

  /** Forgets what is kept in memory of a DaemonSet that is gone. */
  forget(uid: string): void {
    this.#gates.delete(uid);
  }

  async reconcile(key: string, turn: Turn): Promise<void> {
    this.#writing.delete(key);
    const { ref, nodeName } = parseKey(key);
    const daemonSet = this.#parts.informers.daemonSets.get(ref);
    // Without a tally of this generation, the fleet key has yet to begin one, and that visits every node.
    const tally = daemonSet && this.#tallies.of(daemonSet);
    if (!daemonSet || !tally || daemonSet.metadata.deletionTimestamp) return;
    const subject = { daemonSet, tally, nodeName, turn };
    try {
      await this.#act(subject);
    } finally {
      this.#gates.get(tally.subject.uid)?.wakeWaiting();
    }
  }

  /** First whose the Pods are, then what must be there, then what the rolling update wants: one of them a time. */
  async #act(subject: Subject): Promise<void> {
    const { daemonSet, tally, nodeName, turn } = subject;
    const order = tally.takeTurn(nodeName);
    const look = this.count(daemonSet, tally, nodeName);
    if (look.againMs !== undefined) turn.againAfter(look.againMs);
    if (!look.busy && !order) return;
    const isOfTurn = order?.turn === 'withdraw' || look.settled !== undefined;
    if (!isOfTurn && tally.holdsStill(nodeName)) return;
    // Until its own writes have been seen and looked at, the node counts as under way.
    tally.markUnderWay(nodeName);
    this.#writing.add(nodeKey(daemonSet, nodeName));
    if (look.settled !== undefined) await this.#endTurn(subject, look.settled, 'settle');
    else if (look.claims.length > 0) await this.#claim(subject, look.claims);
    else if (!isIdle(look.step)) await this.#perform(subject, look.step);
    else if (order) await this.#replace(subject, look, order);
  }

  /** Carries out a turn, if it still makes sense. */
  async #replace(subject: Subject, { node, place }: Look, order: GivenTurn): Promise<void> {
    const { turn } = order;
    const live = node.pods.filter((pod) => !pod.terminating);
    const [newPod] = live.filter(({ updated }) => updated);
    const isOfUseAgain = !order.wasCovered && place?.covered === true && live.length === 1;
    // It goes whatever the budget as long as it is of no use: one that becomes ready at this moment stays.
    const asSeen = place?.covered !== true;
    if (isOfUseAgain && (turn === 'replace' || turn === 'revert')) subject.turn.againAfter(0);
    else if (turn === 'revert' && newPod) await this.#deletePod(subject, newPod.name, asSeen);
    else if (turn === 'withdraw' && place?.oldPod) await this.#endTurn(subject, place.oldPod, 'withdraw');
    else if (turn === 'replace' && place?.oldPod) {
      // Where none belongs any more there is nothing that a host could put in its place.
      const terms = live.length === 1 && node.shouldRun ? subject.tally.hostTurn(node.name) : undefined;
      if (terms) await this.#giveHostTurn(subject, place.oldPod, terms);
      else await this.#deletePod(subject, place.oldPod, asSeen);
    } else if (turn === 'create' && place?.oldPod && live.length === 1) await this.#create(subject);
    else subject.turn.againAfter(0);
  }

  /** The key is kept until the write is seen, and then looks again. */
  #wrote({ turn }: Subject, object: KubeObject): void {
    turn.wrote(object);
    turn.againAfter(0);
  }

  async #claim(subject: Subject, claims: DaemonNodeView['claims']): Promise<void> {
    const { registry } = this.#parts;
    for (const { pod, claim } of claims) {
      const take = claim === 'adopt' ? adopt : release;
      try {
        const stored = await take(registry, subject.daemonSet, podKind, pod);
        if (stored) this.#wrote(subject, stored);
      } catch (error) {
        if (!isSuperseded(error)) throw error;
      }
    }
  }

  async #perform(subject: Subject, step: NodeStep): Promise<void> {
    const { tally, nodeName } = subject;
    if (step.backoff) tally.backoffs.set(nodeName, step.backoff);
    for (const deletion of step.delete) {
      this.#tellReason(subject, deletion);
      await this.#deletePod(subject, deletion.name);
    }
    if (step.create) await this.#create(subject);
  }

  #tellReason({ daemonSet, nodeName }: Subject, { name, reason }: PodDeletion): void {
    const pod = `${daemonSet.metadata.namespace}/${name}`;
    if (reason === 'failed') {
      const text = `Found failed daemon pod ${pod} on node ${nodeName}, will try to kill it`;
      this.#parts.recordEvent(daemonSet, 'Warning', 'FailedDaemonPod', text);
    } else if (reason === 'succeeded') {
      const text = `Found succeeded daemon pod ${pod} on node ${nodeName}, will try to delete it`;
      this.#parts.recordEvent(daemonSet, 'Normal', 'SucceededDaemonPod', text);
    }
  }

  /** `asSeen`: only if nothing of it has changed since. */
  async #deletePod(subject: Subject, name: string, asSeen = false): Promise<void> {
    const { daemonSet } = subject;
    const { registry, recordEvent } = this.#parts;
    const pod = this.#podNamed(daemonSet, name);
    if (!pod) return;
    const { resourceVersion } = pod.metadata;
    const preconditions = { ...preconditionsOf(pod), ...(asSeen && resourceVersion && { resourceVersion }) };
    try {
      const result = await registry.delete(podKind, pod.metadata, { preconditions });
      this.#wrote(subject, 'deleted' in result ? result.deleted : result.terminating);
      recordEvent(daemonSet, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
    } catch (error) {
      if (isSuperseded(error)) return;
      recordEvent(daemonSet, 'Warning', 'FailedDelete', `Error deleting: ${textOf(error)}`);
      throw error;
    }
  }

  async #giveHostTurn(subject: Subject, name: string, terms: HostTurnTerms): Promise<void> {
    const { daemonSet, nodeName, tally } = subject;
    const old = this.#podNamed(daemonSet, name);
    if (!old) return;
    const refusals = this.#room.refusals(daemonSet, tally, old);
    if (refusals.length > 0) {
      tally.noRoom.set(nodeName, this.#parts.clock.now());
      const text = `failed to place pod on "${nodeName}": ${refusals.join(', ')}`;
      this.#parts.recordEvent(daemonSet, 'Warning', 'FailedPlacement', text);
      subject.turn.againAfter(0);
      return;
    }
    try {
      const { hash } = tally.subject.current;
      this.#wrote(subject, await this.#hostTurns.give({ daemonSet, hash }, old, terms));
      const text = `Gave node ${nodeName} its turn to replace pod: ${name}`;
      this.#parts.recordEvent(daemonSet, 'Normal', 'TurnGiven', text);
    } catch (error) {
      if (isSuperseded(error)) return;
      this.#parts.recordEvent(daemonSet, 'Warning', 'FailedCreate', `Error creating: ${textOf(error)}`);
      throw error;
    }
  }

  async #endTurn(subject: Subject, name: string, how: 'withdraw' | 'settle'): Promise<void> {
    if (subject.tally.noRoom.delete(subject.nodeName)) {
      subject.turn.againAfter(0);
      return;
    }
    const old = this.#podNamed(subject.daemonSet, name);
    if (!old) return;
    try {
      this.#wrote(subject, await this.#hostTurns[how](old));
    } catch (error) {
      if (!isSuperseded(error)) throw error;
    }
  }

  #podNamed({ metadata: { namespace } }: DaemonSet, name: string): Pod | undefined {
    return this.#parts.informers.pods.get({ ...(namespace ? { namespace } : {}), name });
  }

  async #create(subject: Subject): Promise<void> {
    const { daemonSet, nodeName, tally } = subject;
    const key = nodeKey(daemonSet, nodeName);
    const gate = this.#gateOf(tally.subject.uid);
    if (!gate.enter(key)) return;
    const { recordEvent, log } = this.#parts;
    try {
      const created = await this.#writePod(subject);
      gate.created();
      this.#wrote(subject, created);
      recordEvent(daemonSet, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    } catch (error) {
      gate.refused(key);
      if (isNamespaceEnding(error)) return;
      recordEvent(daemonSet, 'Warning', 'FailedCreate', `Error creating: ${textOf(error)}`);
      log.warn({ err: error, node: nodeName, daemonSet: fleetKey(daemonSet) }, 'could not create a Pod');
    }
  }

  /** Bound by the same write when there is room, else left to the scheduler. */
  async #writePod({ daemonSet, nodeName, tally }: Subject): Promise<Pod> {
    const { registry, reservations } = this.#parts;
    const current = { daemonSet, hash: tally.subject.current.hash };
    const made = tally.heldBack(nodeName) ?? current;
    const pod = daemonPod(made.daemonSet, nodeName, made.hash);
    const reservation = pod.spec.nodeName ? undefined : reservations.tryReserve(pod, nodeName);
    if (reservation?.bound) pod.spec.nodeName = nodeName;
    let written: Pod | undefined;
    try {
      const record = reservation?.bound
        ? await registry.createLike(this.#models.of(daemonSet, pod), nodeName)
        : await registry.create(podKind, daemonSet.metadata.namespace, pod);
      written = record.object();
      return written;
    } finally {
      if (reservation?.bound) reservation.settle(written);
    }
  }

  #gateOf(uid: string): CreateGate {
    const present = this.#gates.get(uid);
    if (present) return present;
    const gate = new CreateGate(this.#parts.clock, (key) => this.#signals.wakeNode(key));
    this.#gates.set(uid, gate);
    return gate;
  }
}

/** The object is gone or another by now: there is nothing left to do to it. */
function isSuperseded(error: unknown): boolean {
  return error instanceof ApiError && (error.reason === 'NotFound' || error.reason === 'Conflict');
}

function isNamespaceEnding(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    (error.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')
  );
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
