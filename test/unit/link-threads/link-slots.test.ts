/** Which links of a thread have a slot for their counters. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { LinkCounters } from '../../../coordinator/link-threads/link-counters.js';
import { MessageBatch, TO_THREAD } from '../../../coordinator/link-threads/message-batch.js';
import { ThreadLinks } from '../../../coordinator/link-threads/thread-links.js';
import { systemClock } from '../../../shared/process/time/clock.js';

const ONE_LINK = new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT);

/** A thread with a slot for one link. */
function threadOfOneLink() {
  const refused: number[] = [];
  const outbox = new MessageBatch(systemClock, () => undefined);
  const links = new ThreadLinks(systemClock, new LinkCounters(ONE_LINK), outbox, ({ code }) =>
    refused.push(code),
  );
  const upgrade = () => {
    let response = '';
    const socket = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        response += chunk.toString();
        done();
      },
    });
    links.upgrade({ headers: {} } as IncomingMessage, socket as TLSSocket, Buffer.alloc(0));
    return { socket, response: () => response };
  };
  return { links, refused, upgrade };
}

test('a link above the limit is refused and reported', async () => {
  const { refused, upgrade } = threadOfOneLink();
  upgrade();
  const second = upgrade();
  await once(second.socket, 'close');
  assert.match(second.response(), /^HTTP\/1.1 503 /);
  assert.deepEqual(refused, [503]);
});

test('a slot is used again when the main thread has processed the end of its link', async () => {
  const { links, refused, upgrade } = threadOfOneLink();
  const { socket } = upgrade();
  socket.destroy();
  await once(socket, 'close');
  upgrade();
  assert.deepEqual(refused, [503]);
  links.received({ type: TO_THREAD.release, link: 1, body: Buffer.alloc(0) });
  upgrade();
  assert.deepEqual(refused, [503]);
});
