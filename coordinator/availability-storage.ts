/**
 * Stores the availability of hosts next to the objects, where backups and the log of several coordinators include it. It is
 * not an object of the API: no client may change it, and a watch would repeat what the Nodes say. The key is below that of
 * the objects, so that the informers' revision advances with these writes.
 */
import type { AvailabilityStorage, StoredObservation } from './controllers/nodes/availability-recorder.js';
import type { HostRecord } from './decisions/nodes/outage-history.js';
import type { Store } from './store/store.js';
import { KeyExists, KeyMissing } from './store/store.js';

const PREFIX = '/registry/fleet.everynode.dev/availability/';
const HOSTS = `${PREFIX}hosts/`;
const OBSERVATION = `${PREFIX}observation`;

export function availabilityStorage(store: Store): AvailabilityStorage {
  const put = async (key: string, content: object): Promise<void> => {
    const value = Buffer.from(JSON.stringify(content));
    const hasKey = (await store.get(key)) !== undefined;
    await (hasKey ? store.update(key, value) : store.create(key, value)).catch(ignore(KeyExists));
  };
  return {
    load: async () => {
      const { items } = await store.list(HOSTS);
      const observation = await store.get(OBSERVATION);
      return {
        observation: observation && readJson<StoredObservation>(observation.value),
        hosts: new Map(
          items.flatMap(({ key, value }): [string, HostRecord][] => {
            const record = readJson<HostRecord>(value);
            return record ? [[key.slice(HOSTS.length), record]] : [];
          }),
        ),
      };
    },
    save: async (hosts, observation) => {
      const writes = [...hosts].map(([name, record]) =>
        record ? put(HOSTS + name, record) : store.delete(HOSTS + name).catch(ignore(KeyMissing)),
      );
      await Promise.all(writes);
      await put(OBSERVATION, observation);
    },
  };
}

function ignore(known: typeof KeyExists | typeof KeyMissing): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof known)) throw error;
  };
}

/** Returns undefined for a damaged value: a lost history must not keep the coordinator from starting. */
function readJson<T>(value: Buffer): T | undefined {
  try {
    return JSON.parse(value.toString()) as T;
  } catch {
    return undefined;
  }
}
