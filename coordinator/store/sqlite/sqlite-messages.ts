/** What the store and its worker thread say to each other. */
import type { PackedCommit } from '../log/packed-commit.js';
import type { Change } from '../store.js';
import type { StoreErrorCode } from '../store-error.js';

export type WorkerCall =
  | { kind: 'commit'; commit: PackedCommit }
  /** Changes with `after < revision <= until`, oldest first. */
  | { kind: 'changes'; after: number; until: number; limit: number }
  /** For each key of the prefix changed in `after < revision <= until`: its value before the first of these changes. */
  | { kind: 'before'; after: number; until: number; prefix: string }
  /** The change that created what the key has now, without its value; none when it has nothing. */
  | { kind: 'creation'; key: string }
  | { kind: 'compact'; revision: number }
  | { kind: 'confirmRestore' }
  | { kind: 'close' };

export interface WorkerRequest {
  id: number;
  call: WorkerCall;
}

export type WorkerReply =
  | { id: number; changes: Change[] }
  | { id: number; error: { code: StoreErrorCode; message: string } };
