/** Finds the processes behind an engine's socket. Containers are started in their mount namespace. */
import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import type { EngineAddress } from './docker/engine-address.js';

/** Flag in `/proc/net/unix`: the socket accepts connections. */
const LISTENS = '00010000';
/** systemd, which may listen for the engine and start it with the first connection. */
const INIT = 1;

/**
 * Returns the ids of the processes that hold the engine's socket, process 1 last. Empty for an engine on another host.
 * Other processes can listen under the same path in a file system of their own, so the caller must check what each
 * process sees.
 */
export async function engineProcesses(address: EngineAddress): Promise<number[]> {
  if (!('socketPath' in address)) return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const sockets = await socketsAt(address.socketPath, pids);
  if (sockets.size === 0) return [];
  const holders: number[] = [];
  for (const pid of pids) if (await holdsAny(pid, sockets)) holders.push(pid);
  return holders.sort((one, other) => Number(one === INIT) - Number(other === INIT) || one - other);
}

/** Returns names as in `/proc/PID/fd`: `socket:[INODE]`. Each network namespace has a list of its own. */
async function socketsAt(path: string, pids: readonly number[]): Promise<Set<string>> {
  const real = await realpath(path).catch(() => path);
  const networks = new Set<string>();
  const found = new Set<string>();
  for (const pid of pids) {
    const network = await orUndefined(readlink(`/proc/${pid}/ns/net`));
    if (network === undefined || networks.has(network)) continue;
    networks.add(network);
    const table = (await orUndefined(readFile(`/proc/${pid}/net/unix`, 'utf8'))) ?? '';
    for (const line of table.split('\n')) {
      const [, , , flags, , , inode, ...rest] = line.trim().split(/\s+/);
      const listed = rest.join(' ');
      if (flags !== LISTENS || basename(listed) !== basename(real)) continue;
      if (listed === path || (await realpath(listed).catch(() => listed)) === real)
        found.add(`socket:[${inode}]`);
    }
  }
  return found;
}

async function holdsAny(pid: number, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const names = (await orUndefined(readdir(folder))) ?? [];
  const links = await Promise.all(names.map((name) => orUndefined(readlink(`${folder}/${name}`))));
  return links.some((link) => link !== undefined && sockets.has(link));
}

/** Returns undefined for a process that has exited, or that this process has no permission to inspect. */
async function orUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM' || code === 'EINVAL') {
      return undefined;
    }
    throw error;
  }
}
