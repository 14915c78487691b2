/** Status reports of an agent over its link, to a hub that the test controls. */
import assert from 'node:assert/strict';
import type { ContainerStatus } from '../../../shared/kube/pods/pod-types.js';
import { APPLIED_IN_STATUS } from '../../../shared/link/link-features.js';
import type { Desired, ReportedEvent } from '../../../shared/link/messages/link-messages.js';
import { until } from '../../harness/basics/wait-until.js';
import { WELCOME, withLink } from '../../harness/hub/scripted-hub.js';

withLink(
  'statuses are sent one report at a time, the newest of each Pod',
  async ({ agent, nextConnection: next }) => {
    const { outbox } = agent.link;
    const pod = (phase: 'Pending' | 'Running') => ({
      uid: 'u',
      namespace: 'd',
      name: 'p',
      status: { phase },
    });
    const hub = await next();
    outbox.putPod(pod('Pending'));
    hub.send(WELCOME);
    const first = await hub.waitFor('status');
    assert.equal(first.pods[0]?.status.phase, 'Pending');
    outbox.putPod(pod('Pending'));
    outbox.putPod(pod('Running'));
    outbox.putRemoved({ uid: 'v', namespace: 'd', name: 'q' });
    hub.received.length = 0;
    hub.send({ kind: 'statusAck', id: first.id });
    const second = await hub.waitFor('status');
    assert.deepEqual(
      second.pods.map(({ status }) => status.phase),
      ['Running'],
    );
    assert.deepEqual(
      second.removed.map(({ uid }) => uid),
      ['v'],
    );
  },
);

withLink(
  'a Pod that is reported again after its removal is treated as any other',
  async ({ agent, nextConnection: next }) => {
    const { outbox } = agent.link;
    const identity = { uid: 'u', namespace: 'd', name: 'p' };
    const hub = await next();
    outbox.putRemoved(identity);
    hub.send(WELCOME);
    const first = await hub.waitFor('status');
    assert.deepEqual(first.removed, [identity]);
    outbox.putPod({ ...identity, status: { phase: 'Running' } });
    hub.received.length = 0;
    hub.send({ kind: 'statusAck', id: first.id });
    const second = await hub.waitFor('status');
    assert.deepEqual([second.pods.map(({ status }) => status.phase), second.removed], [['Running'], []]);
  },
);

withLink(
  'a starting status is debounced, because a better one follows',
  async ({ clock, link, nextConnection: next }) => {
    const { outbox } = link;
    const container = { name: 'c', image: 'i', imageID: '', restartCount: 0, lastState: {}, started: false };
    const creating = { ...container, state: { waiting: { reason: 'ContainerCreating' } }, ready: false };
    const started = { ...container, state: { running: {} }, ready: true };
    const report = (uid: string, phase: 'Pending' | 'Running', status: ContainerStatus) => ({
      uid,
      namespace: 'd',
      name: uid,
      status: { phase, containerStatuses: [status] },
    });
    const event: ReportedEvent = {
      involvedObject: { kind: 'Pod', uid: 'quick' },
      type: 'Normal',
      reason: 'Started',
      message: 'Started container c',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
    };
    const hub = await next();
    hub.send(WELCOME);
    await until(() => link.phase === 'live');
    outbox.putPod(report('quick', 'Pending', creating));
    outbox.putEvent(event);
    outbox.putPod(report('quick', 'Running', started));
    const quick = await hub.waitFor('status');
    assert.deepEqual(
      quick.pods.map(({ status }) => status.phase),
      ['Running'],
    );
    assert.deepEqual((await hub.waitFor('events')).items, [event]);
    hub.send({ kind: 'statusAck', id: quick.id });
    hub.received.length = 0;
    outbox.putPod(report('slow', 'Pending', creating));
    clock.advance(499);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(hub.received, []);
    clock.advance(1);
    assert.equal((await hub.waitFor('status')).pods[0]?.uid, 'slow');
  },
);

withLink(
  'the end of a Pod that is being deleted waits for its removal, at most half a second',
  async ({ clock, link, nextConnection: next }) => {
    const { outbox } = link;
    const identity = (uid: string) => ({ uid, namespace: 'd', name: uid });
    const ended = (uid: string) => ({ ...identity(uid), status: { phase: 'Failed' as const } });
    const hub = await next();
    hub.send(WELCOME);
    await until(() => link.phase === 'live');
    outbox.putPod(ended('quick'), true);
    await new Promise((resolve) => setImmediate(resolve));
    outbox.putRemoved(identity('quick'));
    const { id, pods, removed } = await hub.waitFor('status');
    assert.deepEqual(
      [pods, removed].map(([each]) => each?.uid),
      ['quick', 'quick'],
    );
    hub.send({ kind: 'statusAck', id });
    hub.received.length = 0;
    outbox.putPod(ended('slow'), true);
    clock.advance(500);
    const late = await hub.waitFor('status');
    assert.deepEqual([late.pods[0]?.uid, late.removed], ['slow', []]);
  },
);

withLink(
  'a change that is on disk is named in the next status, if the hub accepts that',
  async ({ agent, clock, link, nextConnection: next }) => {
    const { outbox } = link;
    const hub = await next();
    hub.send({ ...WELCOME, features: [...WELCOME.features, APPLIED_IN_STATUS] });
    await until(() => link.phase === 'live');
    const change = (id: number): Desired => ({ kind: 'desired', id, revision: id, set: [], removed: [] });
    hub.send(change(1));
    await until(() => agent.changes.length === 1);
    outbox.putPod({ uid: 'u', namespace: 'd', name: 'p', status: { phase: 'Running' } });
    assert.equal((await hub.waitFor('status')).applied, 1);
    hub.send(change(2));
    await until(() => agent.changes.length === 2);
    clock.advance(500);
    assert.equal((await hub.waitFor('applied')).id, 2);
    hub.received.length = 0;
    hub.send(change(3));
    hub.send(change(4));
    assert.equal((await hub.waitFor('applied')).id, 4);
  },
);

withLink(
  'after a reconnect everything is sent again, a removal until it is acknowledged',
  async ({ agent, clock, link, nextConnection: next }) => {
    const { outbox } = agent.link;
    const hub = await next();
    outbox.putPod({ uid: 'u', namespace: 'd', name: 'p', status: { phase: 'Running' } });
    outbox.putRemoved({ uid: 'v', namespace: 'd', name: 'q' });
    hub.send(WELCOME);
    await hub.waitFor('status');
    hub.socket.terminate();
    await until(() => link.phase === 'waiting');
    clock.advance(1_500);
    const again = await next();
    assert.equal((await again.waitFor('hello')).nodeUid, 'node-uid');
    again.send(WELCOME);
    const report = await again.waitFor('status');
    assert.deepEqual([report.pods.length, report.removed.length], [1, 1]);
    again.received.length = 0;
    again.send({ kind: 'statusAck', id: report.id });
    outbox.putPod({ uid: 'w', namespace: 'd', name: 'r', status: { phase: 'Pending' } });
    const last = await again.waitFor('status');
    assert.deepEqual([last.pods.map(({ uid }) => uid), last.removed], [['w'], []]);
  },
);
