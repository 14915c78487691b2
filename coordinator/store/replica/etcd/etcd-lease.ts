/** Leases of etcd. */
import type { EtcdConnection } from './etcd-connection.js';

/** Timeout of one attempt to renew a lease, so that several members are tried before a short lease ends. */
const RENEW_ATTEMPT_MS = 1_000;

/** Returns the lease's id. etcd refuses leases, as other writes, when it has no space: LogFull. */
export async function grantLease(connection: EtcdConnection, seconds: number): Promise<string> {
  const { ID } = await connection.call('LeaseGrant', { TTL: seconds });
  return ID;
}

/** Makes one attempt. Resolves with false if the lease does not exist. Rejects with EtcdCallError or LogClosed. */
export async function renewLease(connection: EtcdConnection, lease: string): Promise<boolean> {
  const { TTL } = await connection.attempt('LeaseKeepAlive', { ID: lease }, RENEW_ATTEMPT_MS);
  return Number(TTL) > 0;
}

/** Ends a lease and deletes its keys. */
export async function revokeLease(connection: EtcdConnection, lease: string): Promise<void> {
  await connection.call('LeaseRevoke', { ID: lease });
}
