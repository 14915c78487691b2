/** Restrictions of a join token: one host or many, names, and labels. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { joinCoordinator } from '../../../agent/identity/join-coordinator.js';
import { labelsNodesMayNotSet } from '../../../coordinator/decisions/nodes/node-label-restriction.js';
import { matchesPattern } from '../../../coordinator/hub/identity/join-token-checker.js';
import { newJoinToken, tokenSecret } from '../../../coordinator/hub/identity/new-join-token.js';
import { nodeKind, secretKind } from '../../../coordinator/kinds/index.js';
import type { TokenGrant } from '../../../shared/kube/access/join-token-secret.js';
import { until } from '../../harness/basics/wait-until.js';
import { type EnrolmentFixture, startEnrolment } from '../../harness/hub/enrolment-fixture.js';

/** Options of a host with a new token. */
async function by(fixture: EnrolmentFixture, grant: TokenGrant) {
  const token = newJoinToken();
  await fixture.registry.create(secretKind, 'kube-system', tokenSecret(token, grant));
  return { token: fixture.text(token) };
}

test('a token for one host joins that host, repeatedly, and no other', async (context) => {
  const fixture = await startEnrolment(context);
  const token = await by(fixture, { singleUse: true });
  const first = fixture.options(token);
  await joinCoordinator(first);
  await assert.rejects(joinCoordinator(fixture.options({ ...token, node: 'n2' })), /Unauthorized/);
});

test('a name in use does not use up the token', async (context) => {
  const fixture = await startEnrolment(context);
  await joinCoordinator(fixture.options());
  const token = await by(fixture, { singleUse: true });
  await assert.rejects(joinCoordinator(fixture.options(token)), /has already joined/);
  assert.equal((await joinCoordinator(fixture.options({ ...token, node: 'n2' }))).node, 'n2');
});

test('of two hosts with one token for one host, one joins', async (context) => {
  const fixture = await startEnrolment(context);
  const token = await by(fixture, { singleUse: true });
  const joins = ['n1', 'n2'].map((node) => joinCoordinator(fixture.options({ ...token, node })));
  const outcomes = await Promise.allSettled(joins);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

test('a token that is bound to names joins no other', async (context) => {
  const fixture = await startEnrolment(context);
  const token = await by(fixture, { nodes: ['edge-*', 'n7'] });
  await assert.rejects(
    joinCoordinator(fixture.options({ ...token, node: 'n1' })),
    /does not allow the node name "n1"/,
  );
  assert.equal((await joinCoordinator(fixture.options({ ...token, node: 'edge-1' }))).node, 'edge-1');
  assert.equal((await joinCoordinator(fixture.options({ ...token, node: 'n7' }))).node, 'n7');
});

test("a token's labels are set on the Node, protected ones too; the host's own are restricted", async (context) => {
  const fixture = await startEnrolment(context);
  const labels = { 'node-restriction.kubernetes.io/rack': 'a', tier: 'edge' };
  const { link } = await fixture.host(fixture.options(await by(fixture, { labels })));
  await until(() => link.phase === 'live');
  const { metadata } = (await fixture.registry.get(nodeKind, { name: 'n1' })).object();
  assert.equal(metadata.labels?.['node-restriction.kubernetes.io/rack'], 'a');
  assert.equal(metadata.labels?.tier, 'edge');
  const other = await fixture.host(fixture.options({ node: 'n2' }), { 'node-role.kubernetes.io/x': '' });
  await until(() => other.link.phase === 'waiting' && other.agent.welcomes.length === 0);
  await assert.rejects(fixture.registry.get(nodeKind, { name: 'n2' }), /not found/);
});

const LABELS: [string, boolean][] = [
  ['rack', true],
  ['example.com/rack', true],
  ['kubernetes.io/hostname', true],
  ['topology.kubernetes.io/zone', true],
  ['node.kubernetes.io/anything', true],
  ['x.kubelet.kubernetes.io/anything', true],
  ['node-restriction.kubernetes.io/rack', false],
  ['x.node-restriction.kubernetes.io/rack', false],
  ['node-role.kubernetes.io/control-plane', false],
  ['kubernetes.io/anything', false],
  ['x.k8s.io/anything', false],
];
for (const [key, isAllowed] of LABELS) {
  test(`a node ${isAllowed ? 'may' : 'may not'} label itself ${key}`, () => {
    assert.deepEqual(labelsNodesMayNotSet({ [key]: '' }), isAllowed ? [] : [key]);
  });
}

test('a name pattern matches like its regular expression, in bounded time', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '-', '*'), maxLength: 8 });
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '-'), maxLength: 10 });
  fc.assert(
    fc.property(letters, name, (pattern, text) => {
      const expression = new RegExp(`^${pattern.split('*').join('[^]*')}$`);
      assert.equal(matchesPattern(pattern, text), expression.test(text));
    }),
  );
  assert.equal(matchesPattern(`${'*a'.repeat(2_000)}b`, 'a'.repeat(4_000)), false);
});
