/** Pods when the cluster DNS of their host appears, disappears or is turned off. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { ClusterDnsState } from '../../../agent/decisions/container-spec/dns-resolver.js';
import { PodFixture } from '../../harness/pods/pod-fixture.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

const SERVED = { state: 'served', address: '169.254.20.53' } as const;

let fixture: PodFixture;
afterEach(() => fixture.close());

function setDns(clusterDns: ClusterDnsState): void {
  fixture.facts.resolvers = { ...fixture.facts.resolvers, clusterDns };
}

const containers = async (uid: string) =>
  (await fixture.driver.inspectPod(uid)).map(({ id, state }) => [id, state]);

test('a running Pod keeps its container when the cluster DNS appears or disappears, and when the agent restarts', async () => {
  fixture = new PodFixture();
  const two = [
    { name: 'app', image: 'app:1' },
    { name: 'other', image: 'app:1' },
  ];
  fixture.assignPod(podOf('one'));
  fixture.assignPod(podOf('two', { containers: two }));
  for (const name of ['one', 'two'])
    await fixture.until(`${name} runs`, () => fixture.state(name) === 'running');
  await fixture.pass(1_000);
  const before = [await containers('uid-one'), await containers('uid-two')];
  for (const state of [SERVED, { state: 'missing' } as const, SERVED]) {
    setDns(state);
    await fixture.pass(60_000);
    await fixture.restartAgent();
    await fixture.pass(60_000);
    assert.deepEqual([await containers('uid-one'), await containers('uid-two')], before);
  }
  assert.deepEqual(
    fixture.events.filter((event) => event.startsWith('MissingClusterDNS')),
    [],
  );
});

test('a Pod that is created without the cluster DNS has one Event, also with several containers', async () => {
  fixture = new PodFixture();
  setDns({ state: 'missing' });
  const two = [
    { name: 'app', image: 'app:1' },
    { name: 'other', image: 'app:1' },
  ];
  fixture.assignPod(podOf('two', { containers: two }));
  await fixture.until('two runs', () => fixture.state('two', 'other') === 'running');
  const missing = fixture.events.filter((event) => event.startsWith('MissingClusterDNS'));
  assert.equal(missing.length, 1);
  assert.match(missing[0] ?? '', /pod: "two_default\(uid-two\)"/);
});
