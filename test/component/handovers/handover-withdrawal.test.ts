/** A revoked handover stays on its Pod until its host acknowledges, however often it is revoked. */
import assert from 'node:assert/strict';
import { DaemonPodTemplates } from '../../../coordinator/controllers/daemonsets/daemon-pod-templates.js';
import { HandoverWrites } from '../../../coordinator/controllers/handovers/handover-writes.js';
import { daemonSetKind, podKind } from '../../../coordinator/kinds/index.js';
import {
  handoverAnnotationOf,
  handoverOf,
  withdrawnSuccessorOf,
} from '../../../shared/kube/handovers/host-handover.js';
import { joinNode, withControlPlane } from '../../harness/controllers/control-plane-fixture.js';

withControlPlane('a second withdrawal, of any Pod, keeps the first', async (plane) => {
  await joinNode(plane, 'n1');
  const matchLabels = { app: 'web' };
  const containers = [{ name: 'main', image: 'app:1' }];
  const made = await plane.registry.create(daemonSetKind, 'default', {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels },
      template: { metadata: { labels: matchLabels }, spec: { containers } },
    },
  });
  const daemonSet = made.object();
  const turns = new HandoverWrites(plane.registry, new DaemonPodTemplates(plane.registry, plane.informers));
  const first = turns.successor(daemonSet, 'one', 'n1');
  const old = (await plane.registry.create(podKind, 'default', first)).object();
  assert.equal(withdrawnSuccessorOf(await turns.withdraw(old)), undefined, 'there was none');
  const given = await turns.request({ daemonSet, hash: 'two' }, old, {});
  const successor = handoverOf(given)?.successor.metadata.name;
  assert.ok(successor);
  // A caller that has not seen the handover yet. The stored state counts.
  const withdrawn = await turns.withdraw(old);
  assert.equal(withdrawnSuccessorOf(withdrawn), successor);
  for (const seen of [old, given, withdrawn]) {
    assert.equal(withdrawnSuccessorOf(await turns.withdraw(seen)), successor);
  }
  assert.equal(handoverAnnotationOf(await turns.settle(withdrawn)), undefined);
});
