/** Whether the engine's containers can reach addresses of this process's own network namespace. */
import { readlink } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import type { EngineAddress } from './docker/engine-address.js';
import { engineProcesses } from './engine-processes.js';

/** `unknown`: the engine is down, or its processes are not visible, as for an agent in a container. */
export type EngineNetwork = 'own' | 'other' | 'unknown';

/** Resolves with the engine's network. An engine at an address of another host is in another network. */
export async function engineNetwork(
  address: EngineAddress,
  processes: (address: EngineAddress) => Promise<readonly number[]> = engineProcesses,
): Promise<EngineNetwork> {
  if (!('socketPath' in address)) return isOwnAddress(address.host) ? 'unknown' : 'other';
  const own = await namespaceOf('self');
  const namespaces = await Promise.all((await processes(address)).map((pid) => namespaceOf(String(pid))));
  const known = namespaces.filter((namespace) => namespace !== undefined);
  if (own === undefined || known.length === 0) return 'unknown';
  return known.includes(own) ? 'own' : 'other';
}

function isOwnAddress(host: string): boolean {
  if (host === 'localhost') return true;
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === host),
  );
}

/** Returns undefined for a process that has exited, or that this process may not inspect. */
async function namespaceOf(pid: string): Promise<string | undefined> {
  return readlink(`/proc/${pid}/ns/net`).catch(() => undefined);
}
