/**
 * Brings one agent to the desired state of its node. It keeps a set of uids to compare and at most two differences in
 * flight. Changes in the meantime are merged into the next difference. A uid that is not mentioned is unchanged: only
 * `removed` deletes an object.
 */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { ownText } from '../../../shared/kube/objects/own-text.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import type {
  Desired,
  DesiredObject,
  ObjectDigest,
  ReturnRequest,
} from '../../../shared/link/messages/link-messages.js';
import type { UnknownPodVerdict } from '../../decisions/restore/unknown-pod.js';
import { desiredDigest } from './desired-object.js';

/** Limit for the objects in one message. A single larger object (up to 1.5 MiB) still fits into a frame. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_MESSAGE_OBJECTS = 1_000;

/** An agent may report a difference as applied up to 500 ms late. The next difference must not wait for that. */
const MAX_IN_FLIGHT = 2;
/** How long the removal of a Pod that its host has stopped waits for another difference. */
const KNOWN_REMOVAL_MS = 1_000;

/** The desired state of one node, read from the informers. */
export interface DesiredSource {
  /**
   * Returns the Pod with this uid if it is bound to the node, or the ConfigMap or Secret if such a Pod references it.
   */
  object(uid: string): KubeObject | undefined;
  /** Returns all Pods that are bound to the node, and the objects that they reference. */
  objects(): readonly KubeObject[];
  /** The store revision that `object` and `objects` reflect. */
  revision(): number;
  encode(object: KubeObject): DesiredObject;
  /** Decides about a uid that the agent named in its hello and that the store does not have. */
  unknownPodVerdict(digest: string, wasRequested: boolean): UnknownPodVerdict;
}

export class DesiredSender {
  readonly #source: DesiredSource;
  readonly #send: (message: Desired | ReturnRequest) => void;
  readonly #wake: (delayMs?: number) => void;
  /** Digest by uid of objects on the agent or in flight to it. "": only its engine has the Pod. */
  readonly #held: Map<string, string>;
  readonly #dirty: Set<string>;
  /** Uids from the hello that the store does not have yet, and whether the agent was asked to return them. */
  readonly #unknownUids = new Map<string, boolean>();
  readonly #requested = new Set<string>();
  /** Pods that have stopped on the host, and whose removal was not sent yet. */
  readonly #stopped = new Set<string>();
  readonly #onSettled: () => void;
  #isSettled = false;
  #lastId = 0;
  #appliedId = 0;

  /**
   * `wake` requests a `flush`, soon or after a delay, and may be called repeatedly. `onSettled` is called once. By then, each object that
   * the host held at its hello and that the store lacked is stored or rejected.
   */
  constructor(
    have: readonly ObjectDigest[],
    source: DesiredSource,
    send: (message: Desired | ReturnRequest) => void,
    wake: (delayMs?: number) => void,
    onSettled: () => void = () => undefined,
  ) {
    this.#source = source;
    this.#send = send;
    this.#wake = wake;
    this.#onSettled = onSettled;
    this.#held = new Map(have.map(([uid, digest]) => [ownText(uid), ownText(digest)]));
    this.#dirty = new Set(this.#held.keys());
    for (const uid of this.#held.keys()) {
      if (!source.object(uid)) this.#unknownUids.set(uid, false);
    }
    for (const { metadata } of source.objects()) this.#dirty.add(metadata.uid ?? '');
    wake();
  }

  markChanged(uid: string): void {
    this.#dirty.add(uid);
    if (this.#isFull) return;
    const isKnown = this.#stopped.has(uid) && this.#source.object(uid) === undefined;
    if (isKnown) this.#wake(KNOWN_REMOVAL_MS);
    else this.#wake();
  }

  /**
   * Called when the host has reported that the Pod has stopped. Its removal from the store is no news for the host, so
   * it waits for the next difference, which usually has the Pod's successor.
   */
  hostStopped(uid: string): void {
    this.#stopped.add(uid);
  }

  /** True for a uid that the agent was asked to return and has not returned yet. */
  isReturnRequested(uid: string): boolean {
    return this.#requested.has(uid);
  }

  /** Called when the agent has returned these objects, and they are stored or rejected. */
  returnStored(uids: readonly string[]): void {
    for (const uid of uids) this.#requested.delete(uid);
    this.#wake();
  }

  /** Called for Pods with containers in the agent's engine that its hello did not list. */
  addFoundInEngine(uids: readonly string[]): void {
    for (const uid of uids) {
      if (this.#held.has(uid)) continue;
      this.#held.set(uid, '');
      if (!this.#source.object(uid)) this.#unknownUids.set(uid, false);
      this.#dirty.add(uid);
    }
    this.#wake();
  }

  /** Removes an object from the agent that it must not have. */
  withdraw(uid: string): void {
    this.#held.set(uid, '');
    this.markChanged(uid);
  }

  /** Asks `source` again about uids that the store does not have, because its verdict may have changed. */
  recheckUnknown(): void {
    for (const uid of this.#unknownUids.keys()) this.#dirty.add(uid);
    this.#wake();
  }

  get #isFull(): boolean {
    return this.#lastId - this.#appliedId >= MAX_IN_FLIGHT;
  }

  /** Called when the agent has difference `id` and all earlier ones on disk. Returns false if `id` was not in flight. */
  applied(id: number): boolean {
    if (id <= this.#appliedId || id > this.#lastId) return false;
    this.#appliedId = id;
    if (this.#dirty.size > 0) this.#wake();
    return true;
  }

  /** Sends the next difference, if there is one. */
  flush(): void {
    if (this.#isFull || this.#isAsking()) return;
    if (!this.#isSettled) {
      this.#isSettled = true;
      this.#onSettled();
    }
    const { set, removed } = this.#takeDifference();
    if (set.length === 0 && removed.length === 0) return;
    this.#lastId += 1;
    this.#send({ kind: 'desired', id: this.#lastId, revision: this.#source.revision(), set, removed });
    // One message did not have room for all.
    if (this.#dirty.size > 0) this.#wake();
  }

  /**
   * Asks the agent to return unknown objects. Until they have arrived nothing is sent: an agent that has received
   * desired state of this epoch counts as up to date.
   */
  #isAsking(): boolean {
    const uids = [...this.#unknownUids.keys()].filter(
      (uid) => !this.#source.object(uid) && this.#verdict(uid) === 'ask',
    );
    for (const uid of uids) {
      this.#unknownUids.set(uid, true);
      this.#requested.add(uid);
    }
    if (uids.length > 0) this.#send({ kind: 'returnRequest', uids });
    return this.#requested.size > 0;
  }

  #verdict(uid: string): UnknownPodVerdict {
    const wasRequested = this.#unknownUids.get(uid);
    // An object that this session has seen in the store and that is missing now was deleted.
    return wasRequested === undefined
      ? 'gone'
      : this.#source.unknownPodVerdict(this.#held.get(uid) ?? '', wasRequested);
  }

  #takeDifference(): Pick<Desired, 'set' | 'removed'> {
    const difference: Pick<Desired, 'set' | 'removed'> = { set: [], removed: [] };
    let bytes = 0;
    for (const [uid, object] of this.#dirtyInOrder()) {
      if (bytes >= MAX_MESSAGE_BYTES || difference.set.length >= MAX_MESSAGE_OBJECTS) break;
      this.#dirty.delete(uid);
      if (!object) {
        this.#stopped.delete(uid);
        if (this.#verdict(uid) === 'gone' && this.#held.delete(uid)) difference.removed.push(uid);
        continue;
      }
      this.#unknownUids.delete(uid);
      if (this.#mustSend(uid, object)) {
        const desired = this.#source.encode(object);
        this.#held.set(uid, desired.digest);
        difference.set.push(desired);
        bytes += desired.object.length;
      }
    }
    return difference;
  }

  /**
   * Sends Pods last, so that a host with a Pod already has the objects that the Pod references, as far as they exist.
   */
  #dirtyInOrder(): (readonly [uid: string, object: KubeObject | undefined])[] {
    const all = [...this.#dirty].map((uid) => [uid, this.#source.object(uid)] as const);
    const isPod = ([, object]: (typeof all)[number]) => object?.kind === 'Pod';
    return [...all.filter((each) => !isPod(each)), ...all.filter(isPod)];
  }

  /**
   * Never sends a Pod that has ended to a host that does not know it, because the host would run it again. If such a
   * Pod is marked for deletion, the host does not run it: it is sent, so that a host that lost its data can confirm the
   * deletion.
   */
  #mustSend(uid: string, object: KubeObject): boolean {
    const held = this.#held.get(uid);
    if (held === undefined) return !mayRunAgain(object);
    return held !== desiredDigest(object);
  }
}

function mayRunAgain({ kind, metadata, ...rest }: KubeObject): boolean {
  return kind === 'Pod' && !metadata.deletionTimestamp && isPodTerminal(rest as Pod);
}
