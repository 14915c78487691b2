/** A restore that waits for an operator's confirmation. Implemented by the coordinator's `RestoreState`. */
export interface PendingRestore {
  /** While this is defined, hosts keep Pods that the store does not know. */
  unconfirmed(): object | undefined;
  readonly confirmed: Promise<void>;
}
