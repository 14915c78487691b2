/** Why a standby cannot lead, and what becomes of its database: by the error that it met. */
import { sentence } from '../../../shared/process/output/sentence.js';
import { EntryDiverged, EntryTooNew } from '../../store/replica/log-entry.js';
import { LogClosed, LogFull, LogTrimmed, LogUnavailable } from '../../store/replica/replicated-log.js';
import { StoreError } from '../../store/store-error.js';
import { FleetKeysError } from '../keys/fleet-keys.js';
import { SealError } from '../keys/sealed-value.js';

/** "everynode coordinator remove" was run for this member. */
export class MemberRemoved extends Error {
  constructor() {
    super('This coordinator was removed. Uninstall it, or join again with an empty data directory.');
  }
}

interface StandbyImpediment {
  /** CamelCase. */
  readonly reason: string;
  /** Sentences that say what to do. */
  readonly message: string;
  /**
   * - `replace`: a snapshot of the leader takes its place.
   * - `reopen`: it is closed, and opened again after a pause, because opening checks the whole file.
   * - `close`: it is closed until the error has ended.
   * - `follow`: it continues to follow the log.
   */
  readonly database: 'replace' | 'reopen' | 'close' | 'follow';
}

/** Returns undefined if only etcd does not answer: that says nothing about this member. */
export function impedimentOf(error: unknown): StandbyImpediment | undefined {
  if (error instanceof LogTrimmed || error instanceof EntryDiverged)
    return {
      ...{ reason: 'SnapshotNeeded', database: 'replace' },
      message: 'Its database lacks entries that the log no longer has. It takes a snapshot of the leader.',
    };
  if (error instanceof MemberRemoved) return { reason: 'Removed', message: error.message, database: 'close' };
  if (error instanceof EntryTooNew)
    return {
      ...{ reason: 'OlderVersion', database: 'reopen' },
      message: `${sentence(error.message)} Upgrade this coordinator.`,
    };
  if (error instanceof StoreError)
    return {
      ...{ reason: error.code === 'full' ? 'DiskFull' : 'DatabaseError', database: 'reopen' },
      message: sentence(error.message),
    };
  if (error instanceof SealError || error instanceof FleetKeysError)
    return {
      ...{ reason: 'KeysUnusable', database: 'follow' },
      message: `It cannot use the fleet's keys in etcd. ${sentence(error.message)} Remove this coordinator, and join again with an empty data directory.`,
    };
  if (error instanceof LogUnavailable || error instanceof LogFull || error instanceof LogClosed)
    return undefined;
  const message = sentence(error instanceof Error ? error.message : String(error));
  return { reason: 'UnexpectedError', message, database: 'follow' };
}
