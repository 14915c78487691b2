/** Calls of real HTTPS servers: at a URL, and of a Service through the link of a host. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { PodStreams } from '../../../coordinator/api/ports.js';
import { callWebhookServer } from '../../../coordinator/webhook-caller.js';
import type { WebhookClientConfig } from '../../../shared/kube/admission/webhook-types.js';
import { CHANNEL } from '../../../shared/link/streams/stream-channels.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { selfSignedCertificate } from '../../harness/api/self-signed-certificate.js';

const SERVICE = { namespace: 'default', name: 'hook', path: '/check' };

describe('the client of admission webhooks', () => {
  let server: Server;
  let ca: string;
  let answer = (): { code: number; text: string } => ({ code: 200, text: '{"ok":true}' });
  let silent = false;
  const requests: string[] = [];
  const opened: string[] = [];

  before(async () => {
    const { cert, key } = await selfSignedCertificate('localhost', 'hook.default.svc');
    ca = Buffer.from(cert).toString('base64');
    server = createServer({ cert, key }, async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      requests.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`);
      if (silent) return;
      const { code, text } = answer();
      response.writeHead(code).end(text);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const port = (): number => (server.address() as AddressInfo).port;

  /** The link of a host: connects to the server as the agent connects to a Pod. */
  const streams: PodStreams = {
    logs: () => Promise.reject(new Error('no logs')),
    open: async (node, request, input) => {
      opened.push(`${node} ${JSON.stringify(request)}`);
      const socket = connect(port(), '127.0.0.1');
      await once(socket, 'connect');
      const send = async (): Promise<void> => {
        for await (const frame of input) {
          if (frame[0] === CHANNEL.stdin) socket.write(frame.subarray(1));
          else socket.end();
        }
      };
      send().catch(() => socket.destroy());
      const received = async function* (): AsyncGenerator<Uint8Array, void> {
        for await (const bytes of socket)
          yield Buffer.concat([Buffer.from([CHANNEL.stdout]), bytes as Buffer]);
      };
      return received();
    },
  };

  const slice = (ready: boolean) => ({
    ports: [{ name: '', port: 8443 }],
    endpoints: [{ conditions: { ready }, targetRef: { kind: 'Pod', name: 'hook-1' }, nodeName: 'shop-1' }],
  });

  function call(client: WebhookClientConfig, { ready = true, timeoutMs = 10_000 } = {}): Promise<unknown> {
    const informers = {
      services: {
        get: ({ name }: { name: string }) =>
          name === 'hook' ? { spec: { ports: [{ port: 443 }] } } : undefined,
      },
      endpointSlices: { indexed: () => [slice(ready)] },
      pods: { get: () => ({ metadata: { name: 'hook-1', uid: 'u1' }, spec: { nodeName: 'shop-1' } }) },
    } as unknown as ReturnType<Parameters<typeof callWebhookServer>[0]['informers']>;
    const deps = { clock: systemClock, informers: () => informers, streams: () => streams };
    return callWebhookServer(deps, client, { request: 1 }, timeoutMs);
  }

  const url = (): string => `https://localhost:${port()}/v`;

  test('a URL is called with the review and the timeout, by its own authority', async () => {
    requests.length = 0;
    assert.deepEqual(await call({ url: url(), caBundle: ca }), { ok: true });
    assert.deepEqual(requests, ['POST /v?timeout=10s {"request":1}']);
    await assert.rejects(
      call({ url: url() }),
      /^Error: Post "https:\/\/localhost:\d+\/v\?timeout=10s": self-signed certificate/,
    );
  });

  test('a Service is called at a ready Pod, through the link of its host', async () => {
    requests.length = 0;
    assert.deepEqual(await call({ service: SERVICE, caBundle: ca }), { ok: true });
    assert.deepEqual(requests, ['POST /check?timeout=10s {"request":1}']);
    assert.deepEqual(opened, ['shop-1 {"type":"port","podUid":"u1","port":8443}']);
  });

  test('the error states why a Service cannot be called', async () => {
    const none = call({ service: SERVICE, caBundle: ca }, { ready: false });
    await assert.rejects(none, /no endpoints available for service "hook"$/);
    await assert.rejects(call({ service: { ...SERVICE, name: 'other' } }), /service "other" not found$/);
    await assert.rejects(
      call({ service: { ...SERVICE, port: 1 } }),
      /no service port 1 found for service "hook"$/,
    );
  });

  test('a wrong status, a wrong body and a late answer are errors', async () => {
    answer = () => ({ code: 500, text: 'broken' });
    await assert.rejects(call({ url: url(), caBundle: ca }), /answered with status 500: broken$/);
    answer = () => ({ code: 200, text: 'text' });
    await assert.rejects(call({ url: url(), caBundle: ca }), /the answer is not JSON$/);
    silent = true;
    await assert.rejects(
      call({ url: url(), caBundle: ca }, { timeoutMs: 200 }),
      /context deadline exceeded$/,
    );
    silent = false;
  });
});
