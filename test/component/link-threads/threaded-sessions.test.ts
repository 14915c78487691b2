/**
 * Sessions of agents whose links end in a thread. Tests of `component/hub` with `withEachHub` check that the main thread
 * decides as for its own sockets.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:tls';
import type { Worker } from 'node:worker_threads';
import { LINK_PROTOCOL } from '../../../shared/link/link-features.js';
import { MAX_FRAME_BYTES } from '../../../shared/link/messages/link-messages.js';
import { call } from '../../harness/api/https-call.js';
import { selfSignedCertificate } from '../../harness/api/self-signed-certificate.js';
import { until } from '../../harness/basics/wait-until.js';
import { FOLLOWED_LOG } from '../../harness/hub/hub-fixture.js';
import { helloOf, rawAgent } from '../../harness/hub/raw-agent.js';
import { withThreadedHub } from '../../harness/link-threads/threaded-hub.js';

/** Threads in the order of their start. */
const workers: Worker[] = [];
process.on('worker', (worker: Worker) => workers.push(worker));

withThreadedHub(
  'a Pod reaches its agent through a thread, and its status returns',
  async (fixture, { upgradesInMain }) => {
    const agent = await fixture.agent('n1');
    const pod = await fixture.boundPod('p', 'n1');
    await until(() => agent.held.size === 1);
    agent.link.outbox.putPod({
      uid: pod.metadata.uid ?? '',
      namespace: 'default',
      name: 'p',
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
    await until(() => fixture.controlPlane.informers.pods.get(pod.metadata)?.status?.phase === 'Running');
    assert.equal(upgradesInMain(), 0);
  },
);

withThreadedHub(
  'a log is streamed through a thread, also when it is longer than a window',
  async (fixture) => {
    const agent = await fixture.agent('n1');
    const lines = 4_000;
    agent.log = async function* () {
      for (let index = 0; index < lines; index += 1) yield Buffer.alloc(1_024, 'x');
    };
    await until(() => fixture.hub.connected === 1);
    let bytes = 0;
    const log = await fixture.hub.streams.logs('n1', FOLLOWED_LOG, new AbortController().signal);
    for await (const chunk of log) bytes += chunk.length;
    assert.equal(bytes, lines * 1_024);
  },
);

withThreadedHub(
  'an agent without the ALPN protocol is served by the main thread',
  async (fixture, { upgradesInMain }) => {
    const old = await rawAgent(fixture, 'n1', true, []);
    old.send(helloOf('n1'));
    await old.waitFor('welcome');
    assert.equal(fixture.hub.connected, 1);
    assert.equal(upgradesInMain(), 1);
  },
);

withThreadedHub('a request through the port has the address of its client', async (_fixture, through) => {
  const body = { metadata: { name: 'm' } };
  const { code } = await call(through, 'POST /api/v1/namespaces/default/configmaps', {
    body,
    from: '127.0.0.5',
  });
  assert.equal(code, 201);
  assert.deepEqual(
    through.audit.entriesFor('create').map((entry) => entry.split(' ').at(-1)),
    ['127.0.0.5'],
  );
});

withThreadedHub('a frame above the limit ends its link alone', async (fixture) => {
  const [large, other] = [await rawAgent(fixture, 'n1'), await rawAgent(fixture, 'n2')];
  large.send(helloOf('n1'));
  other.send(helloOf('n2'));
  await until(() => fixture.hub.connected === 2);
  large.sendRaw(Buffer.alloc(MAX_FRAME_BYTES + 1));
  await until(() => fixture.hub.connected === 1);
  assert.equal(large.closed, 1009);
  assert.equal(other.closed, undefined);
});

withThreadedHub('new links get a renewed certificate', async (_fixture, { port, threads, pki }) => {
  const served = () =>
    new Promise<string>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: [LINK_PROTOCOL] };
      const socket = connect(options, () => {
        resolve(socket.getPeerX509Certificate()?.subject ?? '');
        socket.destroy();
      });
      socket.on('error', reject);
    });
  assert.notEqual(await served(), 'CN=hook');
  threads.renewCertificate({ ...(await selfSignedCertificate('localhost')), clientAuthorities: pki.ca.cert });
  await until(async () => (await served()) === 'CN=hook');
});

withThreadedHub('links return after their thread has failed', async (fixture) => {
  const agent = await fixture.agent('n1');
  await until(() => fixture.hub.connected === 1);
  // Throws in the thread.
  workers.at(-1)?.postMessage({ kind: 'renew', tls: { cert: 'broken', key: 'broken' } });
  await until(() => agent.lost.length === 1);
  await until(async () => {
    await fixture.controlPlane.advance(1_000);
    return agent.welcomes.length === 2;
  });
});
