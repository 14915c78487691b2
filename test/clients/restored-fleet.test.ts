/**
 * Restores a fleet after the loss of a coordinator and of everything since its last backup, including a host that had
 * joined since. Runs real processes. The hosts' Pods keep running, return to the store, and are only changed after an
 * operator has confirmed the restore.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../shared/kube/objects/conditions.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { runEverynode } from '../harness/processes/everynode-processes.js';
import { DAEMON_SETS, daemonSetBody, RestoreFleet, runOf } from '../harness/processes/restore-fleet.js';

/** Images that ran when the coordinator was lost. */
const UNTOUCHED = ['again:2', 'again:2', 'later:1', 'later:1', 'web:2', 'web:2'];
/** Images of Pods that show that their host receives changes from the coordinator. */
const PROBES = ['probe:1', 'probe:1', 'probe:2', 'probe:2'];

describe('a restored coordinator with live agents', () => {
  const fleet = new RestoreFleet();
  let runsBefore: string[] = [];
  before(async () => {
    await fleet.startCoordinator('lost');
    await fleet.join('n1', 'lost');
    await fleet.api.request('POST', DAEMON_SETS, daemonSetBody('web', 'web:1'));
    await fleet.api.request('POST', DAEMON_SETS, daemonSetBody('again', 'again:1'));
    await fleet.running(['again:1', 'web:1']);
    await fleet.backUp('lost');
    await fleet.join('n2', 'lost');
    await fleet.setImage('web', 'web:2');
    await fleet.setImage('again', 'again:2');
    await fleet.api.request('POST', DAEMON_SETS, daemonSetBody('later', 'later:1'));
    const pods = await fleet.running(UNTOUCHED);
    runsBefore = pods.map(runOf).sort();
    await fleet.restore('new');
  });
  after(() => fleet.close());

  test('restored Pods keep their UIDs and never stop, and exited ones are removed', async () => {
    const pods = await fleet.running(UNTOUCHED);
    assert.deepEqual(pods.map(runOf).sort(), runsBefore);
    const { items } = await fleet.api.items<Node>('/api/v1/nodes');
    assert.deepEqual(
      items.map(({ status }) => isConditionTrue(status?.conditions, 'Ready')),
      [true, true],
    );
  });

  test('an unconfirmed restore changes no restored Pod', async () => {
    const { body } = await fleet.api.send('GET', `${DAEMON_SETS}/later`);
    assert.equal((body as { code: number }).code, 404, 'the owner of these Pods is lost');
    await fleet.api.request('POST', DAEMON_SETS, daemonSetBody('new', 'new:1'));
    // This DaemonSet's second template, like the one that was lost with the coordinator.
    await fleet.setImage('again', 'again:3');
    await fleet.startProbes('probe:1');
    await fleet.running([...UNTOUCHED, 'probe:1', 'probe:1']);
    // The hosts have stored the new epoch. From now on the coordinator would treat a Pod of theirs as deleted if the
    // store does not have it.
    await fleet.killCoordinator();
    await fleet.startCoordinator('new');
    await fleet.startProbes('probe:2');
    const pods = await fleet.running([...UNTOUCHED, ...PROBES]);
    const isProbe = ({ metadata }: Pod) => metadata.name.startsWith('probe');
    assert.deepEqual(
      pods
        .filter((pod) => !isProbe(pod))
        .map(runOf)
        .sort(),
      runsBefore,
    );
  });

  test('a confirmed restore reconciles the hosts with the store', async () => {
    const confirm = () => runEverynode(['confirm-restore', '--data', fleet.path('new')]);
    const { code, stdout, stderr } = await confirm();
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Confirmed/);
    await fleet.running(['again:3', 'again:3', 'new:1', 'new:1', 'web:1', 'web:1', ...PROBES]);
    assert.match((await confirm()).stdout, /nothing to confirm/);
  });
});
