/** A write that reaches the server while the previous response on the same connection is still being sent. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { configMapKind } from '../../../coordinator/kinds/index.js';
import { startTestApi, TEST_TOKEN, type TestApi } from '../../harness/api/api-fixture.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
/** Together far more than the buffers of two sockets, so the server cannot have sent the whole list. */
const LARGE_MAPS = { count: 8, bytes: 900_000 };
const CONNECTIONS = 10;

async function createLargeMaps(api: TestApi): Promise<void> {
  for (let at = 0; at < LARGE_MAPS.count; at += 1) {
    const data = { text: 'x'.repeat(LARGE_MAPS.bytes) };
    await api.registry.create(configMapKind, 'default', { metadata: { name: `large-${at}` }, data });
  }
}

/**
 * A TCP connection that delays the output of TLS and sends it at once, so that one read of the server contains all of
 * it.
 */
class JoiningWire extends Duplex {
  readonly #tcp: Socket;
  #held: Buffer[] | undefined;

  constructor(port: number) {
    super();
    this.#tcp = connectTcp({ host: '127.0.0.1', port });
    this.#tcp.on('data', (chunk) => {
      if (!this.push(chunk)) this.#tcp.pause();
    });
    this.#tcp.on('end', () => this.push(null));
    this.#tcp.on('error', (error) => this.destroy(error));
  }

  hold(): void {
    this.#held = [];
  }

  release(): void {
    this.#tcp.write(Buffer.concat(this.#held ?? []));
    this.#held = undefined;
  }

  override _read(): void {
    this.#tcp.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.#held) this.#held.push(chunk);
    else this.#tcp.write(chunk);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#tcp.destroy();
    done(error);
  }
}

function headOf(line: string, headers: readonly string[] = []): string {
  const common = ['Host: localhost', `Authorization: Bearer ${TEST_TOKEN}`];
  return [`${line} HTTP/1.1`, ...common, ...headers, '', ''].join('\r\n');
}

function written(socket: TLSSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Lists everything, patches once the first bytes of the list have arrived, and resolves with both status codes. */
async function listAndPatch(api: TestApi, name: string): Promise<string[]> {
  const wire = new JoiningWire(api.port);
  const socket = connectTls({ socket: wire, ca: api.pki.ca.cert, servername: 'localhost' });
  await once(socket, 'secureConnect');
  await written(socket, headOf(`GET ${MAPS}`));
  await once(socket, 'readable');
  const body = JSON.stringify({ data: { text: 'patched' } });
  const type = 'Content-Type: application/merge-patch+json';
  const head = headOf(`PATCH ${MAPS}/${name}`, [type, `Content-Length: ${body.length}`, 'Connection: close']);
  wire.hold();
  await written(socket, head);
  await written(socket, body);
  wire.release();
  const codes: string[] = [];
  for await (const chunk of socket) {
    for (const [, code = ''] of String(chunk).matchAll(/HTTP\/1\.1 (\d{3})/g)) codes.push(code);
  }
  return codes;
}

test('a write whose head and body are two TLS records is served while a large response is being sent', async (context) => {
  const api = await startTestApi();
  context.after(() => api.stop());
  await createLargeMaps(api);
  for (let at = 0; at < CONNECTIONS; at += 1) {
    const name = `patched-${at}`;
    await api.registry.create(configMapKind, 'default', { metadata: { name } });
    assert.deepEqual(await listAndPatch(api, name), ['200', '200'], name);
  }
});
