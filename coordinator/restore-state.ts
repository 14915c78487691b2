/** A restore that an operator must confirm. */
import type { Logger } from '../shared/process/output/logger.js';
import type { RestoreControl, UnconfirmedRestore } from './api/ports.js';
import type { Store } from './store/store.js';

export class RestoreState implements RestoreControl {
  /** Resolves when no restore must be confirmed. */
  readonly confirmed: Promise<void>;
  readonly #store: Store;
  readonly #log: Logger;
  #settle: () => void = () => undefined;

  constructor(store: Store, log: Logger) {
    this.#store = store;
    this.#log = log;
    this.confirmed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    if (!store.isUnconfirmed()) this.#settle();
    else this.logReminder();
  }

  logReminder(): void {
    const waiting = this.unconfirmed();
    if (!waiting) return;
    const backupTakenAt = new Date(waiting.takenAt).toISOString();
    this.#log.warn(
      { backupTakenAt },
      'the restore is not confirmed: controllers do not run until "everynode confirm-restore"',
    );
  }

  unconfirmed(): UnconfirmedRestore | undefined {
    const last = this.#store.pastEpochs().at(-1);
    return this.#store.isUnconfirmed() ? { takenAt: last?.takenAt ?? 0 } : undefined;
  }

  async confirm(): Promise<void> {
    if (!this.#store.isUnconfirmed()) return;
    await this.#store.confirmRestore();
    this.#log.info('restore confirmed');
    this.#settle();
  }
}
