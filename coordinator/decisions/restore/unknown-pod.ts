/** After a restore: what a host knows that the store does not, and what becomes of it (DESIGN.md, "Restored backups"). */

/** An epoch that the store was restored from, and the last of its revisions that the backup held. */
export interface KnownEpoch {
  readonly epoch: string;
  readonly revision: number;
}

/** Up to where somebody had heard of an epoch: a host of its desired objects, a seal of the revision it was made at. */
export interface EpochPosition {
  epoch?: string | undefined;
  revision: number;
}

/**
 * True when what happened up to this position is not all in the store: it lies behind the backup that was restored, or in an epoch that
 * the backup never knew. `epoch`: that of the store now.
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

/** The name of an epoch that begins with a backup. It says with which: a log may hear of the epoch from hosts alone. */
export function epochFrom(id: string, { epoch, revision }: KnownEpoch): string {
  return [id, revision, idOf(epoch)].join(':');
}

function idOf(epoch: string): string | undefined {
  return epoch.split(':')[0];
}

/**
 * Up to which revision of this log a host that is beyond the backup has heard everything: what was created for it by then and it does
 * not hold has ended since. Later epochs, through which it was away, are news to it. Of an epoch that this log never knew it has heard what
 * both began with: a newer backup may have been restored over an older one. Names that do not say where they began are taken for the
 * last backup's, which was then restored again.
 */
export function receivedUpTo(past: readonly KnownEpoch[], { epoch = '' }: EpochPosition): number {
  const known = past.find((each) => each.epoch === epoch);
  if (known) return known.revision;
  const [, revision, origin] = epoch.split(':');
  if (origin === undefined) return past.at(-1)?.revision ?? 0;
  const shared = past.find((each) => idOf(each.epoch) === origin);
  return shared ? Math.min(Number(revision), shared.revision) : 0;
}

/** `gone`: it was deleted, stop it. `ask`: the host is to give it back. `wait`: nothing happens to it until a person confirms the restore. */
export type UnknownPodVerdict = 'gone' | 'ask' | 'wait';

/** What is known of a host and of a uid on it that the store does not know. */
interface UnknownPod {
  /** The host has applied more than the backup knew. */
  isHostAhead: boolean;
  /** The host has the object, can give it back, and was not asked yet. */
  canBeAsked: boolean;
  /** The store was restored and nobody has confirmed it. */
  isUnconfirmed: boolean;
}

/** Only what was surely deleted, or what a person took upon himself to lose, is stopped. */
export function unknownPodVerdict(unknown: UnknownPod): UnknownPodVerdict {
  if (unknown.isHostAhead && unknown.canBeAsked) return 'ask';
  return unknown.isUnconfirmed ? 'wait' : 'gone';
}
