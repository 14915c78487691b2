/** SPDY/3.1 as kubectl uses it: fragmented frames, header blocks, streams, and invalid data. */
import assert from 'node:assert/strict';
import { Duplex, PassThrough } from 'node:stream';
import { test } from 'node:test';
import { constants, createDeflate } from 'node:zlib';
import { SpdyConnection, type SpdyStream } from '../../../coordinator/api/spdy/spdy-connection.js';
import { SPDY_DICTIONARY } from '../../../coordinator/api/spdy/spdy-dictionary.js';
import {
  controlFrame,
  dataFrame,
  FLAG_FIN,
  FRAME,
  type Frame,
  pairOf,
  readFrames,
} from '../../../coordinator/api/spdy/spdy-frames.js';
import { EmptyHeaderWriter, HeaderReader } from '../../../coordinator/api/spdy/spdy-headers.js';
import { until } from '../../harness/basics/wait-until.js';

/** The client's end of one connection. */
class Client {
  readonly frames: Frame[] = [];
  readonly streams: SpdyStream[] = [];
  readonly #toServer = new PassThrough();
  readonly #deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
  readonly served: Promise<void>;

  constructor() {
    const fromServer = new PassThrough();
    const socket = Duplex.from({ readable: this.#toServer, writable: fromServer });
    // The server ends a connection by breaking it.
    this.#collect(fromServer).catch(() => undefined);
    this.served = new SpdyConnection(socket, (stream) => this.streams.push(stream)).serve();
  }

  async open(id: number, headers: Record<string, string>, flags = 0): Promise<void> {
    const texts = Object.entries(headers)
      .flat()
      .map((text) => [number(Buffer.byteLength(text)), Buffer.from(text)]);
    this.#deflate.write(Buffer.concat([number(Object.keys(headers).length), ...texts.flat()]));
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_SYNC_FLUSH, resolve));
    const block: Buffer = this.#deflate.read() ?? Buffer.alloc(0);
    this.send(controlFrame(FRAME.synStream, flags, Buffer.concat([number(id), Buffer.alloc(6), block])));
  }

  send(bytes: Uint8Array): void {
    // Small pieces, because a network may fragment data at any point.
    for (let at = 0; at < bytes.length; at += 5) this.#toServer.write(bytes.subarray(at, at + 5));
  }

  end(): void {
    this.#toServer.end();
  }

  data(id: number): string {
    return this.frames
      .map((frame) => (frame.kind === 'data' && frame.stream === id ? frame.payload.toString() : ''))
      .join('');
  }

  async #collect(source: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const frame of readFrames(source)) this.frames.push(frame);
  }
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

test('the dictionary is the one of the SPDY draft', () => {
  assert.equal(SPDY_DICTIONARY.length, 1423);
  assert.ok(SPDY_DICTIONARY.toString().endsWith('enq=0.'));
});

test('streams open with their headers and carry bytes both ways', async () => {
  const client = new Client();
  await client.open(1, { streamtype: 'error', port: '80', requestid: '0' }, FLAG_FIN);
  await client.open(3, { streamtype: 'data', port: '80', requestid: '0' });
  await until(() => client.streams.length === 2);
  const [error, data] = client.streams;
  assert.equal(data?.headers.get('streamtype'), 'data');
  assert.equal(error?.headers.get('port'), '80');
  client.send(dataFrame(3, FLAG_FIN, Buffer.from('hello')));
  let read = '';
  for await (const bytes of data?.input ?? []) read += String(bytes);
  assert.equal(read, 'hello');
  await data?.write(Buffer.from('answer'));
  await data?.end();
  await until(() => client.data(3) === 'answer');
  const types = client.frames.map((frame) => (frame.kind === 'control' ? frame.type : 'data'));
  assert.deepEqual(types.slice(0, 2), [FRAME.synReply, FRAME.synReply]);
  assert.ok(types.includes(FRAME.windowUpdate));
  client.end();
  await client.served;
});

test('a ping is answered; a reset stream breaks; the end of the connection breaks all streams', async () => {
  const client = new Client();
  client.send(controlFrame(FRAME.ping, 0, number(7)));
  await until(() => client.frames.length === 1);
  await client.open(1, { streamtype: 'data' });
  await client.open(3, { streamtype: 'data' });
  await until(() => client.streams.length === 2);
  client.send(controlFrame(FRAME.resetStream, 0, pairOf(1, 5)));
  await until(() => client.streams[0]?.signal.aborted);
  assert.equal(client.streams[1]?.signal.aborted, false);
  client.end();
  await client.served;
  assert.equal(client.streams[1]?.signal.aborted, true);
});

test('invalid data ends the connection', async () => {
  for (const bytes of [
    controlFrame(FRAME.synStream, 0, Buffer.concat([number(1), Buffer.alloc(6), Buffer.from('no zlib')])),
    Buffer.from([0, 0, 0, 1, 0, 0xff, 0xff, 0xff]),
    controlFrame(FRAME.synStream, 0, Buffer.alloc(2)),
  ]) {
    const client = new Client();
    client.send(bytes);
    await client.served;
    assert.equal(client.streams.length, 0);
  }
});

test('header blocks are one compressed stream', async () => {
  const writer = new EmptyHeaderWriter();
  const reader = new HeaderReader();
  for (let count = 0; count < 3; count += 1) assert.equal((await reader.read(await writer.write())).size, 0);
  writer.close();
  reader.close();
});
