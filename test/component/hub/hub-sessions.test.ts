/** Accepted and rejected sessions, and one session per node. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import { nodeKind, secretKind } from '../../../coordinator/kinds/index.js';
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import { encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import {
  type FromAgent,
  type Hello,
  LINK_PATH,
  MAX_FRAME_BYTES,
  SUBPROTOCOL,
} from '../../../shared/link/messages/link-messages.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { until } from '../../harness/basics/wait-until.js';
import { certificateHeader, fixtureAuthority } from '../../harness/hub/fixture-host-keys.js';
import { type HubFixture, withHub } from '../../harness/hub/hub-fixture.js';
import { helloOf, rawAgent } from '../../harness/hub/raw-agent.js';

/** Returns status code and body of a rejected upgrade. */
function refusedUpgrade(bench: HubFixture, headers: Record<string, string>): Promise<[number, string]> {
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      { port: bench.port, path: LINK_PATH, headers: { ...upgrade, ...headers } },
      (response) => {
        let body = '';
        response.on('data', (chunk) => {
          body += chunk;
        });
        response.on('end', () => resolve([response.statusCode ?? 0, JSON.parse(body).reason]));
      },
    );
    sent.on('upgrade', () => reject(new Error('was let in')));
    sent.on('error', reject);
    sent.end();
  });
}

withHub('without the certificate of a node there is no upgrade', async (bench) => {
  const own = certificateHeader(await bench.hostKey('n1'));
  const protocol = { 'sec-websocket-protocol': SUBPROTOCOL };
  const unknown = await fixtureAuthority(bench.controlPlane.clock);
  const stranger = await unknown.sign(await certificateRequest(await generateKeyPem(), 'n1'));
  const refused: Record<string, string>[] = [
    {},
    { authorization: 'Bearer x' },
    { 'everynode-certificate': 'x' },
    certificateHeader(stranger),
  ];
  for (const headers of refused) {
    assert.deepEqual(await refusedUpgrade(bench, { ...protocol, ...headers }), [401, 'Unauthorized']);
  }
  assert.deepEqual(await refusedUpgrade(bench, own), [400, 'BadRequest']);
  assert.deepEqual(await refusedUpgrade(bench, { ...own, 'sec-websocket-protocol': 'everynode.v9' }), [
    400,
    'BadRequest',
  ]);
});

withHub('deleting the Secret of a credential ends its session, and no other', async (bench) => {
  const [revoked, other] = [await rawAgent(bench, 'n1'), await rawAgent(bench, 'n2')];
  for (const [node, agent] of [
    ['n1', revoked],
    ['n2', other],
  ] as const) {
    agent.send(helloOf(node));
    await agent.waitFor('welcome');
  }
  const own = certificateHeader(await bench.hostKey('n1'));
  await until(() => bench.hub.connected === 2);
  await bench.controlPlane.registry.delete(secretKind, {
    namespace: 'kube-system',
    name: 'node-credential-n1',
  });
  const goodbye = await revoked.waitFor('goodbye');
  assert.deepEqual([goodbye.reason, goodbye.message], ['refused', 'the credential of this node was revoked']);
  await until(() => bench.hub.connected === 1);
  const headers = { ...own, 'sec-websocket-protocol': SUBPROTOCOL };
  assert.deepEqual(await refusedUpgrade(bench, headers), [401, 'Unauthorized']);
});

withHub('a credential is valid for its own node only', async (bench) => {
  const agent = await rawAgent(bench, 'n1');
  agent.send(helloOf('n2'));
  assert.equal((await agent.waitFor('goodbye')).reason, 'refused');
  assert.equal(bench.controlPlane.informers.nodes.size, 0);
});

withHub('an agent of another fleet is rejected', async (bench) => {
  const agent = await rawAgent(bench, 'n1');
  agent.send(helloOf('n1', { clusterUID: 'another' }));
  assert.equal((await agent.waitFor('goodbye')).reason, 'refused');
  assert.equal(bench.controlPlane.informers.nodes.size, 0);
});

withHub('labels that no Node may have are rejected with the reason', async (bench) => {
  const agent = await rawAgent(bench, 'n1');
  agent.send(helloOf('n1', { register: { labels: { 'not a label': 'x' }, taints: [] } }));
  const goodbye = await agent.waitFor('goodbye');
  assert.match(goodbye.message, /not a label/);
  assert.ok(goodbye.retryMs);
});

const RUBBISH: [string, Buffer | string][] = [
  ['text', 'hello'],
  ['noise', Buffer.from('ff00ff00', 'hex')],
  [
    'a status before the hello',
    encodeMessage({ kind: 'status', id: 1, hostTimeMs: 0, pods: [], removed: [] }),
  ],
];
for (const [what, frame] of RUBBISH) {
  withHub(`${what} ends the session with a reason, and other sessions continue`, async (bench) => {
    const good = await bench.agent('n2');
    const bad = await rawAgent(bench, 'n1');
    bad.socket.send(frame);
    assert.equal((await bad.waitFor('goodbye')).reason, 'refused');
    await until(() => bad.closed !== undefined);
    await until(() => good.link.phase === 'live');
  });
}

withHub('an oversized frame closes the connection', async (bench) => {
  const agent = await rawAgent(bench, 'n1');
  agent.socket.send(Buffer.alloc(MAX_FRAME_BYTES + 1));
  await until(() => agent.closed === 1009 || `closed ${agent.closed}`);
});

withHub('a protocol violation in a live session ends it', async (bench) => {
  const data = { kind: 'streamData', stream: 1, bytes: Buffer.from('x') } as const;
  const breaches: FromAgent[] = [helloOf('n1'), { kind: 'applied', id: 7 }];
  for (const breach of breaches) {
    const agent = await rawAgent(bench, 'n1');
    agent.send(helloOf('n1'));
    await agent.waitFor('welcome');
    agent.send(data);
    agent.send(breach);
    assert.equal((await agent.waitFor('goodbye')).reason, 'refused');
  }
});

withHub('a connected client that sends nothing is disconnected after 15 s', async (bench) => {
  const agent = await rawAgent(bench, 'n1');
  await until(() => {
    bench.controlPlane.clock.advance(5_000);
    return agent.closed !== undefined;
  });
});

withHub('a new connection of the same agent process replaces its old session', async (bench) => {
  const old = await rawAgent(bench, 'n1');
  old.send(helloOf('n1'));
  await old.waitFor('welcome');
  const young = await rawAgent(bench, 'n1');
  young.send(helloOf('n1'));
  await young.waitFor('welcome');
  assert.equal((await old.waitFor('goodbye')).reason, 'superseded');
  await until(() => old.closed !== undefined);
  assert.equal(bench.liveness.stateOf('n1')?.phase, 'connected');
  assert.equal(bench.hub.connected, 1);
});

withHub('a clone is rejected while the first agent answers, and the Node gets an Event', async (bench) => {
  const first = await rawAgent(bench, 'n1');
  first.send(helloOf('n1'));
  await first.waitFor('welcome');
  await until(() => bench.controlPlane.informers.nodes.size === 1);
  const clone = await rawAgent(bench, 'n1');
  clone.send(helloOf('n1', { instanceID: 'clone' }));
  assert.equal((await clone.waitFor('goodbye')).reason, 'duplicate');
  assert.equal(first.closed, undefined);
  await bench.controlPlane.settle();
  const events = await bench.controlPlane.eventsAbout('n1');
  assert.ok(
    events.some((event) => event.startsWith('DuplicateAgent')),
    String(events),
  );
});

withHub('the session of an agent that does not answer is taken over', async (bench) => {
  const dead = await rawAgent(bench, 'n1', false);
  dead.send(helloOf('n1'));
  await dead.waitFor('welcome');
  const young = await rawAgent(bench, 'n1');
  young.send(helloOf('n1', { instanceID: 'young' }));
  await until(() => {
    bench.controlPlane.clock.advance(1_000);
    return young.received.some(({ kind }) => kind === 'welcome');
  });
  assert.equal((await dead.waitFor('goodbye')).reason, 'superseded');
});

withHub(
  'deleting a Node while its agent is connected drops its Pods and keeps the agent away',
  async (bench) => {
    const agent = await bench.agent('n1');
    await bench.boundPod('p', 'n1');
    await until(() => agent.held.size === 1);
    await bench.controlPlane.registry.delete(nodeKind, { name: 'n1' });
    await until(() => agent.ended.length === 1);
    assert.equal(agent.held.size, 0);
    await bench.controlPlane.advance(120_000);
    assert.equal(bench.controlPlane.informers.nodes.size, 0);
    const restarted = await bench.agent('n1', { instanceID: 'next' });
    await until(() => restarted.link.phase === 'live');
    assert.equal((await bench.node('n1')).metadata.name, 'n1');
  },
);

withHub('deleting a Node while its agent is offline has the same effect', async (bench) => {
  const { controlPlane: plane } = bench;
  const epoch = plane.store.epoch();
  const clusterUID = plane.store.clusterUID();
  const back = await rawAgent(bench, 'n1');
  back.send(helloOf('n1', { nodeUid: 'of-old', epoch: epoch, clusterUID }));
  const goodbye = await back.waitFor('goodbye');
  assert.deepEqual(
    [goodbye.reason, goodbye.clusterUID, goodbye.retryMs],
    ['nodeDeleted', clusterUID, undefined],
  );
  const restored = await rawAgent(bench, 'n1');
  restored.send(helloOf('n1', { nodeUid: 'of-old', epoch: 'before the restore', clusterUID }));
  await restored.waitFor('welcome');
});

withHub('a stop makes agents disconnect for a short time', async (bench) => {
  const agent = await rawAgent(bench, 'n1');
  agent.send(helloOf('n1'));
  await agent.waitFor('welcome');
  const written = await bench.controlPlane.store.revision();
  await bench.hub.stop();
  const goodbye = await agent.waitFor('goodbye');
  assert.equal(goodbye.reason, 'draining');
  assert.ok(goodbye.retryMs);
  await bench.controlPlane.settle();
  assert.ok(
    (await bench.controlPlane.store.revision()) <= written + 1,
    'a stop of the hub is no news of its nodes',
  );
});

withHub(
  'a host that requests an administrator’s label and taint, and then withdraws them, removes neither',
  async (bench) => {
    const { registry, settle } = bench.controlPlane;
    const taint: Taint = { key: 'maintenance', value: 'x', effect: 'NoExecute' };
    const hellos: Hello['register'][] = [
      { labels: { own: '1' }, taints: [] },
      { labels: { own: '1', rack: '7' }, taints: [taint] },
      { labels: {}, taints: [] },
    ];
    for (const [index, register] of hellos.entries()) {
      const agent = await rawAgent(bench, 'n1');
      agent.send(helloOf('n1', { register }));
      await agent.waitFor('welcome');
      agent.socket.terminate();
      await until(() => bench.hub.connected === 0);
      if (index > 0) continue;
      await registry.modify(nodeKind, { name: 'n1' }, (node) => {
        node.metadata.labels = { ...node.metadata.labels, rack: '7' };
        node.spec = { taints: [taint] };
        return undefined;
      });
      await settle();
    }
    const { metadata, spec } = await bench.node('n1');
    assert.deepEqual([metadata.labels?.rack, metadata.labels?.own], ['7', undefined]);
    assert.deepEqual(spec?.taints, [taint]);
  },
);
