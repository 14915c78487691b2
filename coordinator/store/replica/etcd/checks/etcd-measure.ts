/** Measures the members of an etcd. Changes nothing. */
import { type Clock, systemClock } from '../../../../../shared/process/time/clock.js';
import type { EtcdAccess } from '../etcd-access.js';
import { ETCD_ROOT, FLEET_NAME } from '../etcd-keys.js';
import { GrpcTransport } from '../grpc-transport.js';

const TIMEOUT_MS = 2_500;

/** `answeredAfter`: time of a read that a majority confirms, ms. `quotaBytes`: undefined before etcd 3.6. */
type MeasuredMember = { readonly endpoint: string } & (
  | { readonly reason: string }
  | {
      readonly version: string;
      readonly answeredAfter: number;
      readonly dbBytes: number;
      readonly quotaBytes: number | undefined;
    }
);

/** Asks every member. Throws an error of the file system if a certificate file cannot be read. */
export async function measureEtcd(access: EtcdAccess, clock: Clock = systemClock): Promise<MeasuredMember[]> {
  const transport = new GrpcTransport(access, clock);
  try {
    return await Promise.all(access.endpoints.map((_, index) => measureMember(transport, index, clock)));
  } finally {
    transport.close();
  }
}

async function measureMember(transport: GrpcTransport, index: number, clock: Clock): Promise<MeasuredMember> {
  const endpoint = transport.endpoints[index] ?? '';
  try {
    // First, because it opens the connection, which is no part of the measured time.
    const { version, dbSize, dbSizeQuota = '0' } = await transport.call(index, 'Status', {}, TIMEOUT_MS);
    const began = clock.monotonic();
    await transport.call(index, 'Range', { key: Buffer.from(ETCD_ROOT + FLEET_NAME) }, TIMEOUT_MS);
    const answeredAfter = clock.monotonic() - began;
    return {
      endpoint,
      version,
      answeredAfter,
      dbBytes: Number(dbSize),
      quotaBytes: Number(dbSizeQuota) || undefined,
    };
  } catch (error) {
    return { endpoint, reason: error instanceof Error ? error.message : String(error) };
  }
}
