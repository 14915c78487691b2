/** The engine's events as ours: always the whole truth or a `resync`, whatever happens to the connection. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ContainerOwner, RuntimeError, type RuntimeEvent } from '../runtime-driver.js';
import { RuntimeEventQueue } from '../runtime-event-queue.js';
import { type DockerApi, jsonLines } from './docker-api.js';
import { LABEL, ownerFilter } from './docker-convert.js';

/** An engine that is down is tried again after 100 ms, doubling to a second: a restart should be seen soon, and a connect costs nothing. */
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 1000;

/** How often a sign of life is asked for, and how long it may take: an engine on a slow disk is slow. */
interface PingSchedule {
  intervalMs: number;
  timeoutMs: number;
}

const PULSE: PingSchedule = { intervalMs: 15_000, timeoutMs: 30_000 };

/** An event as the engine sends it, the part that is read. */
interface EngineEvent {
  Type: string;
  Action: string;
  Actor: { Attributes: Record<string, string> };
}

/** What changes the state of a container; Podman says `died` and `remove` in places. */
const ACTIONS = new Set(['start', 'die', 'died', 'oom', 'destroy', 'remove', 'pause', 'unpause']);

/** Without end, until aborted. */
export async function* dockerEvents(
  api: DockerApi,
  owner: ContainerOwner,
  signal: AbortSignal,
  pulse: PingSchedule = PULSE,
): AsyncGenerator<RuntimeEvent, void> {
  const queue = new RuntimeEventQueue();
  const feeding = feed(api, owner, queue, signal, pulse);
  yield* queue.read(signal);
  await feeding;
}

async function feed(
  api: DockerApi,
  owner: ContainerOwner,
  queue: RuntimeEventQueue,
  signal: AbortSignal,
  pulse: PingSchedule,
): Promise<void> {
  let retryMs = FIRST_RETRY_MS;
  let up = true;
  while (!signal.aborted) {
    try {
      for await (const event of connect(api, owner, signal, pulse)) {
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
    // Aborting ends the wait, and with it the loop.
    await sleep(retryMs, undefined, { signal }).catch(() => undefined);
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  }
}

/** One connection, for as long as the engine answers beside it: one that hangs closes nothing. */
async function* connect(
  api: DockerApi,
  owner: ContainerOwner,
  signal: AbortSignal,
  pulse: PingSchedule,
): AsyncGenerator<RuntimeEvent, void> {
  const over = new AbortController();
  const feeling = feelPulse(api, over, pulse);
  try {
    yield* listen(api, owner, AbortSignal.any([signal, over.signal]));
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : error;
  } finally {
    over.abort();
    await feeling;
  }
}

/** Asks for a sign of life now and then; without one in time, `over` aborts with the reason. */
async function feelPulse(
  api: DockerApi,
  over: AbortController,
  { intervalMs: everyMs, timeoutMs: patienceMs }: PingSchedule,
): Promise<void> {
  const { signal } = over;
  const silent = `${api.engine} hangs: it has not answered for ${patienceMs / 1000} s`;
  for (;;) {
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const patience = AbortSignal.timeout(patienceMs);
    const call = { method: 'GET', path: '/_ping', signal: AbortSignal.any([signal, patience]) } as const;
    try {
      for await (const _ of await api.stream(call, { fallback: 'Refused' }));
    } catch {
      // An engine that refuses has heard; one that is gone has closed the stream of events as well.
      if (patience.aborted && !signal.aborted) over.abort(new RuntimeError('EngineDown', silent, true));
    }
  }
}

/** `resync` once the engine listens to us, for what happened before is unknown. */
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
