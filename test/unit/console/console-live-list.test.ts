/** A watched list on the screen. Its phase and its objects change together. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
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
  Object.assign(globalThis, { cancelAnimationFrame: () => undefined });
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

test('a live list of a hidden tab, which draws no frames, is published after a second', {
  timeout: 60_000,
}, async () => {
  let asked = 0;
  Object.assign(globalThis, { requestAnimationFrame: () => (asked += 1) });
  Object.assign(globalThis, { cancelAnimationFrame: () => undefined });
  Object.assign(globalThis, { location: { host: 'here' }, WebSocket: OpenSocket });
  mock.timers.enable({ apis: ['setTimeout'] });
  const list = new LiveList('/api/v1/nodes');
  const reported = mock.fn();
  const leave = list.subscribe(reported);
  try {
    while (asked === 0) await new Promise(setImmediate);
    assert.equal(list.snapshot().phase, 'loading');
    mock.timers.tick(1_000);
    assert.equal(list.snapshot().phase, 'live');
    assert.equal(reported.mock.callCount(), 1);
  } finally {
    leave();
    mock.timers.reset();
  }
});

test('a refused list is requested again once for new listeners, and keeps its phase until the answer', {
  timeout: 60_000,
}, async () => {
  Object.assign(globalThis, { requestAnimationFrame: (draw: () => void) => setImmediate(draw) });
  Object.assign(globalThis, { cancelAnimationFrame: clearImmediate });
  const sockets: OpenSocket[] = [];
  const serve = (Socket: typeof OpenSocket) => {
    const counted = class extends Socket {
      constructor() {
        super();
        sockets.push(this);
      }
    };
    Object.assign(globalThis, { location: { host: 'here' }, WebSocket: counted });
  };
  const list = new LiveList('/api/v1/nodes');
  const subscribe = () => list.subscribe(() => undefined);
  const reaches = (phase: string) =>
    until(() => list.snapshot().phase === phase, { timeoutMs: 30_000, what: `the list to be ${phase}` });
  serve(RefusedSocket);
  const leave = [subscribe()];
  try {
    await reaches('refused');
    serve(OpenSocket);
    leave.push(subscribe(), subscribe());
    assert.equal(list.snapshot().phase, 'refused');
    await reaches('live');
    leave.push(subscribe());
    assert.equal(sockets.length, 2, 'one request for each answer');
  } finally {
    for (const each of leave) each();
  }
});

/** Does not end by itself, like a watch. */
class OpenSocket {
  constructor() {
    setImmediate(() => this.onmessage({ data: this.answer() }));
  }

  answer(): Uint8Array | string {
    return new TextEncoder().encode(EVENTS.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }

  onmessage: (message: { data: Uint8Array | string }) => void = () => undefined;

  close = (): void => undefined;
}

class RefusedSocket extends OpenSocket {
  override answer(): string {
    return JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 });
  }
}
