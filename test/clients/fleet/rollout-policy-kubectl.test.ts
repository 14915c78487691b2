/** A RolloutPolicy as users apply it: by kubectl, on simulated hosts. A bad release stops at its canaries. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { createKubectl, type Kubectl } from '../../harness/clients/kubectl.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const NODES = 50;

const POLICY = `apiVersion: fleet.everynode.dev/v1
kind: RolloutPolicy
metadata:
  name: gentle
spec:
  selector:
    matchLabels: {team: edge}
  waves:
  - name: canary
    nodes: 3
    soakSeconds: 1
  - name: tenth
    nodes: 10%
    maxUnavailable: 50%
    approval: Manual
  failureBudget:
    maxFailed: 2%
    progressDeadlineSeconds: 60
`;

function daemonSet(version: number, annotations: Record<string, string> = {}): string {
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'till', labels: { team: 'edge' } },
    spec: {
      selector: { matchLabels: { app: 'till' } },
      updateStrategy: { rollingUpdate: { maxUnavailable: '100%' } },
      template: {
        metadata: { labels: { app: 'till' }, annotations },
        spec: { containers: [{ name: 'main', image: `till:${version}` }] },
      },
    },
  });
}

describe('RolloutPolicy by kubectl', () => {
  let fleet: SimulatedFleet;
  let kubectl: Kubectl;
  before(async () => {
    fleet = await startSimulatedFleet(NODES);
    kubectl = createKubectl(fleet.kubeconfig);
    await kubectl.ok('apply -f -', POLICY);
    await kubectl.ok('apply -f -', daemonSet(1));
    await kubectl.ok('rollout status ds/till --timeout=60s');
  });
  after(async () => {
    kubectl.remove();
    await fleet.stop();
  });

  const images = async (): Promise<Record<string, number>> => {
    const { items } = await fleet.api.items<Pod>('/api/v1/namespaces/default/pods');
    const counts: Record<string, number> = {};
    for (const { spec } of items) {
      const image = spec.containers[0]?.image ?? '';
      counts[image] = (counts[image] ?? 0) + 1;
    }
    return counts;
  };
  const isIn = (phase: string, wave: string): Promise<void> =>
    untilPasses(async () => {
      const path = '/apis/fleet.everynode.dev/v1/namespaces/default/rollouts/till';
      const { status } = await fleet.api.request<Rollout>('GET', path);
      assert.deepEqual([status?.phase, status?.wave], [phase, wave], status?.message);
    }, 60_000);

  test('RolloutPolicy has discovery, explain, tables, strict fields and validation', async () => {
    assert.match(
      await kubectl.ok('api-resources'),
      /rolloutpolicies +rop +fleet\.everynode\.dev\/v1 +true +RolloutPolicy/,
    );
    assert.match(await kubectl.ok('explain rop.spec.waves.nodes'), /ordered by a hash/);
    assert.match(await kubectl.ok('get rop'), /gentle +canary,tenth +2% +<none> +0 /);
    assert.match(await kubectl.ok('describe rop gentle'), /Soak Seconds: +1/);
    const unknown = await kubectl.run(['apply', '-f', '-'], POLICY.replace('soakSeconds', 'soakMinutes'));
    assert.match(unknown.stderr, /unknown field "spec\.waves\[0\]\.soakMinutes"/);
    const wrong = await kubectl.run(
      ['apply', '-f', '-'],
      POLICY.replace('name: tenth', 'name: rest').replace('10%', '110%'),
    );
    assert.match(wrong.stderr, /spec\.waves\[1\]\.name: Invalid value: "rest"/);
    assert.match(
      wrong.stderr,
      /spec\.waves\[1\]\.nodes: Invalid value: "110%": must not be greater than 100%/,
    );
  });

  test('a good release rolls out wave by wave and waits for approval', async () => {
    await kubectl.ok('apply -f -', daemonSet(2));
    await isIn('AwaitingApproval', 'canary');
    assert.deepEqual(await images(), { 'till:1': NODES - 3, 'till:2': 3 });
    assert.match(await kubectl.ok('get rollouts'), /\ntill +AwaitingApproval +canary +50 +3 +0 +0 /);
    await kubectl.ok('annotate rollout till fleet.everynode.dev/approve=tenth');
    await isIn('Completed', 'rest');
    assert.deepEqual(await images(), { 'till:2': NODES });
    assert.match(await kubectl.ok('rollout status ds/till --timeout=10s'), /successfully rolled out/);
  });

  test('a crashing release stops at the canaries, and rollout undo continues from there', async () => {
    await kubectl.ok('apply -f -', daemonSet(3, { 'simulate.everynode.dev/fail': 'true' }));
    await isIn('Failed', 'canary');
    assert.deepEqual(await images(), { 'till:2': NODES - 3, 'till:3': 3 });
    assert.match(
      await kubectl.ok('get events --field-selector reason=RolloutFailed'),
      /hosts failed; the limit is 1/,
    );
    const failure = /Warning +RolloutFailed .*rollout-controller +(DaemonSet till: )?\d hosts failed/;
    for (const what of ['ds till', 'rollout till', 'rop gentle'])
      await untilPasses(async () => assert.match(await kubectl.ok(`describe ${what}`), failure, what));
    await kubectl.ok('rollout undo ds/till');
    await isIn('AwaitingApproval', 'canary');
    assert.deepEqual(await images(), { 'till:2': NODES });
    await kubectl.ok('annotate rollout till fleet.everynode.dev/approve=tenth');
    await isIn('Completed', 'rest');
  });

  test('RollBack reverts the canaries, and the DaemonSet reports it correctly', async () => {
    const failureBudget = { failureBudget: { action: 'RollBack' } };
    await kubectl.ok(`patch rop gentle --type=merge -p ${JSON.stringify({ spec: failureBudget })}`);
    await kubectl.ok('apply -f -', daemonSet(4, { 'simulate.everynode.dev/fail': 'true' }));
    await isIn('RolledBack', 'canary');
    await untilPasses(async () => assert.deepEqual(await images(), { 'till:2': NODES }));
    assert.equal(await kubectl.ok('get ds till -o jsonpath={.status.numberAvailable}'), String(NODES));
    assert.equal(await kubectl.ok('get ds till -o jsonpath={.status.updatedNumberScheduled}'), '');
    const image = 'jsonpath={.spec.template.spec.containers[0].image}';
    assert.equal(await kubectl.ok(`get ds till -o ${image}`), 'till:4');
  });

  test('steering a rollout needs a reason, and the Rollout and an Event record user and action', async () => {
    await kubectl.ok('apply -f -', daemonSet(5));
    await isIn('AwaitingApproval', 'canary');
    const abort = 'annotate rollout till fleet.everynode.dev/abort=';
    const refused = await kubectl.run(abort.split(' '));
    assert.match(refused.stderr, /fleet\.everynode\.dev\/reason\]: Required value: abort requires a reason/);
    const mistyped = await kubectl.run(
      'annotate rollout till fleet.everynode.dev/skip=node-1,nosuchnode'.split(' '),
    );
    assert.match(mistyped.stderr, /fleet\.everynode\.dev\/skip\]: Not found: "nosuchnode"/);
    assert.equal(await kubectl.ok('get rollout till -o jsonpath={.status.steering.skipped}'), '');
    await kubectl.ok(`${abort} fleet.everynode.dev/reason=tills-hang`);
    await isIn('RolledBack', 'canary');
    await untilPasses(async () => assert.deepEqual(await images(), { 'till:2': NODES }));
    const record = 'get rollout till -o jsonpath={.status.steering.requests[-1].user}';
    assert.equal(await kubectl.ok(record), 'everynode-admin');
    const events = 'get events --field-selector reason=RolloutSteered';
    assert.match(await kubectl.ok(events), /everynode-admin requested abort: tills-hang/);
  });

  test('no Pod is replaced outside the window unless an operator overrides it', async () => {
    // Twelve hours from now, so the window is closed at any time of day.
    const hour = (new Date().getUTCHours() + 12) % 24;
    const windows = [{ schedule: `0 ${hour} * * *`, durationSeconds: 600 }];
    const patch = JSON.stringify({ spec: { windows } });
    const patched = await kubectl.run(['patch', 'rop', 'gentle', '--type=merge', '-p', patch]);
    assert.equal(patched.stderr, '');
    await kubectl.ok('apply -f -', daemonSet(6));
    await isIn('AwaitingWindow', 'canary');
    assert.deepEqual(await images(), { 'till:2': NODES });
    assert.match(
      await kubectl.ok('get rollout till -o jsonpath={.status.nextWindowTime}'),
      new RegExp(`T${String(hour).padStart(2, '0')}:00:00Z`),
    );
    const canWait = 'fleet.everynode.dev/override-windows=* fleet.everynode.dev/reason=a-hole-in-the-lock';
    await kubectl.ok(`annotate rollout till ${canWait}`);
    await isIn('AwaitingApproval', 'canary');
    assert.equal((await images())['till:6'], 3);
  });

  test('a policy that selects no DaemonSet is stored with a warning, and deleting one in use warns too', async () => {
    const typo = POLICY.replace('name: gentle', 'name: other').replace('team: edge', 'team: egde');
    const stored = await kubectl.run(['apply', '-f', '-'], typo);
    assert.equal(stored.stderr, 'Warning: spec.selector: selects no DaemonSet of this namespace\n');
    await kubectl.ok('apply -f -', daemonSet(7));
    await isIn('AwaitingWindow', 'canary');
    const deleted = await kubectl.run(['delete', 'rop', 'gentle', '--dry-run=server']);
    assert.match(
      deleted.stderr,
      /^Warning: DaemonSet till is in a rollout \(AwaitingWindow, wave canary, 0 of 50 nodes updated\): without a policy/,
    );
  });

  test('the Rollout is deleted with its DaemonSet', async () => {
    await kubectl.ok('delete ds till');
    await untilPasses(async () => assert.equal(await kubectl.ok('get rollouts'), ''));
  });
});
