/** The newest value a key, and whether the other side has it yet. */

/** `unsent`: newer than what was reported; `sent`: in the report under way; `known`: acknowledged in this session. */
type Delivery = 'unsent' | 'sent' | 'known';

export class LatestValues<T> {
  readonly #entries = new Map<string, { value: T; delivery: Delivery }>();

  put(key: string, value: T): void {
    this.#entries.set(key, { value, delivery: 'unsent' });
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  isUnsent(key: string): boolean {
    return this.#entries.get(key)?.delivery === 'unsent';
  }

  /** Takes up to `max` unsent values into the report now made, of those keys that `allowed` lets pass. */
  take(max: number, allowed: (key: string) => boolean = () => true): T[] {
    const taken: T[] = [];
    for (const [key, entry] of this.#entries) {
      if (taken.length === max) break;
      if (entry.delivery !== 'unsent' || !allowed(key)) continue;
      entry.delivery = 'sent';
      taken.push(entry.value);
    }
    return taken;
  }

  /** The report under way arrived: answers its keys, save those that have a newer value since. */
  acknowledge(): string[] {
    const sent = [...this.#entries].filter(([, entry]) => entry.delivery === 'sent');
    for (const [, entry] of sent) entry.delivery = 'known';
    return sent.map(([key]) => key);
  }

  /** Tells this value again, if there is one. */
  resend(key: string): void {
    const entry = this.#entries.get(key);
    if (entry) entry.delivery = 'unsent';
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Whoever listens now knows nothing. */
  resendAll(): void {
    for (const entry of this.#entries.values()) entry.delivery = 'unsent';
  }
}
