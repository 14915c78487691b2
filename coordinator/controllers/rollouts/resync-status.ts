/** Whom the coordinator has heard since its own start: what is stored of the Pods of others is as old as its last end. */
export interface ResyncStatus {
  /** The host has yet to tell how its Pods do, and may soon. One that is known to be out of contact is awaited by nobody. */
  isAwaitingResync(node: string): boolean;
  /** When it was heard first, ms since the epoch; undefined: it has not been heard. */
  resyncedAt(node: string): number | undefined;
  /** Hears of each host that was heard for the first time. */
  onResynced(handler: (node: string) => void): void;
}
