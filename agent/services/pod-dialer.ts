/** Connects to a port of a Pod of this host. */
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../shared/process/time/clock.js';
import type { RelayTarget } from '../decisions/services/relay-targets.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';

/** A Pod on this host responds within milliseconds. */
const CONNECT_MS = 2_000;
/** The Pod itself has refused: another way would end there, too. */
const REFUSED: readonly (string | undefined)[] = ['ECONNREFUSED', 'ECONNRESET'];

interface PodDialerDeps {
  driver: Pick<RuntimeDriver, 'inspectPod' | 'dial'>;
  /** Returns the uid of the Pod with this address. */
  findPod: (address: string) => string | undefined;
  clock: Clock;
}

/**
 * Returns a function that connects to the Pod's address. Where this host has no route to it, such as with a rootless
 * engine, it connects from inside the Pod's network. Rejects if the Pod cannot be reached.
 */
export function createPodDialer(deps: PodDialerDeps): (target: RelayTarget) => Promise<Duplex> {
  return async (target) => {
    try {
      return await dialDirectly(target, deps.clock);
    } catch (error) {
      if (REFUSED.includes((error as NodeJS.ErrnoException).code)) throw error;
      return dialInside(deps, target, error);
    }
  };
}

async function dialInside(
  { driver, findPod, clock }: PodDialerDeps,
  { address, port }: RelayTarget,
  error: unknown,
): Promise<Duplex> {
  const uid = findPod(address);
  const containers = uid === undefined ? [] : await driver.inspectPod(uid);
  const running = containers.find(({ state }) => state === 'running');
  if (!running) throw error;
  const timeout = new AbortController();
  const timer = clock.after(CONNECT_MS, () => timeout.abort());
  try {
    return await driver.dial(running.id, port, timeout.signal);
  } finally {
    timer.cancel();
  }
}

function dialDirectly({ address, port }: RelayTarget, clock: Clock): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true });
    const timer = clock.after(CONNECT_MS, () => socket.destroy(new Error(`no response of ${address}`)));
    socket.once('error', (error) => {
      timer.cancel();
      reject(error);
    });
    socket.once('connect', () => {
      timer.cancel();
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}
