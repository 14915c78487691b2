/** What the store and its worker thread say to each other. */
import type { Change } from './store.js';
import type { StoreErrorCode } from './store-error.js';

/** A decided write: `length` bytes of the commit's `values`, in order; absent = deletion. */
export interface CommitEntry {
  key: string;
  revision: number;
  length?: number;
  /** A creation: there is no value before. */
  isNew: boolean;
}

export type WorkerCall =
  | { kind: 'commit'; entries: CommitEntry[]; values: Uint8Array }
  /** Changes with `after < revision <= until`, oldest first. */
  | { kind: 'changes'; after: number; until: number; limit: number }
  /** For each key of the prefix changed in `after < revision <= until`: its value before the first of these changes. */
  | { kind: 'before'; after: number; until: number; prefix: string }
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
