/** Where `up --coordinators` keeps the parts of its cluster, and on which ports they listen. Pure. */
import { join } from 'node:path';

/** Members of etcd. Two of three are a quorum, whatever the number of coordinators is. */
export const ETCD_MEMBERS = 3;
/** Loopback only. A cluster on one machine is for trying it out. */
export const LOOPBACK = '127.0.0.1';
/** First port to try for etcd. The package's own etcd uses 2379 and 2380. */
export const FIRST_ETCD_PORT = 23_790;
/** Exists in the data directory of such a cluster. */
export const CLUSTER_FILE = 'local-cluster.json';
const FORMAT = 1;

/** Decided at the first start. etcd stores its addresses, so they never change. */
export interface ClusterPorts {
  /** Ports of the coordinators, in order of their numbers. */
  readonly coordinators: readonly number[];
  readonly etcd: readonly EtcdPorts[];
}

export interface EtcdPorts {
  readonly client: number;
  readonly peer: number;
}

/** Ports of a new cluster: the coordinators' follow each other from `firstPort` on. `freePorts` has two ports for each member of etcd. */
export function newPorts(count: number, firstPort: number, freePorts: readonly number[]): ClusterPorts {
  return {
    coordinators: Array.from({ length: count }, (_, index) => firstPort + index),
    etcd: Array.from({ length: ETCD_MEMBERS }, (_, index) => ({
      client: freePorts[2 * index] ?? 0,
      peer: freePorts[2 * index + 1] ?? 0,
    })),
  };
}

export function clusterFileText(ports: ClusterPorts): string {
  return `${JSON.stringify({ format: FORMAT, ...ports }, null, 2)}\n`;
}

/** Returns undefined if the text is damaged or of another format. */
export function readClusterFile(text: string): ClusterPorts | undefined {
  let value: Partial<ClusterPorts & { format: unknown }> | null;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { format, coordinators = [], etcd = [] } = value ?? {};
  const ports = [...coordinators, ...etcd.flatMap(({ client, peer }) => [client, peer])];
  const isComplete = format === FORMAT && coordinators.length > 1 && etcd.length === ETCD_MEMBERS;
  return isComplete && ports.every(Number.isInteger) ? { coordinators, etcd } : undefined;
}

/** Returns why the flags contradict the existing cluster, or undefined. */
export function contradiction(
  present: ClusterPorts,
  { coordinators, port }: { coordinators: number; port: number },
): string | undefined {
  const { length } = present.coordinators;
  const [first = 0] = present.coordinators;
  if (coordinators !== length) return `its cluster has ${length} coordinators: pass --coordinators ${length}`;
  if (port !== 0 && port !== first) return `its first coordinator uses port ${first}: pass --port ${first}`;
  return undefined;
}

/** Data directory of a coordinator. Numbers begin at 1. */
export function coordinatorDir(dataDir: string, number: number): string {
  return join(dataDir, `coordinator-${number}`);
}

export interface EtcdPaths {
  /** Directory with the members' data and logs and with the certificates. */
  readonly root: string;
  readonly ca: string;
  /** Certificate of the members, for clients and for each other, and its key. */
  readonly serverCert: string;
  readonly serverKey: string;
  /** Certificate of the coordinators as clients, and its key. */
  readonly clientCert: string;
  readonly clientKey: string;
}

export function etcdPaths(dataDir: string): EtcdPaths {
  const root = join(dataDir, 'etcd');
  const file = (name: string) => join(root, 'pki', name);
  return {
    root,
    ca: file('ca.crt'),
    serverCert: file('server.crt'),
    serverKey: file('server.key'),
    clientCert: file('client.crt'),
    clientKey: file('client.key'),
  };
}

/** The etcd settings of a coordinator, as flags. */
export function etcdFlags(dataDir: string, ports: ClusterPorts): string[] {
  const { ca, clientCert, clientKey } = etcdPaths(dataDir);
  const urls = ports.etcd.map(({ client }) => loopbackUrl(client)).join(',');
  return ['--etcd', urls, '--etcd-ca', ca, '--etcd-cert', clientCert, '--etcd-key', clientKey];
}

export function loopbackUrl(port: number): string {
  return `https://${LOOPBACK}:${port}`;
}
