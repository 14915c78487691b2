/** Decides about Pods that a host has and a restored store lacks (DESIGN.md, "Restored backups"). */

/** An epoch that the store was restored from, with the last revision in its backup. */
export interface KnownEpoch {
  readonly epoch: string;
  readonly revision: number;
}

/** A position in an epoch: how much desired state a host has received, or the revision that a MAC was created at. */
export interface EpochPosition {
  epoch?: string | undefined;
  revision: number;
}

/**
 * True if the store may lack changes up to this position, because they happened after the restored backup or in an
 * epoch unknown to it. `epoch` is the store's current one.
 */
export function isAheadOfBackup(
  epoch: string,
  past: readonly KnownEpoch[],
  position: EpochPosition,
): boolean {
  if (position.epoch === undefined || position.epoch === epoch) return false;
  const known = past.find((each) => each.epoch === position.epoch);
  return known === undefined || position.revision > known.revision;
}

/**
 * Returns the name of an epoch that starts with a backup. The name contains the backup's position, because another
 * store may learn of the epoch only from hosts.
 */
export function epochFrom(id: string, { epoch, revision }: KnownEpoch): string {
  return [id, revision, idOf(epoch)].join(':');
}

function idOf(epoch: string): string | undefined {
  return epoch.split(':')[0];
}

/**
 * Returns the revision of this store up to which a host ahead of the backup has received everything. A Pod created by
 * then that the host lacks has ended. For an epoch that this store does not know, the common origin counts: an older
 * backup may have been restored after a newer one. An epoch without an origin in its name is taken as the latest
 * backup's.
 */
export function receivedUpTo(past: readonly KnownEpoch[], { epoch = '' }: EpochPosition): number {
  const known = past.find((each) => each.epoch === epoch);
  if (known) return known.revision;
  const [, revision, origin] = epoch.split(':');
  if (origin === undefined) return past.at(-1)?.revision ?? 0;
  const shared = past.find((each) => idOf(each.epoch) === origin);
  return shared ? Math.min(Number(revision), shared.revision) : 0;
}

/** `gone`: deleted, stop it. `ask`: the host must return it. `wait`: keep it until an operator confirms the restore. */
export type UnknownPodVerdict = 'gone' | 'ask' | 'wait';

/** A Pod of a host that the store lacks. */
interface UnknownPod {
  /** The host has received changes from after the backup. */
  isHostAhead: boolean;
  /** The host has the object and can return it, and was not asked yet. */
  canBeAsked: boolean;
  /** The store was restored, and no operator has confirmed it yet. */
  isUnconfirmed: boolean;
}

/** Stops a Pod only if it was certainly deleted, or if an operator has confirmed the restore. */
export function unknownPodVerdict(unknown: UnknownPod): UnknownPodVerdict {
  if (unknown.isHostAhead && unknown.canBeAsked) return 'ask';
  return unknown.isUnconfirmed ? 'wait' : 'gone';
}
