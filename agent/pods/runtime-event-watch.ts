/** Hands the engine's events to those who react to them, for as long as the agent runs. */

import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { RuntimeDriver, RuntimeEvent } from '../runtime/runtime-driver.js';

/** Should an engine lose an event in silence, it is found so late. Not a poll: nothing waits for it. */
const SAFETY_RESYNC_MS = 5 * 60_000;

export interface RuntimeEventWatch {
  /** Resolves when the engine's first word, `resync` or `down`, has been handled. */
  firstEvent: Promise<void>;
  stop(): Promise<void>;
}

/** Starts listening. Listeners are called one event at a time, in order; what one of them throws is logged. */
export function watchRuntimeEvents(
  driver: Pick<RuntimeDriver, 'events'>,
  listeners: readonly ((event: RuntimeEvent) => Promise<void> | void)[],
  clock: Clock,
  log: Logger,
): RuntimeEventWatch {
  const abort = new AbortController();
  const tell = async (event: RuntimeEvent): Promise<void> => {
    for (const listener of listeners) {
      try {
        await listener(event);
      } catch (error) {
        log.warn({ event: event.kind, err: error }, 'runtime event not handled');
      }
    }
  };
  let timer: Timer;
  const schedule = (): void => {
    timer = clock.after(SAFETY_RESYNC_MS, () => void tell({ kind: 'resync' }).then(schedule));
  };
  schedule();
  let first = (): void => undefined;
  const firstEvent = new Promise<void>((resolve) => {
    first = resolve;
  });
  const done = (async () => {
    for await (const event of driver.events(abort.signal)) {
      await tell(event);
      first();
    }
  })();
  return {
    firstEvent,
    stop: async () => {
      timer.cancel();
      abort.abort();
      await done;
    },
  };
}
