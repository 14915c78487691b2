/** The health of the members of etcd. */
import type { EngineHealth } from '../replicated-log.js';
import { hexId } from './cluster-guard.js';
import type { EtcdStatusReply, EtcdTransport } from './etcd-transport.js';

const STATUS_MS = 2_500;

/** Asks every member. Answers without a quorum as well. */
export function etcdHealth(transport: EtcdTransport): Promise<EngineHealth[]> {
  return Promise.all(
    transport.endpoints.map(async (endpoint, index) => {
      try {
        const reply = await transport.call(index, 'Status', {}, STATUS_MS);
        return healthOf(endpoint, reply, transport.clusterId);
      } catch (error) {
        return { endpoint, error: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
}

/** `clusterId`: see `EtcdTransport`. `errors` of a status contains `memberID:1234 alarm:NOSPACE` and `etcdserver: no leader` (etcd 3.4 to 3.6). */
export function healthOf(endpoint: string, reply: EtcdStatusReply, clusterId?: string): EngineHealth {
  const foreign = reply.header.clusterId;
  if (clusterId !== undefined && foreign !== clusterId)
    return { endpoint, error: `it belongs to another etcd cluster (${hexId(foreign)})`, isForeign: true };
  const alarms = alarmsOf(reply.errors);
  const other = reply.errors.filter((text) => !ALARM.test(text));
  return {
    endpoint,
    version: reply.version,
    isLeader: reply.leader !== '0' && reply.leader === reply.header.memberId,
    dbBytes: Number(reply.dbSize),
    ...(alarms.length > 0 && { alarms }),
    ...(other.length > 0 && { error: other.join(', ') }),
  };
}

const ALARM = /alarm:(\w+)/;

/** Returns each alarm once. */
export function alarmsOf(errors: readonly string[]): string[] {
  return [...new Set(errors.flatMap((text) => ALARM.exec(text)?.[1] ?? []))];
}
