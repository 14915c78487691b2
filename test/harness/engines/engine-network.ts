/** A network namespace for each test engine, linked to this machine. */
import { existsSync } from 'node:fs';
import { run } from '../processes/run-system-command.js';

/** Networks of four addresses in 198.18.0.0/16. */
const PAIRS = 256 * 64;

/** The network of an engine's host. */
export interface EngineNetwork {
  name: string;
  /** Address of the engine's end of the link. */
  address: string;
  /** Address of this machine's end of the link. */
  gateway: string;
  /** Address and prefix for the engine's bridge. */
  bridge: string;
}

/**
 * Creates a namespace with a link to this machine, in 198.18.0.0/15, which is reserved for tests. `index` must differ
 * between the engines of this process.
 */
export function makeNetwork(name: string, index: number): EngineNetwork {
  run('ip', 'netns', 'add', name);
  const { link, here, there } = addLink(name);
  run('ip', 'addr', 'add', `${here}/30`, 'dev', link);
  run('ip', 'link', 'set', link, 'up');
  for (const command of [
    'link set lo up',
    `addr add ${there}/30 dev eth0`,
    'link set eth0 up',
    `route add default via ${here}`,
  ]) {
    run('ip', '-n', name, ...command.split(' '));
  }
  return { name, address: there, gateway: here, bridge: `198.19.${index % 256}.1/24` };
}

/**
 * Takes the first free pair of addresses. The link is named after it, so that concurrent tests cannot take the same
 * pair.
 */
function addLink(namespace: string): { link: string; here: string; there: string } {
  for (let pair = (process.pid * 64) % PAIRS; ; pair = (pair + 1) % PAIRS) {
    const prefix = `198.18.${pair >> 6}`;
    const base = (pair & 63) * 4;
    const link = `en18-${pair >> 6}-${base}`;
    const isTaken = () => existsSync(`/sys/class/net/${link}`);
    if (isTaken()) continue;
    try {
      run('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
      return { link, here: `${prefix}.${base + 1}`, there: `${prefix}.${base + 2}` };
    } catch (error) {
      if (!isTaken()) throw error;
    }
  }
}

/** Removes the namespace and both ends of its link. */
export function removeNetwork({ name }: EngineNetwork): void {
  run('ip', 'netns', 'del', name);
}
