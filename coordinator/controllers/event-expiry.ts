/** Events are news: they go an hour after they last happened (kube-apiserver's `--event-ttl`). */
import type { KubeEvent } from '../../shared/kube/event.js';
import type { Clock } from '../../shared/process/clock.js';
import { Slice } from '../../shared/process/slice.js';
import { eventKind } from '../kinds/index.js';
import type { Registry } from '../registry/registry.js';
import { unlessOutdated } from './outdated.js';

const EVENT_TTL_MS = 3_600_000;
/** Deleted together, so that they share commits. */
const WIDTH = 100;

/** Deletes expired Events; answers how many there were. */
export async function expireEvents(
  registry: Pick<Registry, 'list' | 'delete'>,
  clock: Clock,
): Promise<number> {
  const { records } = await registry.list(eventKind);
  const slice = new Slice(clock);
  const expired: KubeEvent[] = [];
  for (const record of records) {
    const event = record.object();
    if (clock.now() - lastHappened(event) > EVENT_TTL_MS) expired.push(event);
    await slice.pause();
  }
  for (let from = 0; from < expired.length; from += WIDTH) {
    await Promise.all(
      expired.slice(from, from + WIDTH).map(({ metadata }) =>
        unlessOutdated(async () => {
          // One that happened again meanwhile has moved on and stays.
          const { resourceVersion } = metadata;
          await registry.delete(eventKind, metadata, {
            preconditions: resourceVersion ? { resourceVersion } : {},
          });
        }),
      ),
    );
  }
  return expired.length;
}

function lastHappened(event: KubeEvent): number {
  const text = event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp;
  return text ? Date.parse(text) : 0;
}
