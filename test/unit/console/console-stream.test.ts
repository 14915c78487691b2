/** A stream of the API in the console, over a socket that the test controls. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { consoleModule } from '../../harness/console/console-module.js';

/** The used part of `console/api/api-stream.ts`, as types, because its own need a browser. */
type OpenStream = (path: string, signal: AbortSignal) => ReadableStream<string>;

const { openStream } = await consoleModule<{ openStream: OpenStream }>('api/api-stream.ts');

/** A substitute for the browser's WebSocket. */
class HeldSocket {
  static last: HeldSocket | undefined;
  onmessage: (event: { data: ArrayBuffer | string }) => void = () => undefined;
  onclose: (event: { wasClean: boolean }) => void = () => undefined;
  isClosed = false;

  constructor() {
    HeldSocket.last = this;
  }

  close(): void {
    this.isClosed = true;
  }
}

function opened() {
  Object.assign(globalThis, { location: { host: 'here' }, WebSocket: HeldSocket });
  const page = new AbortController();
  const reader = openStream('/api/v1/nodes', page.signal).getReader();
  const socket = HeldSocket.last ?? assert.fail('no socket');
  const listeners = () => getEventListeners(page.signal, 'abort').length;
  return { page, reader, socket, listeners };
}

const STATUS = { kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message: 'no' };

test('a finished stream leaves no listener on the signal of its page, however it ended', async () => {
  const { listeners: whileOpen, socket } = opened();
  assert.equal(whileOpen(), 1);
  socket.onclose({ wasClean: true });
  assert.equal(whileOpen(), 0, 'it ended');

  const cancelled = opened();
  await cancelled.reader.cancel();
  assert.deepEqual([cancelled.listeners(), cancelled.socket.isClosed], [0, true]);
  // Data after the end is dropped.
  cancelled.socket.onmessage({ data: new ArrayBuffer(1) });
  cancelled.socket.onclose({ wasClean: false });

  const refused = opened();
  refused.socket.onmessage({ data: JSON.stringify(STATUS) });
  await assert.rejects(refused.reader.read(), { code: 403 });
  assert.deepEqual([refused.listeners(), refused.socket.isClosed], [0, true]);
});

test('the text arrives in pieces, and leaving the page aborts the stream', async () => {
  const { page, reader, socket, listeners } = opened();
  socket.onmessage({ data: new TextEncoder().encode('one\n').buffer });
  assert.deepEqual(await reader.read(), { done: false, value: 'one\n' });
  page.abort();
  await assert.rejects(reader.read(), { reason: 'Unreachable' });
  assert.deepEqual([listeners(), socket.isClosed], [0, true]);
});

test('a stream that is started after leaving the page is aborted at once', async () => {
  Object.assign(globalThis, { location: { host: 'here' }, WebSocket: HeldSocket });
  const reader = openStream('/api/v1/nodes', AbortSignal.abort()).getReader();
  await assert.rejects(reader.read(), { reason: 'Unreachable' });
  assert.equal(HeldSocket.last?.isClosed, true);
});
