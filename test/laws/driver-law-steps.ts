/** Steps that the driver laws share. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ObservedContainer,
  type OutputChunk,
  type RuntimeDriver,
  RuntimeError,
  type RuntimeEvent,
} from '../../agent/runtime/runtime-driver.js';
import { DEADLINE_MS } from './driver-fixture.js';

/** Returns the output of each stream once both have ended. */
export async function outputOf(
  output: AsyncIterable<OutputChunk>,
): Promise<{ stdout: string; stderr: string }> {
  const text = { stdout: '', stderr: '' };
  for await (const { from, bytes } of output) text[from] += Buffer.from(bytes).toString();
  return text;
}

export function only(containers: ObservedContainer[]): ObservedContainer {
  assert.equal(containers.length, 1);
  return containers[0] as ObservedContainer;
}

export async function rejects(promise: Promise<unknown>, ...reasons: string[]): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof RuntimeError, String(error));
    assert.ok(reasons.includes(error.reason), `${error.reason}: ${error.message}`);
    return true;
  });
}

export function never(): AbortSignal {
  return new AbortController().signal;
}

/** The first process of a container ignores SIGTERM until its program has set a trap. */
export async function printed(driver: RuntimeDriver, id: string, line: string): Promise<void> {
  const stop = new AbortController();
  let text = '';
  for await (const bytes of driver.logs(id, { follow: true, timestamps: false }, stop.signal)) {
    text += Buffer.from(bytes).toString();
    if (text.includes(`${line}\n`)) break;
  }
  stop.abort();
  assert.match(text, new RegExp(line));
}

export async function collect(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export async function until(
  driver: RuntimeDriver,
  podUid: string,
  holds: (container: ObservedContainer) => boolean,
): Promise<ObservedContainer> {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    const found = (await driver.inspectPod(podUid)).find(holds);
    if (found) return found;
    assert.ok(Date.now() < end, 'the container did not get there');
    await sleep(20);
  }
}

/** Subscriptions that a failed law left open. They would keep the process alive. */
const LISTENING = new Set<AbortController>();

export function stopListening(): void {
  for (const controller of LISTENING) controller.abort();
}

/** Subscribes to the driver's events. */
export function listen(driver: RuntimeDriver) {
  const controller = new AbortController();
  LISTENING.add(controller);
  const stream = driver.events(controller.signal)[Symbol.asyncIterator]();
  const pull = () => stream.next().then(({ value }) => value as RuntimeEvent);
  let pending = pull();
  const within = <T>(ms: number, fallback: () => T) => sleep(ms, undefined, { ref: false }).then(fallback);
  return {
    /** Returns the next event for which `holds` returns true, and skips others. */
    async next(holds: (event: RuntimeEvent) => boolean): Promise<RuntimeEvent> {
      const late = within(DEADLINE_MS, () => assert.fail('the event did not come'));
      for (;;) {
        const event = await Promise.race([pending, late]);
        pending = pull();
        if (holds(event)) return event;
      }
    },
    /** Skips events until none has arrived for a while. */
    async quiet(): Promise<void> {
      while ((await Promise.race([pending, within(300, () => undefined)])) !== undefined) pending = pull();
    },
    async end(): Promise<void> {
      controller.abort();
      await pending;
    },
  };
}
