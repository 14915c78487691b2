/** Leases of etcd. */
import type { EtcdConnection } from './etcd-connection.js';
import { EtcdCallError } from './etcd-transport.js';

/** Timeout of one attempt to renew a lease, so that several members are tried before a short lease ends. */
const RENEW_ATTEMPT_MS = 1_000;

/** Returns the lease's id. etcd refuses leases, as other writes, when it has no space: LogFull. */
export async function grantLease(connection: EtcdConnection, seconds: number): Promise<string> {
  const { ID } = await connection.call('LeaseGrant', { TTL: seconds });
  return ID;
}

/** Makes one attempt. Resolves with false if the lease does not exist. Rejects with EtcdCallError or LogClosed. */
export async function renewLease(connection: EtcdConnection, lease: string): Promise<boolean> {
  try {
    const { TTL } = await connection.attempt('LeaseKeepAlive', { ID: lease }, RENEW_ATTEMPT_MS);
    return Number(TTL) > 0;
  } catch (error) {
    if (isLeaseGone(error)) return false;
    throw error;
  }
}

export function isLeaseGone(error: unknown): boolean {
  return error instanceof EtcdCallError && error.message.includes('lease not found');
}

/** Ends a lease and deletes its keys. */
export async function revokeLease(connection: EtcdConnection, lease: string): Promise<void> {
  await connection.call('LeaseRevoke', { ID: lease });
}
