/** Passes the engine's events to their listeners until the agent stops. */

import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { RuntimeDriver, RuntimeEvent } from '../runtime/runtime-driver.js';

/** Interval of full resyncs, in case the engine loses an event. Nothing else depends on it. */
const SAFETY_RESYNC_MS = 5 * 60_000;

export interface RuntimeEventWatch {
  /** Resolves when the engine's first event, `resync` or `down`, has been handled. */
  firstEvent: Promise<void>;
  stop(): Promise<void>;
}

/** Starts listening. Listeners receive one event at a time, in order; their errors are logged. */
export function watchRuntimeEvents(
  driver: Pick<RuntimeDriver, 'events'>,
  listeners: readonly ((event: RuntimeEvent) => Promise<void> | void)[],
  clock: Clock,
  log: Logger,
): RuntimeEventWatch {
  const abort = new AbortController();
  const dispatch = async (event: RuntimeEvent): Promise<void> => {
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
    timer = clock.after(SAFETY_RESYNC_MS, () => void dispatch({ kind: 'resync' }).then(schedule));
  };
  schedule();
  let first = (): void => undefined;
  const firstEvent = new Promise<void>((resolve) => {
    first = resolve;
  });
  const done = (async () => {
    for await (const event of driver.events(abort.signal)) {
      await dispatch(event);
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
