/**
 * Brings one agent to hold what its node needs: a set of uids to look at again, and one difference on its way at a time.
 * What changes meanwhile merges into the next. Absence of news means nothing; only `gone` takes something away.
 */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import type {
  Desired,
  DesiredObject,
  ObjectDigest,
  ReturnRequest,
} from '../../../shared/link/messages/link-messages.js';
import type { UnknownPodVerdict } from '../../decisions/restore/unknown-pod.js';
import { desiredDigest } from './desired-object.js';

/** Bytes of objects in one message; a single object may be larger (1.5 MiB) and still fits a frame. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_MESSAGE_OBJECTS = 1_000;

/** What the node is to hold, as the informers know it. */
export interface DesiredSource {
  /** The Pod with this uid if it is bound to the node; the ConfigMap or Secret if such a Pod names it. */
  object(uid: string): KubeObject | undefined;
  /** All Pods bound to the node, and what they name. */
  objects(): readonly KubeObject[];
  /** The revision at which the two are true. */
  revision(): number;
  /** The object as it goes to this node. */
  encode(object: KubeObject): DesiredObject;
  /** What becomes of a uid that the agent named in its hello and the store does not know. */
  unknownPodVerdict(digest: string, wasAsked: boolean): UnknownPodVerdict;
}

export class DesiredSender {
  readonly #source: DesiredSource;
  readonly #send: (message: Desired | ReturnRequest) => void;
  readonly #wake: () => void;
  /** Digest by uid of what the agent holds or has on its way; "" = only its engine has it. */
  readonly #held: Map<string, string>;
  readonly #dirty: Set<string>;
  /** Uids of the hello that the store has not known yet, and whether the agent was asked for them. */
  readonly #strangers = new Map<string, boolean>();
  readonly #unanswered = new Set<string>();
  readonly #onSettled: () => void;
  #isSettled = false;
  #lastId = 0;
  #inFlight: number | undefined;

  /**
   * `wake` asks for a `flush` in due time; it may be called many times. `onSettled` is called once: what the host held at its
   * hello and the store lacked is stored by then, or cannot be.
   */
  constructor(
    have: readonly ObjectDigest[],
    source: DesiredSource,
    send: (message: Desired | ReturnRequest) => void,
    wake: () => void,
    onSettled: () => void = () => undefined,
  ) {
    this.#source = source;
    this.#send = send;
    this.#wake = wake;
    this.#onSettled = onSettled;
    this.#held = new Map(have);
    this.#dirty = new Set(this.#held.keys());
    for (const uid of this.#held.keys()) {
      if (!source.object(uid)) this.#strangers.set(uid, false);
    }
    for (const { metadata } of source.objects()) this.#dirty.add(metadata.uid ?? '');
    wake();
  }

  /** Something about this object changed. */
  markChanged(uid: string): void {
    this.#dirty.add(uid);
    if (this.#inFlight === undefined) this.#wake();
  }

  /** True for a uid that the agent was asked for and has not answered yet. */
  isReturnRequested(uid: string): boolean {
    return this.#unanswered.has(uid);
  }

  /** The agent answered; what it gave back is stored and known to the source, or cannot be. */
  returnStored(uids: readonly string[]): void {
    for (const uid of uids) this.#unanswered.delete(uid);
    this.#wake();
  }

  /** The agent's engine shows containers of these Pods, of which the hello knew nothing. */
  addFoundInEngine(uids: readonly string[]): void {
    for (const uid of uids) {
      if (this.#held.has(uid)) continue;
      this.#held.set(uid, '');
      if (!this.#source.object(uid)) this.#strangers.set(uid, false);
      this.#dirty.add(uid);
    }
    this.#wake();
  }

  /** The agent holds this uid and may not: it is told so. */
  withdraw(uid: string): void {
    this.#held.set(uid, '');
    this.markChanged(uid);
  }

  /** What `source.unknown` says may be another now. */
  recheckUnknown(): void {
    for (const uid of this.#strangers.keys()) this.#dirty.add(uid);
    this.#wake();
  }

  /** The agent has difference `id` on disk. False when no such one was under way. */
  applied(id: number): boolean {
    if (id !== this.#inFlight) return false;
    this.#inFlight = undefined;
    if (this.#dirty.size > 0) this.#wake();
    return true;
  }

  /** Sends the next difference, if there is one and none is under way. */
  flush(): void {
    if (this.#inFlight !== undefined || this.#isAsking()) return;
    if (!this.#isSettled) {
      this.#isSettled = true;
      this.#onSettled();
    }
    const { set, removed: gone } = this.#takeDifference();
    if (set.length === 0 && gone.length === 0) return;
    this.#lastId += 1;
    this.#inFlight = this.#lastId;
    this.#send({ kind: 'desired', id: this.#lastId, revision: this.#source.revision(), set, removed: gone });
  }

  /** Until it is known what the host has, it is sent nothing: it would count as one that has seen this epoch. */
  #isAsking(): boolean {
    const uids = [...this.#strangers.keys()].filter(
      (uid) => !this.#source.object(uid) && this.#verdict(uid) === 'ask',
    );
    for (const uid of uids) {
      this.#strangers.set(uid, true);
      this.#unanswered.add(uid);
    }
    if (uids.length > 0) this.#send({ kind: 'returnRequest', uids });
    return this.#unanswered.size > 0;
  }

  #verdict(uid: string): UnknownPodVerdict {
    const wasAsked = this.#strangers.get(uid);
    // What this session has seen in the store and no longer sees was deleted.
    return wasAsked === undefined
      ? 'gone'
      : this.#source.unknownPodVerdict(this.#held.get(uid) ?? '', wasAsked);
  }

  #takeDifference(): Pick<Desired, 'set' | 'removed'> {
    const difference: Pick<Desired, 'set' | 'removed'> = { set: [], removed: [] };
    let bytes = 0;
    for (const [uid, object] of this.#dirtyInOrder()) {
      if (bytes >= MAX_MESSAGE_BYTES || difference.set.length >= MAX_MESSAGE_OBJECTS) break;
      this.#dirty.delete(uid);
      if (!object) {
        if (this.#verdict(uid) === 'gone' && this.#held.delete(uid)) difference.removed.push(uid);
        continue;
      }
      this.#strangers.delete(uid);
      if (this.#isNews(uid, object)) {
        const desired = this.#source.encode(object);
        this.#held.set(uid, desired.digest);
        difference.set.push(desired);
        bytes += desired.object.length;
      }
    }
    return difference;
  }

  /** Pods come last: a host that has one has what it names, or there is no such object. */
  #dirtyInOrder(): (readonly [uid: string, object: KubeObject | undefined])[] {
    const all = [...this.#dirty].map((uid) => [uid, this.#source.object(uid)] as const);
    const isPod = ([, object]: (typeof all)[number]) => object?.kind === 'Pod';
    return [...all.filter((each) => !isPod(each)), ...all.filter(isPod)];
  }

  /**
   * A Pod that has ended is not brought to a host that does not know it: it would run again. One that is to be deleted as
   * well would not, and waits for the word of a host that may have lost what it held.
   */
  #isNews(uid: string, object: KubeObject): boolean {
    const held = this.#held.get(uid);
    if (held === undefined) return !mayRunAgain(object);
    return held !== desiredDigest(object);
  }
}

function mayRunAgain({ kind, metadata, ...rest }: KubeObject): boolean {
  return kind === 'Pod' && !metadata.deletionTimestamp && isPodTerminal(rest as Pod);
}
