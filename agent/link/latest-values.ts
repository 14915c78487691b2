/** The newest value for each key, and whether the hub has it. */

/** `unsent`: newer than the last report; `sent`: in the report in flight; `known`: acknowledged in this session. */
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

  /** Returns up to `max` unsent values for a report, limited to keys that are `allowed`. */
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

  /** Marks the values of the acknowledged report as known. Returns their keys, except keys with newer values. */
  acknowledge(): string[] {
    const sent = [...this.#entries].filter(([, entry]) => entry.delivery === 'sent');
    for (const [, entry] of sent) entry.delivery = 'known';
    return sent.map(([key]) => key);
  }

  /** Marks the value as unsent, if there is one. */
  resend(key: string): void {
    const entry = this.#entries.get(key);
    if (entry) entry.delivery = 'unsent';
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Marks all values as unsent: a new session knows none of them. */
  resendAll(): void {
    for (const entry of this.#entries.values()) entry.delivery = 'unsent';
  }
}
