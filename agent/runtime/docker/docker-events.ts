/** Runtime events of an engine. After an interruption it emits `resync`, so that no change is missed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ContainerOwner, RuntimeError, type RuntimeEvent } from '../runtime-driver.js';
import { RuntimeEventQueue } from '../runtime-event-queue.js';
import { type DockerApi, jsonLines } from './docker-api.js';
import { LABEL, ownerFilter } from './docker-convert.js';

/** Retry delays, doubling: a restart of the engine must be noticed soon, and a connect is cheap. */
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 1000;

/** Interval and time limit of pings. An engine on a slow disk responds slowly. */
interface PingSchedule {
  intervalMs: number;
  timeoutMs: number;
}

const PING_SCHEDULE: PingSchedule = { intervalMs: 15_000, timeoutMs: 30_000 };

/** Event of the engine, as far as the agent reads it. */
interface EngineEvent {
  Type: string;
  Action: string;
  Actor: { Attributes: Record<string, string> };
}

/** Actions that change a container's state. Podman calls some of them `died` and `remove`. */
const ACTIONS = new Set(['start', 'die', 'died', 'oom', 'destroy', 'remove', 'pause', 'unpause']);

/** Runs until `signal` aborts. */
export async function* dockerEvents(
  api: DockerApi,
  owner: ContainerOwner,
  signal: AbortSignal,
  schedule: PingSchedule = PING_SCHEDULE,
): AsyncGenerator<RuntimeEvent, void> {
  const queue = new RuntimeEventQueue();
  const feeding = feed(api, owner, queue, signal, schedule);
  yield* queue.read(signal);
  await feeding;
}

async function feed(
  api: DockerApi,
  owner: ContainerOwner,
  queue: RuntimeEventQueue,
  signal: AbortSignal,
  schedule: PingSchedule,
): Promise<void> {
  let retryMs = FIRST_RETRY_MS;
  let up = true;
  while (!signal.aborted) {
    try {
      for await (const event of connect(api, owner, signal, schedule)) {
        queue.push(event);
        retryMs = FIRST_RETRY_MS;
        up = true;
      }
      throw new RuntimeError('EngineDown', `${api.engine} closed its event stream`, true);
    } catch (error) {
      if (signal.aborted) return;
      if (up) queue.push({ kind: 'down', message: error instanceof Error ? error.message : String(error) });
      up = false;
    }
    // An abort ends the wait, and with it the loop.
    await sleep(retryMs, undefined, { signal }).catch(() => undefined);
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  }
}

/** Reads events over one connection, and pings the engine: if it hangs, the connection stays open. */
async function* connect(
  api: DockerApi,
  owner: ContainerOwner,
  signal: AbortSignal,
  schedule: PingSchedule,
): AsyncGenerator<RuntimeEvent, void> {
  const lost = new AbortController();
  const pinging = pingUntilAborted(api, lost, schedule);
  try {
    yield* listen(api, owner, AbortSignal.any([signal, lost.signal]));
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    lost.abort();
    await pinging;
  }
}

/** Pings the engine until `lost` aborts. A ping without a response in time aborts `lost`. */
async function pingUntilAborted(
  api: DockerApi,
  lost: AbortController,
  { intervalMs: everyMs, timeoutMs }: PingSchedule,
): Promise<void> {
  const { signal } = lost;
  const message = `${api.engine} hangs: no response for ${timeoutMs / 1000} s`;
  for (;;) {
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const timeout = AbortSignal.timeout(timeoutMs);
    const call = { method: 'GET', path: '/_ping', signal: AbortSignal.any([signal, timeout]) } as const;
    try {
      for await (const _ of await api.stream(call, { fallback: 'Refused' }));
    } catch {
      // An error response proves that the engine is alive. An engine that has exited has closed the event stream as
      // well.
      if (timeout.aborted && !signal.aborted) lost.abort(new RuntimeError('EngineDown', message, true));
    }
  }
}

/** Yields `resync` when the stream is open, because events before it are lost. */
async function* listen(
  api: DockerApi,
  owner: ContainerOwner,
  signal: AbortSignal,
): AsyncGenerator<RuntimeEvent, void> {
  const filters = JSON.stringify({ type: ['container'], label: ownerFilter(owner) });
  const stream = await api.stream(
    { method: 'GET', path: '/events', query: { filters }, signal },
    { fallback: 'EngineDown' },
  );
  yield { kind: 'resync' };
  for await (const { Action, Actor } of jsonLines<EngineEvent>(stream)) {
    const podUid = Actor.Attributes[LABEL.podUid];
    const isOurs = Actor.Attributes[LABEL.cluster] === owner.clusterUID && podUid !== undefined;
    if (isOurs && ACTIONS.has(Action)) yield { kind: 'container', podUid };
  }
}
