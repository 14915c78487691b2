/** Calls to the worker thread, and the messages of both sides. */

import { Worker } from 'node:worker_threads';
import type { PackedCommit } from '../log/packed-commit.js';
import type { LogEntry } from '../replica/log-entry.js';
import type { Change } from '../store.js';
import type { StoreErrorCode } from '../store-error.js';
import { StoreError } from '../store-error.js';

interface Caller {
  resolve(changes: Change[]): void;
  reject(error: StoreError): void;
}

export class SqliteWorkerClient {
  readonly #worker: Worker;
  readonly #callers = new Map<number, Caller>();
  #lastId = 0;
  #failure: StoreError | undefined;

  constructor(databasePath: string, durability: Durability) {
    const workerData: WorkerInput = { path: databasePath, durability };
    this.#worker = new Worker(new URL('./sqlite-worker.js', import.meta.url), { workerData });
    this.#worker.on('message', (reply: WorkerReply) => this.#settle(reply));
    this.#worker.on('error', (error) => this.#fail(error.message));
    this.#worker.on('exit', () => this.#fail('its thread exited'));
  }

  /** Rejects with StoreError. `transfer`: buffers to move to the worker. */
  call(call: WorkerCall, transfer: ArrayBuffer[] = []): Promise<Change[]> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#lastId += 1;
    const request: WorkerRequest = { id: this.#lastId, call };
    return new Promise((resolve, reject) => {
      this.#callers.set(request.id, { resolve, reject });
      this.#worker.postMessage(request, transfer);
    });
  }

  #settle(reply: WorkerReply): void {
    const caller = this.#callers.get(reply.id);
    this.#callers.delete(reply.id);
    if ('error' in reply) caller?.reject(new StoreError(reply.error.code, reply.error.message));
    else caller?.resolve(reply.changes.map(withBuffers));
  }

  #fail(message: string): void {
    this.#failure ??= new StoreError('failed', `the store is closed: ${message}`);
    for (const caller of this.#callers.values()) caller.reject(this.#failure);
    this.#callers.clear();
  }
}

/** A Buffer arrives from another thread as a Uint8Array. */
function withBuffers(change: Change): Change {
  const { value, previous } = change;
  return {
    ...change,
    ...(value && { value: asBuffer(value) }),
    ...(previous && { previous: { ...previous, value: asBuffer(previous.value) } }),
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * - `each`: a call that writes resolves when the write is durable.
 * - `on-sync`: writes are durable after `sync`. For databases that a log can repeat.
 */
type Durability = 'each' | 'on-sync';

export interface WorkerInput {
  path: string;
  durability: Durability;
}

export type WorkerCall =
  | { kind: 'commit'; commit: PackedCommit }
  /** Applies an entry of the replicated log and stores its position. */
  | { kind: 'apply'; entry: LogEntry }
  /** Makes all earlier calls durable. */
  | { kind: 'sync' }
  /** Changes with `after < revision <= until`, oldest first. */
  | { kind: 'changes'; after: number; until: number; limit: number }
  /** The value of each key of the prefix before its first change in `after < revision <= until`. */
  | { kind: 'before'; after: number; until: number; prefix: string }
  /** The change that created the key, without its value; empty if the key does not exist. */
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
