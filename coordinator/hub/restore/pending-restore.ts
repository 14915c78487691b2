/** A restore that waits for a person, as the hub sees it; the coordinator's `RestoreState` fits it. */
export interface PendingRestore {
  /** While there is one, nothing that the store does not know is taken from a host. */
  unconfirmed(): object | undefined;
  readonly confirmed: Promise<void>;
}
