/** How many threads terminate the links of agents. */

const AUTO = 'auto';
const FEWEST_CORES = 4;
/** A thread takes 20 to 25 MB. The main thread terminates the links of a smaller fleet without effort. */
const FEWEST_HOSTS = 1_000;
const MOST_AUTOMATIC = 4;
const MOST = 64;

/** Returns undefined for `auto`. Throws an Error that describes the expected value. */
export function readLinkThreads(text: string): number | undefined {
  if (text === AUTO) return undefined;
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > MOST)
    throw new Error(`must be ${AUTO}, or a whole number from 0 to ${MOST}`);
  return count;
}

interface Machine {
  readonly cores: number;
  /** Of Node.js, for example `22.12.0`. */
  readonly nodeVersion: string;
  readonly platform: NodeJS.Platform;
  /** Hosts of the fleet at the start of the coordinator. */
  readonly hosts: number;
}

/**
 * Returns the number of threads for a value of the setting. Node.js before 22.12, and systems other than Linux,
 * cannot share a port between threads. They have at most one, and none for `auto`.
 */
export function linkThreadCount(setting: string, { cores, nodeVersion, platform, hosts }: Machine): number {
  const chosen = readLinkThreads(setting);
  if (platform !== 'linux' || !canShareAPort(nodeVersion)) return Math.min(chosen ?? 0, 1);
  if (chosen !== undefined) return chosen;
  return cores < FEWEST_CORES || hosts < FEWEST_HOSTS ? 0 : Math.min(MOST_AUTOMATIC, Math.floor(cores / 2));
}

/** True if `net.Server.listen` has `reusePort`: 22.12, 23.1 and later. */
function canShareAPort(nodeVersion: string): boolean {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  if (major === 22) return minor >= 12;
  return major === 23 ? minor >= 1 : major > 23;
}
