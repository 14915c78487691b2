/** The data directory of `up --coordinators`: opens it for one process, with the ports of the cluster. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { makePrivateDirectory, writePrivateFile } from '../../../shared/process/files/private-file.js';
import { pidPath } from '../../coordinator-data-dir.js';
import { withExitErrors } from '../../exit-errors.js';
import { acquireDataLock, DATABASE_FILE, type DataLock } from '../../store/data-files.js';
import {
  CLUSTER_FILE,
  type ClusterPorts,
  clusterFileText,
  contradiction,
  ETCD_MEMBERS,
  FIRST_ETCD_PORT,
  newPorts,
  readClusterFile,
} from './cluster-layout.js';
import { freePortsFrom, isFree } from './free-ports.js';

interface ClusterDirectoryOptions {
  readonly data: string;
  /** Number of coordinators. */
  readonly coordinators: number;
  /** Port of the first coordinator; 0 = free ports. */
  readonly port: number;
}

/** Changes nothing if the options or the directory do not fit. Throws `ExitError`. */
export async function openClusterDirectory(
  options: ClusterDirectoryOptions,
): Promise<{ ports: ClusterPorts; lock: DataLock }> {
  const { data } = options;
  const ports = presentPorts(options) ?? (await choosePorts(options));
  await withExitErrors(async () => makePrivateDirectory(data));
  const lock = await withExitErrors(async () => acquireDataLock(data));
  try {
    await refusePortsInUse(ports);
    await writePrivateFile(join(data, CLUSTER_FILE), clusterFileText(ports));
    await writePrivateFile(pidPath(data), `${process.pid}\n`);
  } catch (error) {
    lock.release();
    throw error;
  }
  return { ports, lock };
}

function presentPorts(options: ClusterDirectoryOptions): ClusterPorts | undefined {
  const { data } = options;
  const file = join(data, CLUSTER_FILE);
  if (existsSync(file)) {
    const ports = readClusterFile(readFileSync(file, 'utf8'));
    if (!ports)
      throw new ExitError(EXIT_CODES.data, `${file} is damaged: remove the cluster with everynode down.`);
    const why = contradiction(ports, options);
    if (!why) return ports;
    throw new ExitError(EXIT_CODES.usage, `${data}: ${why}, or choose another place with --data.`);
  }
  if (!existsSync(join(data, DATABASE_FILE))) return undefined;
  const advice =
    'choose another place with --data, or move it to an etcd of your own: docs/several-coordinators.md';
  throw new ExitError(EXIT_CODES.usage, `${data} belongs to a single coordinator: ${advice}.`);
}

async function choosePorts({ coordinators, port }: ClusterDirectoryOptions): Promise<ClusterPorts> {
  const free = await freePortsFrom(FIRST_ETCD_PORT, 2 * ETCD_MEMBERS);
  if (port !== 0) return newPorts(coordinators, port, free);
  const afterEtcd = (free.at(-1) ?? FIRST_ETCD_PORT) + 1;
  return { ...newPorts(coordinators, 0, free), coordinators: await freePortsFrom(afterEtcd, coordinators) };
}

async function refusePortsInUse({ etcd, coordinators }: ClusterPorts): Promise<void> {
  for (const port of [...etcd.flatMap(({ client, peer }) => [client, peer]), ...coordinators]) {
    if (await isFree(port)) continue;
    const advice = coordinators.includes(port) ? ': choose others with --port' : '';
    throw new ExitError(EXIT_CODES.environment, `Port ${port} is in use by another program${advice}.`);
  }
}
