/**
 * exec and attach from a client's WebSocket through API, hub and link to a host's engine, and clean-up when one of them
 * disconnects.
 */
import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { Exec, KubeConfig, PortForward } from '@kubernetes/client-node';
import { WebSocket } from 'ws';
import { HollowDriver } from '../../../agent/runtime/hollow/hollow-driver.js';
import { HollowEngine } from '../../../agent/runtime/hollow/hollow-engine.js';
import type { ExecProcess, RuntimeDriver } from '../../../agent/runtime/runtime-driver.js';
import { openPort } from '../../../agent/streams/port-stream.js';
import { openProcess } from '../../../agent/streams/process-stream.js';
import { type ApiSettings, DEFAULT_API_SETTINGS } from '../../../coordinator/api/http/api-context.js';
import { podKind } from '../../../coordinator/kinds/index.js';
import type { AuditEvent } from '../../../shared/kube/access/audit-types.js';
import { STREAM_WINDOW_BYTES } from '../../../shared/link/messages/link-messages.js';
import { StreamError } from '../../../shared/link/streams/byte-stream.js';
import { CHANNEL, closeFrame } from '../../../shared/link/streams/stream-channels.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { startTestApi, TEST_TOKEN, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { until } from '../../harness/basics/wait-until.js';
import { type HubFixture, type TestAgent, withHub } from '../../harness/hub/hub-fixture.js';
import { config } from '../../laws/driver-fixture.js';

interface Bench extends HubFixture {
  api: TestApi;
  agent1: TestAgent;
  /** Started commands with open streams. */
  open: Set<ExecProcess>;
  /** Audited status codes. */
  audited: number[];
}

/** A Pod `p` with a container `c` on a host `n1`. */
function withPod(
  rule: string,
  check: (fixture: Bench) => Promise<void>,
  settings: ApiSettings = DEFAULT_API_SETTINGS,
): void {
  withHub(rule, async (hub) => {
    const audited: number[] = [];
    const record = ({ verb, responseStatus }: AuditEvent) => {
      if (verb === 'create') audited.push(responseStatus.code ?? 0);
    };
    const audit = { path: '', newId: () => 'id', record, flush: async () => undefined };
    const api = await startTestApi({ streams: hub.hub.streams, audit, settings });
    const spec = { containers: [{ name: 'c', image: 'app:1' }], nodeName: 'n1' };
    const pod = await api.registry.create(podKind, 'default', { metadata: { name: 'p' }, spec });
    const driver = new HollowDriver(new HollowEngine({ clock: systemClock }), {
      clusterUID: 'c',
      nodeName: 'n1',
    });
    await driver.pull({ image: 'app:1', signal: new AbortController().signal });
    const uid = pod.object().metadata.uid ?? '';
    const identity = { podUid: uid, podNamespace: 'default', podName: 'p', container: 'c', attempt: 0 };
    await driver.start(await driver.create(config(uid, { image: 'app:1' }, { identity, stdin: true })));
    const open = new Set<ExecProcess>();
    const agent1 = await hub.agent('n1', { clock: systemClock });
    const watched = watchedDriver(driver, open);
    agent1.openStream = async (request, input, signal) => {
      if (request.type === 'port') return openPort(driver, request, input, signal);
      if (request.type !== 'exec' && request.type !== 'attach')
        throw new StreamError('BadRequest', 'no process');
      return openProcess(watched, request, input, signal);
    };
    await until(() => agent1.link.phase === 'live' && hub.hub.connected === 1);
    try {
      await check({ ...hub, api, agent1, open, audited });
    } finally {
      await api.stop();
    }
  });
}

function watchedDriver(driver: RuntimeDriver, open: Set<ExecProcess>): RuntimeDriver {
  return Object.assign(Object.create(driver) as RuntimeDriver, {
    inspectPod: (uid: string) => driver.inspectPod(uid),
    attach: driver.attach.bind(driver),
    exec: async (...args: Parameters<RuntimeDriver['exec']>) => {
      const process = await driver.exec(...args);
      open.add(process);
      args[2].addEventListener('abort', () => open.delete(process), { once: true });
      return process;
    },
  });
}

/** The client's end: the data of each channel, and the close code. */
class Client {
  readonly channels = new Map<number, string>();
  readonly closed: Promise<number>;
  refusal = '';

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      const channel = data[0] ?? -1;
      this.channels.set(channel, (this.channels.get(channel) ?? '') + data.subarray(1).toString());
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', resolve));
  }

  /** Resolves when the connection is open or rejected. */
  static async open(
    api: TestApi,
    query: string,
    protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'],
    origin = '',
  ) {
    const url = `${api.url.replace('https', 'wss')}/api/v1/namespaces/default/pods/p/${query}`;
    const headers = { authorization: `Bearer ${TEST_TOKEN}`, ...(origin ? { origin } : {}) };
    const client = new Client(new WebSocket(url, protocols, { headers, ca: api.pki.ca.cert }));
    await new Promise<void>((resolve) => {
      client.socket.once('open', resolve);
      client.socket.once('unexpected-response', (_request, answer) => {
        answer.on('data', (bytes: Buffer) => {
          client.refusal = `${answer.statusCode} ${client.refusal.slice(4)}${bytes}`;
        });
        answer.on('end', resolve);
      });
    });
    return client;
  }

  send(channel: number, text: string): void {
    this.socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(text)]));
  }

  get status(): unknown {
    return JSON.parse(this.channels.get(CHANNEL.status) ?? 'null');
  }
}

const CAT = 'exec?command=cat&container=c&stdin=true&stdout=true&stderr=true';
const WAIT = 'exec?command=sleep&command=3600&stdin=true&stdout=true';

withPod('input, its end, output and exit status pass through', async ({ api, open }) => {
  const client = await Client.open(api, CAT);
  assert.equal(client.socket.protocol, 'v5.channel.k8s.io');
  client.send(CHANNEL.stdin, 'x'.repeat(100_000));
  client.socket.send(closeFrame(CHANNEL.stdin));
  assert.equal(await client.closed, 1000);
  assert.equal(client.channels.get(CHANNEL.stdout)?.length, 100_000);
  assert.deepEqual(client.status, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' });
  await until(() => open.size === 0);
});

withPod(
  'the console gets a rejection on its status channel; any other client gets it by HTTP',
  async ({ api }) => {
    const without = 'exec?command=cat&container=none&stdin=true';
    const own = await Client.open(api, without, undefined, api.url);
    await own.closed;
    assert.match((own.status as { message: string }).message, /container none is not valid for pod p/);
    const foreign = await Client.open(api, without, undefined, 'https://elsewhere.example');
    assert.match(foreign.refusal, /^400 .*container none is not valid/);
  },
);

withPod('an invalid handshake starts nothing, and is answered and audited once', async (fixture) => {
  const { api, open, audited } = fixture;
  const path = '/api/v1/namespaces/default/pods/p/';
  const good = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'v5.channel.k8s.io',
  };
  const faults: [string, Record<string, string>][] = [
    [`GET ${path}${CAT}`, { 'sec-websocket-key': 'bad' }],
    [`GET ${path}${CAT}`, { 'sec-websocket-version': '12' }],
    [`GET ${path}${CAT}`, { 'sec-websocket-protocol': 'v5.channel.k8s.io, v5.channel.k8s.io' }],
    [`POST ${path}${CAT}`, {}],
    [
      `GET ${path}portforward?ports=80`,
      { 'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io', 'sec-websocket-key': 'bad' },
    ],
  ];
  let asked = 0;
  for (const [line, fault] of faults) {
    for (const [token, code] of [
      [TEST_TOKEN, 400],
      [null, 401],
    ] as const) {
      for (const origin of [{}, { origin: api.url }] as Record<string, string>[]) {
        const answer = await call(api, line, { token, headers: { ...good, ...fault, ...origin } });
        asked += 1;
        assert.deepEqual([answer.code, answer.json().kind], [code, 'Status'], JSON.stringify(fault));
        await until(() => audited.length === asked || JSON.stringify([audited, line, fault]));
        assert.equal(audited.at(-1), code);
      }
    }
  }
  assert.equal(open.size, 0);
});

const IDLE_MS = 500;

withPod(
  'a process on a silent connection is ended, and a busy one is not',
  async ({ api, open }) => {
    const idle = await Client.open(api, WAIT);
    const busy = await Client.open(api, CAT);
    const typing = setInterval(() => busy.send(CHANNEL.stdin, 'x'), IDLE_MS / 10);
    assert.equal(await idle.closed, 1006);
    assert.equal(busy.socket.readyState, WebSocket.OPEN);
    clearInterval(typing);
    await busy.closed;
    await until(() => open.size === 0);
  },
  { ...DEFAULT_API_SETTINGS, idleStreamMs: IDLE_MS },
);

withPod('an exit code is a Status; stderr has its own channel', async ({ api }) => {
  const failing = await Client.open(api, 'exec?command=exit&command=7&stdout=true');
  await failing.closed;
  assert.deepEqual((failing.status as { details: unknown }).details, {
    causes: [{ reason: 'ExitCode', message: '7' }],
  });
  const warning = await Client.open(api, 'exec?command=warn&command=oops&stdout=true&stderr=true');
  await warning.closed;
  assert.equal(warning.channels.get(CHANNEL.stderr), 'oops\n');
});

withPod('an older client gets version 4', async ({ api }) => {
  const client = await Client.open(api, 'exec?command=echo&command=hi&stdout=true', ['v4.channel.k8s.io']);
  assert.equal(client.socket.protocol, 'v4.channel.k8s.io');
  await client.closed;
  assert.equal(client.channels.get(CHANNEL.stdout), 'hi\n');
});

withPod('a terminal receives its size', async ({ api }) => {
  const client = await Client.open(api, 'exec?command=size&stdin=true&stdout=true&tty=true');
  client.send(CHANNEL.resize, '{"Width":0,"Height":0}\n');
  client.send(CHANNEL.resize, '{"Width":120,"Height":40}\n');
  client.send(CHANNEL.stdin, '\n');
  await until(() => client.channels.get(CHANNEL.stdout) === '40 120\n');
  client.socket.terminate();
});

withPod('attach connects to the first process', async ({ api }) => {
  const client = await Client.open(api, 'attach?stdin=true&stdout=true');
  client.send(CHANNEL.stdin, 'hello');
  await until(() => client.channels.get(CHANNEL.stdout) === 'hello');
  client.socket.terminate();
});

test('attach to a container that ends at the same time fails, so that kubectl debug prints its log', async () => {
  const container = { id: 'c1', identity: { container: 'app', attempt: 0 }, state: 'running' };
  const found = [[container], [{ ...container, state: 'exited' }]];
  let isClosed = false;
  const driver = {
    inspectPod: async () => found.shift() ?? [],
    attach: async () => ({ close: () => (isClosed = true) }),
  };
  const request = { type: 'attach', podUid: 'u', container: 'app', stdin: true, stdout: true } as const;
  const input: AsyncIterable<Uint8Array> = Readable.from([]);
  const opening = openProcess(driver as never, request as never, input, new AbortController().signal);
  await assert.rejects(opening, /container not found \("app"\)/);
  assert.ok(isClosed);
});

withPod('rejections come before the upgrade, with upstream’s messages', async ({ api }) => {
  const refusals: [string, RegExp][] = [
    ['exec?command=true', /^400 .*you must specify at least 1 of stdin, stdout, stderr/],
    ['exec?stdout=true', /^400 .*you must specify at least one command/],
    ['exec?command=true&stdout=true&container=x', /^400 .*container x is not valid for pod p/],
    ['portforward?ports=0', /^400 .*from 1 to 65535/],
    ['log', /^404 /],
  ];
  for (const [query, expected] of refusals) assert.match((await Client.open(api, query)).refusal, expected);
  const other = await Client.open(api, CAT, ['v9.channel.k8s.io']);
  assert.match(other.refusal, /^400 /);
});

withPod('a process that reads nothing blocks its own client only', async ({ api, agent1 }) => {
  const client = await Client.open(api, WAIT);
  const piece = 'x'.repeat(1_000_000);
  for (let count = 0; count < 16; count += 1) client.send(CHANNEL.stdin, piece);
  await until(() => client.socket.bufferedAmount > 0);
  const other = await Client.open(api, 'exec?command=echo&command=hi&stdout=true');
  await other.closed;
  assert.equal(other.channels.get(CHANNEL.stdout), 'hi\n');
  assert.ok(client.socket.bufferedAmount > STREAM_WINDOW_BYTES, 'the input went somewhere');
  assert.deepEqual(agent1.lost, []);
  client.socket.terminate();
});

withPod('streams end with their client, repeatedly', async ({ api, open }) => {
  // More than may be open at once, so earlier streams must have been closed.
  for (let round = 0; round < 5; round += 1) {
    const clients = await Promise.all(Array.from({ length: 30 }, () => Client.open(api, WAIT)));
    assert.equal(open.size, 30);
    for (const client of clients) client.socket.terminate();
    await until(() => open.size === 0 || `${open.size} are open`);
  }
});

withPod('streams end with the link, and the client gets no false result', async ({ api, open, agent1 }) => {
  const client = await Client.open(api, WAIT);
  agent1.link.stop();
  await client.closed;
  assert.equal(client.status, null);
  await until(() => open.size === 0);
});

withPod('streams end with the coordinator', async ({ api, open }) => {
  const client = await Client.open(api, WAIT);
  await api.stop();
  await client.closed;
  await until(() => open.size === 0);
});

withPod('Kubernetes’ own JavaScript client runs a command and reaches a port', async ({ api }) => {
  const config = new KubeConfig();
  config.loadFromString(api.kubeconfig);
  const output = new PassThrough();
  const status = await new Promise<{ status?: string }>((resolve, reject) => {
    const command = ['echo', 'hi'];
    new Exec(config).exec('default', 'p', 'c', command, output, null, null, false, resolve).catch(reject);
  });
  assert.equal(status.status, 'Success');
  assert.equal(String(output.read()), 'hi\n');
  const [there, back] = [new PassThrough(), new PassThrough()];
  await new PortForward(config).portForward('default', 'p', [8080], back, null, there);
  there.end('hello');
  let text = '';
  for await (const bytes of back) {
    text += String(bytes);
    if (text === 'hello') break;
  }
  assert.equal(text, 'hello');
});
