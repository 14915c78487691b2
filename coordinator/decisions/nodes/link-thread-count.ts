/** How many threads terminate the links of agents. */

const FEWEST_CORES = 4;
const MOST_THREADS = 4;

/** Returns 0 on few cores, and for versions of Node.js that cannot share a port between threads. */
export function defaultLinkThreads(cores: number, nodeVersion: string): number {
  if (!canShareAPort(nodeVersion) || cores < FEWEST_CORES) return 0;
  return Math.min(MOST_THREADS, Math.floor(cores / 2));
}

/** True from Node.js 22.12 on: `reusePort` of `net.Server.listen`. */
export function canShareAPort(nodeVersion: string): boolean {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  return major > 22 ? major > 23 || minor >= 1 : major === 22 && minor >= 12;
}
