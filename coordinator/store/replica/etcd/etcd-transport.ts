/** etcd's calls as this program makes them: requests and replies as in etcd-rpc.proto, 64-bit numbers as decimal text. */
import { LogUnavailable } from '../replicated-log.js';

export interface EtcdHeader {
  /** Of the etcd cluster. Members of one cluster have the same one (server/etcdserver/api/membership/cluster.go). */
  readonly clusterId: string;
  readonly memberId: string;
  readonly revision: string;
}

export interface EtcdKeyValue {
  readonly key: Buffer;
  readonly createRevision: string;
  readonly modRevision: string;
  readonly value: Buffer;
  readonly lease: string;
}

/** `rangeEnd` absent = one key. */
export interface EtcdRange {
  readonly key: Buffer;
  readonly rangeEnd?: Buffer;
}

export interface EtcdRangeRequest extends EtcdRange {
  /** Absent = all. */
  readonly limit?: number;
  readonly keysOnly?: boolean;
}

export interface EtcdRangeReply {
  readonly header: EtcdHeader;
  /** In ascending order of keys. */
  readonly kvs: readonly EtcdKeyValue[];
  readonly count: string;
}

/** An absent key has the revisions 0. */
export type EtcdCompare = { readonly key: Buffer; readonly result: 'EQUAL' | 'GREATER' } & (
  | { readonly target: 'CREATE'; readonly createRevision: number }
  | { readonly target: 'MOD'; readonly modRevision: number }
);

export type EtcdOperation =
  | { readonly requestRange: EtcdRangeRequest }
  | { readonly requestPut: { readonly key: Buffer; readonly value: Uint8Array; readonly lease?: string } }
  | { readonly requestDeleteRange: EtcdRange };

export interface EtcdTxnRequest {
  readonly compare: readonly EtcdCompare[];
  readonly success: readonly EtcdOperation[];
  readonly failure: readonly EtcdOperation[];
}

export interface EtcdTxnReply {
  readonly header: EtcdHeader;
  readonly succeeded: boolean;
  /** Replies of the operations, in order. */
  readonly responses: readonly { readonly responseRange?: EtcdRangeReply }[];
}

export interface EtcdStatusReply {
  readonly header: EtcdHeader;
  readonly version: string;
  readonly dbSize: string;
  readonly leader: string;
  readonly errors: readonly string[];
  /** Bytes. `0` before etcd 3.6. */
  readonly dbSizeQuota?: string;
}

/** Method → request and reply. `LeaseKeepAlive` renews once. Its `TTL` is 0 or less if the lease does not exist. */
export interface EtcdCalls {
  Range: [EtcdRangeRequest, EtcdRangeReply];
  Txn: [EtcdTxnRequest, EtcdTxnReply];
  Compact: [{ readonly revision: string }, object];
  LeaseGrant: [{ readonly TTL: number }, { readonly ID: string; readonly TTL: string }];
  LeaseRevoke: [{ readonly ID: string }, object];
  LeaseKeepAlive: [{ readonly ID: string }, { readonly TTL: string }];
  Status: [object, EtcdStatusReply];
}

export interface WatchEvents {
  /** The watch covers all later changes, or something in its ranges has changed. */
  readonly changed: () => void;
  /** The stream has ended. Not called after the caller has cancelled it. */
  readonly ended: (error: EtcdCallError) => void;
}

/** Connections to the members of an etcd cluster, or a simulation of it. Members are addressed by their index. */
export interface EtcdTransport {
  readonly endpoints: readonly string[];
  /** The etcd cluster that this transport uses. Absent before the first reply. */
  readonly clusterId?: string | undefined;
  /**
   * Makes one attempt at one member. Rejects with EtcdCallError, at the latest after `timeoutMs`. A reply of
   * another etcd cluster is rejected as `notSent`, except of `Status`.
   */
  call<Method extends keyof EtcdCalls>(
    endpoint: number,
    method: Method,
    request: EtcdCalls[Method][0],
    timeoutMs: number,
  ): Promise<EtcdCalls[Method][1]>;
  /** Watches the ranges from now on. The member ends the stream if it has no leader. Returns a function that cancels it. */
  watch(endpoint: number, ranges: readonly EtcdRange[], events: WatchEvents): () => void;
  /** Ends all calls and streams. */
  close(): void;
}

/**
 * What an error means for the request:
 * - `notSent`: the member did not receive it.
 * - `unknown`: it may have taken effect, or may do so later.
 * - `busy`: refused for now.
 * - `full`: refused for lack of space.
 * - `rejected`: refused; it would be refused again.
 */
export type CallOutcome = 'notSent' | 'unknown' | 'busy' | 'full' | 'rejected';

export class EtcdCallError extends LogUnavailable {
  constructor(
    readonly outcome: CallOutcome,
    message: string,
  ) {
    super(message);
  }
}
