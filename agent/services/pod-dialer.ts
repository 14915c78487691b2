/** Connects to a port of a Pod of this host. */
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
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
}

/**
 * Returns a function that connects to the Pod's address. Where this host has no route to it, such as with a rootless
 * engine, it connects from inside the Pod's network. Rejects if the Pod cannot be reached.
 */
export function createPodDialer({
  driver,
  findPod,
}: PodDialerDeps): (target: RelayTarget) => Promise<Duplex> {
  return async (target) => {
    try {
      return await dialDirectly(target);
    } catch (error) {
      const uid = REFUSED.includes((error as NodeJS.ErrnoException).code)
        ? undefined
        : findPod(target.address);
      const containers = uid === undefined ? [] : await driver.inspectPod(uid);
      const running = containers.find(({ state }) => state === 'running');
      if (!running) throw error;
      return driver.dial(running.id, target.port, AbortSignal.timeout(CONNECT_MS));
    }
  };
}

function dialDirectly({ address, port }: RelayTarget): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true });
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => fail(new Error(`no response of ${address}`)), CONNECT_MS);
    socket.once('error', (error) => {
      clearTimeout(timer);
      fail(error);
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}
