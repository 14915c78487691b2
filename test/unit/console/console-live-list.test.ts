/** A watched list on the screen. Its phase and its objects change together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../harness/basics/wait-until.js';
import { consoleModule } from '../../harness/console/console-module.js';

/** The used part of `console/api/live-list.ts`, as types, because its own need a browser. */
interface List {
  snapshot(): { phase: string; objects: { metadata: { name: string } }[] };
  subscribe(listener: () => void): () => void;
}

const { LiveList } = await consoleModule<{ LiveList: new (path: string) => List }>('api/live-list.ts');

const EVENTS = [
  { type: 'ADDED', object: { metadata: { name: 'a' } } },
  { type: 'ADDED', object: { metadata: { name: 'b' } } },
  { type: 'BOOKMARK', object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } },
];

test('a live list shows all its objects, even when read between two frames', {
  timeout: 60_000,
}, async () => {
  const frames: (() => void)[] = [];
  Object.assign(globalThis, { requestAnimationFrame: (draw: () => void) => frames.push(draw) });
  Object.assign(globalThis, { location: { host: 'here' }, WebSocket: OpenSocket });
  const list = new LiveList('/api/v1/nodes');
  const leave = list.subscribe(() => undefined);
  try {
    await until(() => frames.length > 0, { timeoutMs: 30_000, what: 'a frame to be asked for' });
    assert.deepEqual(list.snapshot(), { objects: [], phase: 'loading' });
    frames.shift()?.();
    const { objects, phase } = list.snapshot();
    assert.deepEqual([phase, objects.map(({ metadata }) => metadata.name)], ['live', ['a', 'b']]);
  } finally {
    leave();
  }
});

/** Does not end by itself, like a watch. */
class OpenSocket {
  constructor() {
    const lines = EVENTS.map((event) => `${JSON.stringify(event)}\n`).join('');
    setImmediate(() => this.onmessage({ data: new TextEncoder().encode(lines) }));
  }

  onmessage: (message: { data: Uint8Array }) => void = () => undefined;

  close = (): void => undefined;
}
