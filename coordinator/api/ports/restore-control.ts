/** What the API asks of whoever knows whether what is stored may be older than what runs. */

/** Fitted by the coordinator's `RestoreState`. */
export interface RestoreControl {
  /** The restore that waits for a person, if there is one. */
  unconfirmed(): UnconfirmedRestore | undefined;
  /** Resolves when the confirmation is durable; controllers go to work then. */
  confirm(): Promise<void>;
}

export interface UnconfirmedRestore {
  /** When the backup was taken, ms since the epoch. */
  takenAt: number;
}
