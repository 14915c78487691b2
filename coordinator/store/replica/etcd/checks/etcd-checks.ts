/** Checks of etcd before a coordinator uses it. They change nothing. */
import { type Clock, systemClock } from '../../../../../shared/process/time/clock.js';
import { LogUnavailable } from '../../replicated-log.js';
import { hexId } from '../cluster-guard.js';
import type { EtcdAccess } from '../etcd-access.js';
import { EtcdConnection } from '../etcd-connection.js';
import { alarmsOf } from '../etcd-health.js';
import { ETCD_ROOT, FLEET_NAME } from '../etcd-keys.js';
import { EtcdCallError, type EtcdRange } from '../etcd-transport.js';
import { GrpcTransport } from '../grpc-transport.js';
import { describeTrouble, probeEndpoint } from './endpoint-trouble.js';
import { EtcdRefused } from './etcd-refused.js';
import { checkTlsFiles } from './etcd-tls-check.js';

const STATUS_MS = 2_500;
const OLDEST_MINOR = 4;
const MAJOR = 3;

/** What one endpoint answered. */
export type EndpointFacts =
  | {
      readonly endpoint: string;
      /** See `EtcdHeader`. */
      readonly clusterId: string;
      readonly version: string;
      readonly errors: readonly string[];
    }
  | { readonly endpoint: string; readonly trouble: string };

/** What etcd stores. */
export interface ContentFacts {
  /** A key that is not of this product. */
  readonly foreignKey?: string | undefined;
  /** The value of the fleet's key. */
  readonly fleet?: string | undefined;
}

/** The fleet that an etcd serves. */
interface EtcdFleet {
  readonly clusterUID: string;
  readonly generation: string;
}

/** `fleet`: absent = this etcd serves none yet. `warnings`: sentences for the log. */
export interface EtcdReport extends ContentReport {
  /** See `EtcdHeader`. */
  readonly clusterId: string;
}

interface ContentReport {
  readonly fleet?: EtcdFleet | undefined;
  readonly warnings: readonly string[];
}

/**
 * Checks the files, the endpoints and the content. `clusterUID`: this coordinator's fleet; absent = any. Rejects with
 * EtcdRefused.
 */
export async function checkEtcd(
  access: EtcdAccess,
  clusterUID?: string,
  clock: Clock = systemClock,
): Promise<EtcdReport> {
  if (access.isSecure) checkTlsFiles(access, clock.now());
  const transport = new GrpcTransport(access, clock);
  const connection = new EtcdConnection(transport, clock, () => undefined);
  try {
    const endpoints = await Promise.all(
      access.endpoints.map((_, index) => endpointFacts(transport, index, access, clock)),
    );
    const { clusterId, warnings } = judgeEndpoints(endpoints);
    const content = await contentFacts(connection);
    const judged = judgeContent(content, clusterUID);
    return { clusterId, fleet: judged.fleet, warnings: [...warnings, ...judged.warnings] };
  } finally {
    connection.close();
  }
}

/** Throws EtcdRefused. */
export function judgeEndpoints(endpoints: readonly EndpointFacts[]): {
  clusterId: string;
  warnings: string[];
} {
  const troubles = endpoints.flatMap((facts) =>
    'trouble' in facts ? [`${facts.endpoint}: ${facts.trouble}`] : [],
  );
  const answered = endpoints.flatMap((facts) => ('version' in facts ? [facts] : []));
  const [first] = answered;
  if (!first) throw new EtcdRefused('environment', `etcd cannot be used: ${troubles.join('; ')}`);
  for (const { endpoint, version } of answered) checkVersion(endpoint, version);
  checkOneCluster(answered);
  const errors = answered.flatMap((facts) => facts.errors);
  const alarms = alarmsOf(errors);
  if (alarms.includes('CORRUPT'))
    throw new EtcdRefused(
      'environment',
      'a member of etcd has the alarm CORRUPT: replace this member (see etcdctl alarm list) and disarm the alarm',
    );
  if (answered.every((facts) => facts.errors.some((text) => text.includes('no leader'))))
    throw new EtcdRefused(
      'environment',
      withTroubles('etcd has no leader: start more of its members', troubles),
    );
  const warnings = [...troubles.map((trouble) => `etcd ${trouble}`), ...alarms.map(alarmWarning)];
  return { clusterId: first.clusterId, warnings };
}

/** Throws EtcdRefused. A foreign key in an etcd that already serves this fleet is only a warning. */
export function judgeContent({ foreignKey, fleet: text }: ContentFacts, clusterUID?: string): ContentReport {
  const fleet = text === undefined ? undefined : readFleet(text);
  if (fleet && clusterUID !== undefined && fleet.clusterUID !== clusterUID)
    throw new EtcdRefused(
      'refused',
      `this etcd serves another fleet (${fleet.clusterUID}, not ${clusterUID}): use another etcd, or join that fleet`,
    );
  if (foreignKey === undefined) return { fleet, warnings: [] };
  const found = `another program stores data in this etcd (key ${foreignKey})`;
  if (!fleet) throw new EtcdRefused('refused', `${found}: the coordinators need an etcd of their own`);
  return { fleet, warnings: [`${found}, and can fill it or slow it down: give it another etcd`] };
}

function checkVersion(endpoint: string, version: string): void {
  const [, major, minor] = /^([0-9]+)\.([0-9]+)/.exec(version) ?? [];
  if (Number(major) === MAJOR && Number(minor) >= OLDEST_MINOR) return;
  throw new EtcdRefused(
    'environment',
    `${endpoint} is etcd ${version}: this coordinator needs etcd ${MAJOR}.${OLDEST_MINOR} or a later ${MAJOR}.x`,
  );
}

/** Each of several clusters has its own majority, so a write to one could be missing in the other. */
function checkOneCluster(answered: readonly { endpoint: string; clusterId: string }[]): void {
  const byCluster = new Map<string, string[]>();
  for (const { endpoint, clusterId } of answered)
    byCluster.set(clusterId, [...(byCluster.get(clusterId) ?? []), endpoint]);
  if (byCluster.size <= 1) return;
  const each = [...byCluster].map(([id, endpoints]) => `${endpoints.join(', ')} (cluster ${hexId(id)})`);
  throw new EtcdRefused(
    'environment',
    `the addresses in --etcd belong to different etcd clusters: ${each.join(' and ')}: name only the members of one`,
  );
}

function alarmWarning(alarm: string): string {
  const what = `etcd has the alarm ${alarm}`;
  if (alarm !== 'NOSPACE') return what;
  return `${what} and refuses writes: run etcdctl defrag on each member, then etcdctl alarm disarm`;
}

function withTroubles(sentence: string, troubles: readonly string[]): string {
  return troubles.length === 0 ? sentence : `${sentence} (${troubles.join('; ')})`;
}

function readFleet(text: string): EtcdFleet {
  try {
    const { clusterUID, generation } = JSON.parse(text) as Partial<EtcdFleet>;
    if (typeof clusterUID === 'string' && typeof generation === 'string') return { clusterUID, generation };
  } catch {
    // Refused below.
  }
  throw new EtcdRefused('refused', `the key ${ETCD_ROOT}${FLEET_NAME} in this etcd names no fleet`);
}

async function endpointFacts(
  transport: GrpcTransport,
  index: number,
  access: EtcdAccess,
  clock: Clock,
): Promise<EndpointFacts> {
  const endpoint = transport.endpoints[index] ?? '';
  try {
    const { header, version, errors } = await transport.call(index, 'Status', {}, STATUS_MS);
    return { endpoint, clusterId: header.clusterId, version, errors };
  } catch (error) {
    if (!(error instanceof EtcdCallError)) throw error;
    const found = await probeEndpoint(endpoint, access, clock);
    return { endpoint, trouble: found ? describeTrouble(found, access) : error.message };
  }
}

/** All keys before and after the product's own. */
const FOREIGN: readonly EtcdRange[] = [
  { key: Buffer.of(0), rangeEnd: Buffer.from(ETCD_ROOT) },
  { key: Buffer.from('/everynode0'), rangeEnd: Buffer.of(0) },
];

async function contentFacts(connection: EtcdConnection): Promise<ContentFacts> {
  try {
    const foreign = await Promise.all(
      FOREIGN.map((range) => connection.call('Range', { ...range, limit: 1, keysOnly: true })),
    );
    const fleet = await connection.call('Range', { key: Buffer.from(ETCD_ROOT + FLEET_NAME) });
    return {
      foreignKey: foreign.flatMap(({ kvs }) => kvs)[0]?.key.toString(),
      fleet: fleet.kvs[0]?.value.toString(),
    };
  } catch (error) {
    if (error instanceof EtcdCallError && error.outcome === 'rejected')
      throw new EtcdRefused(
        'environment',
        `etcd refuses requests (${error.message}): coordinators use client certificates, not users of etcd; run etcdctl auth disable`,
      );
    if (error instanceof LogUnavailable)
      throw new EtcdRefused(
        'environment',
        `etcd has no quorum (${error.message}): start more of its members`,
      );
    throw error;
  }
}
