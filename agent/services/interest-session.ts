/** Sends this host's interest in Services over the link. Names of one turn of the event loop share a message. */
import type { ServiceInterest } from '../../shared/link/messages/link-messages.js';

type SendInterest = (interest: ServiceInterest) => void;

export class InterestSession {
  #send: SendInterest | undefined;
  readonly #wanted = new Map<string, string>();
  readonly #unwanted = new Set<string>();
  /** Services that the hub was asked for in this session. */
  readonly #asked = new Set<string>();
  #isScheduled = false;

  get isLive(): boolean {
    return this.#send !== undefined;
  }

  /** Returns false for a Service that the hub may have sent without a request. */
  hasAsked(key: string): boolean {
    return this.#asked.has(key);
  }

  /** Starts a session with the whole interest. It is sent even if it is empty, so that the hub can rely on it. */
  start(send: SendInterest, wanted: [key: string, digest: string][]): void {
    this.#clear();
    this.#send = send;
    for (const [key] of wanted) this.#asked.add(key);
    send({ kind: 'serviceInterest', wanted, unwanted: [] });
  }

  end(): void {
    this.#clear();
    this.#send = undefined;
  }

  want(key: string): void {
    this.#unwanted.delete(key);
    this.#asked.add(key);
    this.#wanted.set(key, '');
    this.#schedule();
  }

  drop(keys: readonly string[]): void {
    for (const key of keys) {
      this.#wanted.delete(key);
      this.#asked.delete(key);
      this.#unwanted.add(key);
    }
    if (keys.length > 0) this.#schedule();
  }

  #clear(): void {
    this.#wanted.clear();
    this.#unwanted.clear();
    this.#asked.clear();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      const [wanted, unwanted] = [[...this.#wanted], [...this.#unwanted]];
      this.#wanted.clear();
      this.#unwanted.clear();
      if (wanted.length > 0 || unwanted.length > 0)
        this.#send?.({ kind: 'serviceInterest', wanted, unwanted });
    });
  }
}
