/** Messages that a Pod with raw sockets, or a client that never reads, sends to the DNS server. */
import assert from 'node:assert/strict';
import type { Socket as DatagramSocket, RemoteInfo } from 'node:dgram';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { MessageStream } from '../../../agent/dns/messages/message-stream.js';
import { DnsServer } from '../../../agent/dns/serving/dns-server.js';
import type { ServerSockets } from '../../../agent/dns/serving/server-sockets.js';
import { createLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { untilPasses } from '../../harness/basics/wait-until.js';

type Listener = Parameters<ServerSockets['attach']>[0];

class Fixture {
  readonly errors: string[] = [];
  readonly handled: Buffer[] = [];
  /** Replies, and the end of the socket. */
  readonly log: string[] = [];
  readonly server: DnsServer;
  readonly clock = new ManualClock();
  listener: Listener | undefined;

  constructor(reply: () => Promise<Buffer>) {
    const log = { ...createLogger('error'), error: (_: object, text: string) => this.errors.push(text) };
    this.server = new DnsServer({
      handler: {
        cachedReply: () => undefined,
        handle: (message) => {
          this.handled.push(message);
          return reply();
        },
      },
      isLocalClient: () => true,
      clock: this.clock,
      log: log as never,
    });
    this.server.serve({
      areHeld: false,
      udp: { send: () => this.log.push('reply') } as unknown as DatagramSocket,
      attach: (listener) => {
        this.listener = listener;
      },
      detach: async () => void this.log.push('detached'),
    });
  }

  receive(port: number): void {
    this.listener?.onMessage(Buffer.alloc(12), { address: '172.17.0.2', port } as RemoteInfo);
  }
}

describe('the DNS server', () => {
  test('ignores a datagram without a source port, to which no reply can be sent', () => {
    const fixture = new Fixture(() => Promise.resolve(Buffer.alloc(12)));
    fixture.receive(0);
    assert.deepEqual(fixture.handled, []);
    fixture.receive(1024);
    assert.equal(fixture.handled.length, 1);
  });

  test('answers the queries in progress before it stops', async () => {
    let answer: (reply: Buffer) => void = () => undefined;
    const fixture = new Fixture(() => new Promise((resolve) => (answer = resolve)));
    fixture.receive(1024);
    const stopped = fixture.server.stop();
    answer(Buffer.alloc(12));
    await stopped;
    assert.deepEqual(fixture.log, ['reply', 'detached']);
  });

  test('stops after a second, although a query is still in progress', async () => {
    const fixture = new Fixture(() => new Promise(() => undefined));
    fixture.receive(1024);
    const stopped = fixture.server.stop();
    fixture.clock.advance(1_000);
    await stopped;
    assert.deepEqual(fixture.log, ['detached']);
  });

  test('logs failed queries at most once per minute', async () => {
    const fixture = new Fixture(() => Promise.reject(new Error('no answer')));
    for (let query = 0; query < 20; query++) fixture.receive(1024);
    await untilPasses(() => assert.deepEqual(fixture.errors, ['a DNS query failed']));
    fixture.clock.advance(60_000);
    fixture.receive(1024);
    await untilPasses(() => assert.equal(fixture.errors.length, 2));
  });

  test('reads no further from a client that does not read its replies, and ends it over a limit', async () => {
    const fixture = new Fixture(() => Promise.resolve(Buffer.alloc(60_000)));
    const connection = new StuckConnection();
    fixture.listener?.onConnection(connection as unknown as Socket);
    const query = MessageStream.frame(Buffer.alloc(12));
    connection.push(query);
    await untilPasses(() => assert.equal(connection.isPaused(), true));
    assert.equal(connection.destroyed, false);
    connection.resume();
    connection.push(Buffer.concat([query, query, query, query]));
    await untilPasses(() => assert.equal(connection.destroyed, true));
    assert.ok(connection.mostWaiting < 350_000, `${connection.mostWaiting} bytes`);
  });
});

/** A connection whose client never reads. */
class StuckConnection extends Duplex {
  readonly remoteAddress = '172.17.0.2';
  mostWaiting = 0;

  constructor() {
    // The default differs between versions of Node.
    super({ highWaterMark: 16 * 1024 });
  }

  override _read(): void {
    // The test pushes what the client sends.
  }

  override _write(): void {
    this.mostWaiting = Math.max(this.mostWaiting, this.writableLength);
  }
}
