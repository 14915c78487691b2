/** Log frames, progress lines and event order, for any fragmentation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonLines } from '../../../agent/runtime/docker/docker-api.js';
import { demultiplex } from '../../../agent/runtime/docker/docker-frames.js';
import type { OutputChunk } from '../../../agent/runtime/runtime-driver.js';
import { RuntimeEventQueue } from '../../../agent/runtime/runtime-event-queue.js';

function frame(stream: number, text: string): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function joined(source: AsyncIterable<OutputChunk>): Promise<string> {
  let text = '';
  for await (const { from, bytes } of source)
    text += from === 'stderr' ? `[${decode(bytes)}]` : decode(bytes);
  return text.replaceAll('][', '');
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

const LOG = Buffer.concat([frame(1, 'one\n'), frame(2, ''), frame(2, 'zwei\n'), frame(1, 'three')]);

for (const size of [1, 3, 8, 9, LOG.length]) {
  test(`log frames are decoded from pieces of ${size} bytes`, async () => {
    assert.equal(await joined(demultiplex(cut(LOG, size), false)), 'one\n[zwei\n]three');
  });
}

test("a terminal's log has no frames", async () => {
  assert.equal(await joined(demultiplex(cut(Buffer.from('as it is'), 3), true)), 'as it is');
});

test('bytes that are not a log frame are rejected at once', async () => {
  await assert.rejects(joined(demultiplex(cut(Buffer.from('HTTP/1.1 500 Oops'), 99), false)), {
    reason: 'EngineDown',
  });
});

for (const size of [1, 5, 100]) {
  test(`JSON lines are decoded from pieces of ${size} bytes, with whole characters`, async () => {
    const bytes = Buffer.from('{"a":"ü"}\n\r\n{"a":"2"}\n{"a":"cut o');
    const found: unknown[] = [];
    for await (const line of jsonLines(cut(bytes, size))) found.push(line);
    assert.deepEqual(found, [{ a: 'ü' }, { a: '2' }]);
  });
}

async function read(queue: RuntimeEventQueue, count: number) {
  const events = queue.read(new AbortController().signal);
  const found = [];
  for (let at = 0; at < count; at += 1) found.push((await events.next()).value);
  return found;
}

test('two events for one Pod are merged', async () => {
  const queue = new RuntimeEventQueue();
  for (const podUid of ['a', 'b', 'a']) queue.push({ kind: 'container', podUid });
  queue.push({ kind: 'down', message: 'gone' });
  assert.deepEqual(await read(queue, 3), [
    { kind: 'down', message: 'gone' },
    { kind: 'container', podUid: 'a' },
    { kind: 'container', podUid: 'b' },
  ]);
});

test('a resync replaces events for single Pods; later events are read again', async () => {
  const queue = new RuntimeEventQueue();
  queue.push({ kind: 'container', podUid: 'a' });
  queue.push({ kind: 'resync' });
  assert.deepEqual(await read(queue, 1), [{ kind: 'resync' }]);
  queue.push({ kind: 'container', podUid: 'a' });
  assert.deepEqual(await read(queue, 1), [{ kind: 'container', podUid: 'a' }]);
});

test('a waiting reader is woken by an event and by the end of the stream', async () => {
  const queue = new RuntimeEventQueue();
  const abort = new AbortController();
  const events = queue.read(abort.signal);
  const first = events.next();
  queue.push({ kind: 'resync' });
  assert.deepEqual((await first).value, { kind: 'resync' });
  const second = events.next();
  abort.abort();
  assert.equal((await second).done, true);
});
