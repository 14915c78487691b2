/**
 * Brings one agent to hold what its node needs: a set of uids to look at again, and one difference on its way at a time.
 * What changes meanwhile merges into the next. Absence of news means nothing; only `gone` takes something away.
 */
import { isPodTerminal, type Pod } from '../../shared/kube/pod.js';
import type { Desired, Held } from '../../shared/link/messages.js';
import { desiredDigest, encodeDesired } from './desired-object.js';

/** Bytes of objects in one message; a single object may be larger (1.5 MiB) and still fits a frame. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_MESSAGE_OBJECTS = 1_000;

/** What the node is to hold, as the informers know it. */
export interface DesiredSource {
  /** The Pod with this uid if it is bound to the node. */
  pod(uid: string): Pod | undefined;
  /** All Pods bound to the node. */
  pods(): readonly Pod[];
  /** The revision at which the two are true. */
  revision(): number;
}

export class DesiredSender {
  readonly #source: DesiredSource;
  readonly #send: (message: Desired) => void;
  readonly #wake: () => void;
  /** Digest by uid of what the agent holds or has on its way; "" = only its engine has it. */
  readonly #held: Map<string, string>;
  readonly #dirty: Set<string>;
  #lastId = 0;
  #inFlight: number | undefined;

  /** `wake` asks for a `flush` in due time; it may be called many times. */
  constructor(
    have: readonly Held[],
    source: DesiredSource,
    send: (message: Desired) => void,
    wake: () => void,
  ) {
    this.#source = source;
    this.#send = send;
    this.#wake = wake;
    this.#held = new Map(have);
    this.#dirty = new Set(this.#held.keys());
    for (const pod of source.pods()) this.#dirty.add(pod.metadata.uid ?? '');
    wake();
  }

  /** Something about this object changed. */
  touch(uid: string): void {
    this.#dirty.add(uid);
    if (this.#inFlight === undefined) this.#wake();
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
    if (this.#inFlight !== undefined) return;
    const { set, gone } = this.#takeDifference();
    if (set.length === 0 && gone.length === 0) return;
    this.#lastId += 1;
    this.#inFlight = this.#lastId;
    this.#send({ kind: 'desired', id: this.#lastId, revision: this.#source.revision(), set, gone });
  }

  #takeDifference(): Pick<Desired, 'set' | 'gone'> {
    const difference: Pick<Desired, 'set' | 'gone'> = { set: [], gone: [] };
    let bytes = 0;
    for (const uid of this.#dirty) {
      if (bytes >= MAX_MESSAGE_BYTES || difference.set.length >= MAX_MESSAGE_OBJECTS) break;
      this.#dirty.delete(uid);
      const pod = this.#source.pod(uid);
      if (!pod) {
        if (this.#held.delete(uid)) difference.gone.push(uid);
      } else if (this.#isNews(uid, pod)) {
        const object = encodeDesired(pod);
        this.#held.set(uid, object.digest);
        difference.set.push(object);
        bytes += object.object.length;
      }
    }
    return difference;
  }

  /** A Pod that has ended is not brought to a host that does not know it: it would run again. */
  #isNews(uid: string, pod: Pod): boolean {
    const held = this.#held.get(uid);
    if (held === undefined && isPodTerminal(pod)) return false;
    return held !== desiredDigest(pod);
  }
}
