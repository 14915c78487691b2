/** Hosts that an operator approves, hosts that return after a long time, and renewal of certificates. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { joinCoordinator } from '../../../agent/identity/join-coordinator.js';
import { expireSigningRequests } from '../../../coordinator/hub/identity/signing-request-expiry.js';
import {
  certificateSigningRequestKind,
  nodeKind,
  podKind,
  secretKind,
} from '../../../coordinator/kinds/index.js';
import { credentialSecretName, revokedData } from '../../../shared/kube/nodes/node-credential-secret.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { until } from '../../harness/basics/wait-until.js';
import {
  decide,
  type EnrolmentFixture,
  identityFile,
  startEnrolment,
} from '../../harness/hub/enrolment-fixture.js';
import { podObject } from '../../harness/objects/object-builders.js';

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

async function requests({ registry }: EnrolmentFixture) {
  const { records } = await registry.list(certificateSigningRequestKind);
  return records.map((record) => record.object());
}

test('a host waits for approval, is visible as a request meanwhile, and joins after one command', async (context) => {
  const fixture = await startEnrolment(context, { approveNodes: true });
  const heard: string[] = [];
  const joining = joinCoordinator(
    fixture.options({
      labels: { rack: 'a' },
      pollIntervalMs: 20,
      onWaiting: (message) => void heard.push(message),
    }),
  );
  await until(() => heard.length > 1);
  const [request] = await requests(fixture);
  assert.match(
    heard[0] ?? '',
    /node "n1" waits for approval: kubectl certificate approve node-csr-[0-9a-f]{32}/,
  );
  assert.equal(request?.metadata.labels?.rack, 'a');
  assert.equal(request?.spec.username, `system:bootstrap:${fixture.token.id}`);
  assert.equal(fixture.hub.connected, 0);
  await decide(fixture.registry, 'Approved');
  const enrolment = await joining;
  assert.ok(enrolment.certificate && enrolment.clusterUID);
});

test('a denied host is notified, permanently', async (context) => {
  const fixture = await startEnrolment(context, { approveNodes: true });
  const joining = joinCoordinator(fixture.options({ pollIntervalMs: 20 }));
  joining.catch(() => undefined);
  await until(async () => (await requests(fixture)).length === 1, {
    timeoutMs: 30_000,
    what: 'a request',
    pollMs: 5,
  });
  await decide(fixture.registry, 'Denied');
  await assert.rejects(joining, { message: /was denied/, isTemporary: false });
});

test('a host that returns with an expired certificate asks with its old key and needs one approval', async (context) => {
  const fixture = await startEnrolment(context);
  fixture.time.shiftMs = -2 * YEAR_MS;
  const enrolled = fixture.options();
  await joinCoordinator(enrolled);
  fixture.time.shiftMs = 0;
  const { link } = await fixture.host(enrolled);
  await until(async () => (await requests(fixture)).length === 1, {
    timeoutMs: 30_000,
    what: 'a request',
    pollMs: 5,
  });
  const [request] = await requests(fixture);
  assert.equal(request?.spec.username, 'system:node:n1');
  assert.match(request?.metadata.annotations?.['everynode.dev/reason'] ?? '', /expired on \d{4}-/);
  assert.equal(fixture.hub.connected, 0);
  await decide(fixture.registry, 'Approved');
  await until(() => link.phase === 'live');
});

test('a certificate is renewed over the link when most of its lifetime is over', async (context) => {
  const fixture = await startEnrolment(context);
  fixture.time.shiftMs = -0.95 * YEAR_MS;
  const enrolled = fixture.options();
  const before = (await joinCoordinator(enrolled)).certificate;
  fixture.time.shiftMs = 0;
  const { identity, link } = await fixture.host(enrolled);
  await until(() => identity.certificate !== before);
  assert.ok(
    readFileSync(identityFile(enrolled), 'utf8').includes(JSON.stringify(identity.certificate).slice(1, 80)),
  );
  assert.equal(link.phase, 'live');
});

test('a revoked node loses its link at once, and its key is rejected from then on', async (context) => {
  const fixture = await startEnrolment(context);
  const enrolled = fixture.options();
  const { link } = await fixture.host(enrolled);
  await until(() => link.phase === 'live');
  const ref = { namespace: 'kube-system', name: credentialSecretName('n1') };
  await fixture.registry.modify(secretKind, ref, (credential) => {
    credential.data = revokedData(credential.data ?? {});
    return undefined;
  });
  await until(() => fixture.hub.connected === 0);
  assert.deepEqual(await requests(fixture), []);
  const { clusterUID: _, ...pending } = JSON.parse(readFileSync(identityFile(enrolled), 'utf8'));
  writeFileSync(identityFile(enrolled), JSON.stringify(pending));
  await assert.rejects(joinCoordinator(enrolled), /the key of this host was revoked/);
});

test('no host can take the name of a revoked one while its Node or its Pods exist', async (context) => {
  const fixture = await startEnrolment(context);
  const { registry } = fixture;
  const { link } = await fixture.host(fixture.options());
  await until(() => link.phase === 'live');
  await registry.create(podKind, 'default', podObject('p', { nodeName: 'n1' }));
  const ref = { namespace: 'kube-system', name: credentialSecretName('n1') };
  const thief = fixture.options();
  const takesOver = async (): Promise<void> => void (await joinCoordinator(thief));
  await registry.modify(secretKind, ref, (credential) => {
    credential.data = revokedData(credential.data ?? {});
    return undefined;
  });
  await assert.rejects(
    takesOver(),
    /node "n1" and the pods of its revoked host still exist.*kubectl delete node n1/,
  );
  await registry.delete(secretKind, ref);
  await assert.rejects(takesOver(), /node "n1" and the pods of its revoked host still exist/);
  await registry.delete(nodeKind, { name: 'n1' });
  await assert.rejects(takesOver(), {
    message: /pod default\/p of the deleted node "n1"/,
    isTemporary: true,
  });
  await registry.delete(podKind, { namespace: 'default', name: 'p' }, { gracePeriodSeconds: 0 });
  await until(async () => fixture.informers.pods.size === 0, { timeoutMs: 30_000, what: 'the Pod gone' });
  assert.equal((await joinCoordinator(thief)).node, 'n1');
});

test('a host may take the name of a Node that an administrator created for it', async (context) => {
  const fixture = await startEnrolment(context);
  await fixture.registry.create(nodeKind, undefined, { metadata: { name: 'n1', labels: { rack: '7' } } });
  const { link } = await fixture.host(fixture.options());
  await until(() => link.phase === 'live');
});

test('a cloned disk is rejected with an Event while its original is connected, and the same host on return is not', async (context) => {
  const events: string[] = [];
  const note = (_about: unknown, _type: string, reason: string, message: string) =>
    void events.push(`${reason}: ${message}`);
  const fixture = await startEnrolment(context, {
    recordEvent: { asNodeController: note, asAgent: () => undefined },
  });
  const enrolled = fixture.options();
  const original = await fixture.host(enrolled);
  await until(() => original.link.phase === 'live');
  const copied = fixture.options();
  writeFileSync(identityFile(copied), readFileSync(identityFile(enrolled)));
  const clone = await fixture.host(copied);
  await until(() => events.length === 1);
  assert.match(
    events[0] ?? '',
    /^DuplicateAgent: Another agent with the identity of this node tried to connect from [0-9a-f.:]+ and/,
  );
  assert.deepEqual([original.link.phase, clone.agent.welcomes.length], ['live', 0]);
  clone.link.stop();
  original.link.stop();
  await until(() => fixture.hub.connected === 0);
  const back = await fixture.host(enrolled);
  await until(() => back.link.phase === 'live');
});

test('signing requests are deleted an hour after their decision, or after a day without one', async (context) => {
  const fixture = await startEnrolment(context, { approveNodes: true });
  const joining = joinCoordinator(fixture.options({ pollIntervalMs: 20 }));
  await until(async () => (await requests(fixture)).length === 1, {
    timeoutMs: 30_000,
    what: 'a request',
    pollMs: 5,
  });
  const at = (hours: number) => ({ ...systemClock, now: () => Date.now() + hours * 3_600_000 });
  assert.equal(await expireSigningRequests(fixture.registry, at(23)), 0);
  await decide(fixture.registry, 'Approved');
  await joining;
  assert.equal(await expireSigningRequests(fixture.registry, at(0.9)), 0);
  assert.equal(await expireSigningRequests(fixture.registry, at(1.1)), 1);
});
