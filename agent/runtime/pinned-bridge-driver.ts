/** Keeps the MAC address of the bridge while Pods start and end. For an engine that does not do so itself. */
import type { BridgePin } from './bridge-pin.js';
import { overrideDriver } from './override-driver.js';
import type { ObservedContainer, RuntimeDriver } from './runtime-driver.js';

/**
 * Returns `driver` that fixes the address of the bridge when it sees a running container on it. The first container on
 * the bridge starts alone, because the next one could change the address before it is fixed.
 */
export function withPinnedBridge(
  driver: RuntimeDriver,
  bridge: Pick<BridgePin, 'isSettled' | 'pin'>,
): RuntimeDriver {
  const observe = async (containers: ObservedContainer[]): Promise<ObservedContainer[]> => {
    await bridge.pin(containers.flatMap(({ state, ip }) => (state === 'running' && ip ? [ip] : [])));
    return containers;
  };
  const inspectPod = async (podUid: string) => observe(await driver.inspectPod(podUid));
  /** By container on the bridge that was not started yet: the uid of its Pod. */
  const created = new Map<string, string>();
  /** The start that runs alone. */
  let first: Promise<unknown> | undefined;
  const startFirst = async (id: string, podUid: string): Promise<void> => {
    await driver.start(id);
    // The container has started, and the next inspection reports what is wrong.
    await inspectPod(podUid).catch(() => undefined);
  };
  return overrideDriver(driver, {
    inspectPod,
    list: async () => observe(await driver.list()),
    create: async (config, onWarning) => {
      const id = await driver.create(config, onWarning);
      if (config.network.kind === 'bridge') created.set(id, config.identity.podUid);
      return id;
    },
    start: async (id) => {
      const podUid = created.get(id);
      while (podUid !== undefined && first) await first.catch(() => undefined);
      if (podUid === undefined || bridge.isSettled()) return driver.start(id);
      const starting = startFirst(id, podUid).finally(() => {
        first = undefined;
      });
      first = starting;
      return starting;
    },
    remove: (id) => {
      created.delete(id);
      return driver.remove(id);
    },
  });
}
