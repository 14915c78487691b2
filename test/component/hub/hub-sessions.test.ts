/** Accepted and rejected sessions, and one session per node. */
import assert from 'node:assert/strict';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import { nodeKind, secretKind } from '../../../coordinator/kinds/index.js';
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import { encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import { LINK_PROTOCOL } from '../../../shared/link/link-features.js';
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
import { withEachHub } from '../../harness/link-threads/threaded-hub.js';

/** Returns status code and body of a rejected upgrade. */
function refusedUpgrade(fixture: HubFixture, headers: Record<string, string>): Promise<[number, string]> {
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };
  return new Promise((resolve, reject) => {
    const request = fixture.ca ? requestHttps : requestHttp;
    const tls = { ca: fixture.ca, ALPNProtocols: [LINK_PROTOCOL] };
    const sent = request(
      { ...tls, port: fixture.port, path: LINK_PATH, headers: { ...upgrade, ...headers } },
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

withEachHub('without the certificate of a node there is no upgrade', async (fixture) => {
  const own = certificateHeader(await fixture.hostKey('n1'));
  const protocol = { 'sec-websocket-protocol': SUBPROTOCOL };
  const unknown = await fixtureAuthority(fixture.controlPlane.clock);
  const stranger = await unknown.sign(await certificateRequest(await generateKeyPem(), 'n1'));
  const refused: Record<string, string>[] = [
    {},
    { authorization: 'Bearer x' },
    { 'everynode-certificate': 'x' },
    certificateHeader(stranger),
  ];
  for (const headers of refused) {
    assert.deepEqual(await refusedUpgrade(fixture, { ...protocol, ...headers }), [401, 'Unauthorized']);
  }
  assert.deepEqual(await refusedUpgrade(fixture, own), [400, 'BadRequest']);
  assert.deepEqual(await refusedUpgrade(fixture, { ...own, 'sec-websocket-protocol': 'everynode.v9' }), [
    400,
    'BadRequest',
  ]);
});

withEachHub('deleting the Secret of a credential ends its session, and no other', async (fixture) => {
  const [revoked, other] = [await rawAgent(fixture, 'n1'), await rawAgent(fixture, 'n2')];
  for (const [node, agent] of [
    ['n1', revoked],
    ['n2', other],
  ] as const) {
    agent.send(helloOf(node));
    await agent.waitFor('welcome');
  }
  const own = certificateHeader(await fixture.hostKey('n1'));
  await until(() => fixture.hub.connected === 2);
  await fixture.controlPlane.registry.delete(secretKind, {
    namespace: 'kube-system',
    name: 'node-credential-n1',
  });
  const goodbye = await revoked.waitFor('goodbye');
  assert.deepEqual([goodbye.reason, goodbye.message], ['refused', 'the credential of this node was revoked']);
  await until(() => fixture.hub.connected === 1);
  const headers = { ...own, 'sec-websocket-protocol': SUBPROTOCOL };
  assert.deepEqual(await refusedUpgrade(fixture, headers), [401, 'Unauthorized']);
});

withEachHub('a credential is valid for its own node only', async (fixture) => {
  const agent = await rawAgent(fixture, 'n1');
  agent.send(helloOf('n2'));
  assert.equal((await agent.waitFor('goodbye')).reason, 'refused');
  assert.equal(fixture.controlPlane.informers.nodes.size, 0);
});

withHub('an agent of another fleet is rejected', async (fixture) => {
  const agent = await rawAgent(fixture, 'n1');
  agent.send(helloOf('n1', { clusterUID: 'another' }));
  assert.equal((await agent.waitFor('goodbye')).reason, 'refused');
  assert.equal(fixture.controlPlane.informers.nodes.size, 0);
});

withHub('labels that no Node may have are rejected with the reason', async (fixture) => {
  const agent = await rawAgent(fixture, 'n1');
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
  withEachHub(`${what} ends the session with a reason, and other sessions continue`, async (fixture) => {
    const good = await fixture.agent('n2');
    const bad = await rawAgent(fixture, 'n1');
    bad.socket.send(frame);
    assert.equal((await bad.waitFor('goodbye')).reason, 'refused');
    await until(() => bad.closed !== undefined);
    await until(() => good.link.phase === 'live');
  });
}

withEachHub('an oversized frame closes the connection', async (fixture) => {
  const agent = await rawAgent(fixture, 'n1');
  agent.socket.send(Buffer.alloc(MAX_FRAME_BYTES + 1));
  await until(() => agent.closed === 1009 || `closed ${agent.closed}`);
});

withEachHub('a protocol violation in a live session ends it', async (fixture) => {
  const data = { kind: 'streamData', stream: 1, bytes: Buffer.from('x') } as const;
  const breaches: FromAgent[] = [helloOf('n1'), { kind: 'applied', id: 7 }];
  for (const breach of breaches) {
    const agent = await rawAgent(fixture, 'n1');
    agent.send(helloOf('n1'));
    await agent.waitFor('welcome');
    agent.send(data);
    agent.send(breach);
    assert.equal((await agent.waitFor('goodbye')).reason, 'refused');
  }
});

withEachHub('a connected client that sends nothing is disconnected after 15 s', async (fixture) => {
  const agent = await rawAgent(fixture, 'n1');
  await until(() => {
    fixture.controlPlane.clock.advance(5_000);
    return agent.closed !== undefined;
  });
});

withEachHub('a new connection of the same agent process replaces its old session', async (fixture) => {
  const old = await rawAgent(fixture, 'n1');
  old.send(helloOf('n1'));
  await old.waitFor('welcome');
  const young = await rawAgent(fixture, 'n1');
  young.send(helloOf('n1'));
  await young.waitFor('welcome');
  assert.equal((await old.waitFor('goodbye')).reason, 'superseded');
  await until(() => old.closed !== undefined);
  assert.equal(fixture.liveness.stateOf('n1')?.phase, 'connected');
  assert.equal(fixture.hub.connected, 1);
});

withEachHub(
  'a clone is rejected while the first agent answers, and the Node gets an Event',
  async (fixture) => {
    const first = await rawAgent(fixture, 'n1');
    first.send(helloOf('n1'));
    await first.waitFor('welcome');
    await until(() => fixture.controlPlane.informers.nodes.size === 1);
    const clone = await rawAgent(fixture, 'n1');
    clone.send(helloOf('n1', { instanceID: 'clone' }));
    assert.equal((await clone.waitFor('goodbye')).reason, 'duplicate');
    assert.equal(first.closed, undefined);
    await fixture.controlPlane.settle();
    const events = await fixture.controlPlane.eventsAbout('n1');
    assert.ok(
      events.some((event) => event.startsWith('DuplicateAgent')),
      String(events),
    );
  },
);

withEachHub('the session of an agent that does not answer is taken over', async (fixture) => {
  const dead = await rawAgent(fixture, 'n1', false);
  dead.send(helloOf('n1'));
  await dead.waitFor('welcome');
  const young = await rawAgent(fixture, 'n1');
  young.send(helloOf('n1', { instanceID: 'young' }));
  await until(() => {
    fixture.controlPlane.clock.advance(1_000);
    return young.received.some(({ kind }) => kind === 'welcome');
  });
  assert.equal((await dead.waitFor('goodbye')).reason, 'superseded');
});

withEachHub(
  'deleting a Node while its agent is connected drops its Pods and keeps the agent away',
  async (fixture) => {
    const agent = await fixture.agent('n1');
    await fixture.boundPod('p', 'n1');
    await until(() => agent.held.size === 1);
    await fixture.controlPlane.registry.delete(nodeKind, { name: 'n1' });
    await until(() => agent.ended.length === 1);
    assert.equal(agent.held.size, 0);
    await fixture.controlPlane.advance(120_000);
    assert.equal(fixture.controlPlane.informers.nodes.size, 0);
    const restarted = await fixture.agent('n1', { instanceID: 'next' });
    await until(() => restarted.link.phase === 'live');
    assert.equal((await fixture.node('n1')).metadata.name, 'n1');
  },
);

withHub('deleting a Node while its agent is offline has the same effect', async (fixture) => {
  const { controlPlane: plane } = fixture;
  const epoch = plane.store.epoch();
  const clusterUID = plane.store.clusterUID();
  const back = await rawAgent(fixture, 'n1');
  back.send(helloOf('n1', { nodeUid: 'of-old', epoch: epoch, clusterUID }));
  const goodbye = await back.waitFor('goodbye');
  assert.deepEqual(
    [goodbye.reason, goodbye.clusterUID, goodbye.retryMs],
    ['nodeDeleted', clusterUID, undefined],
  );
  const restored = await rawAgent(fixture, 'n1');
  restored.send(helloOf('n1', { nodeUid: 'of-old', epoch: 'before the restore', clusterUID }));
  await restored.waitFor('welcome');
});

withEachHub('a stop makes agents disconnect for a short time', async (fixture) => {
  const agent = await rawAgent(fixture, 'n1');
  agent.send(helloOf('n1'));
  await agent.waitFor('welcome');
  const written = await fixture.controlPlane.store.revision();
  await fixture.hub.stop();
  const goodbye = await agent.waitFor('goodbye');
  assert.equal(goodbye.reason, 'draining');
  assert.ok(goodbye.retryMs);
  await fixture.controlPlane.settle();
  assert.ok(
    (await fixture.controlPlane.store.revision()) <= written + 1,
    'a stop of the hub is no news of its nodes',
  );
});

withHub(
  'a host that requests an administrator’s label and taint, and then withdraws them, removes neither',
  async (fixture) => {
    const { registry, settle } = fixture.controlPlane;
    const taint: Taint = { key: 'maintenance', value: 'x', effect: 'NoExecute' };
    const hellos: Hello['register'][] = [
      { labels: { own: '1' }, taints: [] },
      { labels: { own: '1', rack: '7' }, taints: [taint] },
      { labels: {}, taints: [] },
    ];
    for (const [index, register] of hellos.entries()) {
      const agent = await rawAgent(fixture, 'n1');
      agent.send(helloOf('n1', { register }));
      await agent.waitFor('welcome');
      agent.socket.terminate();
      await until(() => fixture.hub.connected === 0);
      if (index > 0) continue;
      await registry.modify(nodeKind, { name: 'n1' }, (node) => {
        node.metadata.labels = { ...node.metadata.labels, rack: '7' };
        node.spec = { taints: [taint] };
        return undefined;
      });
      await settle();
    }
    const { metadata, spec } = await fixture.node('n1');
    assert.deepEqual([metadata.labels?.rack, metadata.labels?.own], ['7', undefined]);
    assert.deepEqual(spec?.taints, [taint]);
  },
);
