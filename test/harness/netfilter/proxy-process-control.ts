/** Starts, directs and kills programs of this folder in network namespaces. */
import { type ChildProcess, fork } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProxyNode } from '../../../agent/decisions/netfilter/service-targets.js';
import type { HostService } from '../../../agent/decisions/services/host-service.js';
import type { FromProxy, ToProxy } from './proxy-process.js';

const HERE = dirname(fileURLToPath(import.meta.url));
/** Checks of the proxy run this many times as often as on a host. */
const SPEED = 50;

/** The service proxy of the host. */
export class ProxyProcess {
  #child: ChildProcess | undefined;

  constructor(private readonly namespace: string) {}

  /** `prefix` is a command that runs the process. */
  async start(node: ProxyNode, prefix: string[] = []): Promise<FromProxy> {
    this.#child = forkIn(this.namespace, 'proxy-process.js', prefix);
    return this.#request({ start: { node, speed: SPEED } });
  }

  async apply(services: HostService[]): Promise<FromProxy> {
    return this.#request({ apply: services });
  }

  async kill(): Promise<void> {
    if (this.#child) await ended(this.#child, 'SIGKILL');
    this.#child = undefined;
  }

  #request(message: ToProxy): Promise<FromProxy> {
    const child = this.#child;
    if (!child) throw new Error('the proxy does not run');
    return new Promise<FromProxy>((resolve, reject) => {
      const onExit = (): void => reject(new Error('the proxy ended'));
      child.once('exit', onExit);
      child.once('message', (text) => {
        child.off('exit', onExit);
        resolve(text as FromProxy);
      });
      child.send(message);
    });
  }
}

export function forkIn(namespace: string, program: string, prefix: string[] = []): ChildProcess {
  return fork(join(HERE, program), [], {
    execPath: 'ip',
    execArgv: ['netns', 'exec', namespace, ...prefix, process.execPath],
  });
}

export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await exited;
}
