/** What a gRPC error of etcd means for the request. */
import { status } from '@grpc/grpc-js';
import { type CallOutcome, EtcdCallError } from './etcd-transport.js';

/** Answers after which the request has certainly not been carried out. */
const REJECTED: ReadonlySet<number> = new Set([
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.ALREADY_EXISTS,
  status.PERMISSION_DENIED,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
  status.UNAUTHENTICATED,
]);

/** How grpc-js begins the details of a call that it did not send (load-balancer-pick-first.ts, resolver-dns.ts). */
const NOT_SENT = /^(?:No connection established|Name resolution failed)/;

/**
 * Texts of etcd: api/v3rpc/rpctypes/error.go. UNAVAILABLE is also what etcd answers when it stops waiting for a
 * proposal (`request timed out`, `leader changed`), which may still be carried out.
 */
export function outcomeOf(code: number, details: string): CallOutcome {
  if (code === status.RESOURCE_EXHAUSTED) {
    if (details.includes('database space exceeded')) return 'full';
    return details.includes('too many requests') ? 'busy' : 'rejected';
  }
  if (code === status.UNAVAILABLE && NOT_SENT.test(details)) return 'notSent';
  return REJECTED.has(code) ? 'rejected' : 'unknown';
}

export function toCallError(error: unknown): EtcdCallError {
  const { code = status.UNKNOWN, details } = error as { code?: number; details?: string };
  const text = details ?? String(error);
  // The transport cancels a call at its timeout.
  const reason = code === status.CANCELLED ? 'no answer in time' : text;
  return new EtcdCallError(outcomeOf(code, text), reason);
}
