import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { joinNode } from '../../harness/controllers/control-plane-fixture.js';
import { GATHERED_MS, withServices } from '../../harness/controllers/service-fixture.js';

const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

describe('endpoints of a Service', () => {
  withServices(
    'a ready Pod is listed in a slice and in Endpoints, with node, zone and Pod',
    async (fixture) => {
      await joinNode(fixture, 'n1', { labels: { 'topology.kubernetes.io/zone': 'z1' } });
      await fixture.service('web', { clusterIP: 'None' }, { labels: { team: 'a' } });
      await fixture.pod('web-1', { app: 'web', node: 'n1' });
      await fixture.advance(GATHERED_MS);
      const [slice] = fixture.slices();
      const uid = fixture.informers.pods.get({ namespace: 'default', name: 'web-1' })?.metadata.uid;
      const targetRef = { kind: 'Pod', namespace: 'default', name: 'web-1', uid };
      assert.deepEqual(slice?.endpoints, [
        {
          addresses: ['10.0.0.1'],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: 'n1',
          targetRef,
          zone: 'z1',
        },
      ]);
      assert.deepEqual(slice?.ports, [{ name: '', port: 80, protocol: 'TCP' }]);
      assert.equal(slice?.addressType, 'IPv4');
      assert.match(slice?.metadata.name ?? '', /^web-.{5}$/);
      assert.deepEqual(slice?.metadata.labels, {
        team: 'a',
        'service.kubernetes.io/headless': '',
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      });
      const service = fixture.informers.services.get({ namespace: 'default', name: 'web' });
      assert.deepEqual(slice?.metadata.ownerReferences, [
        {
          apiVersion: 'v1',
          kind: 'Service',
          name: 'web',
          uid: service?.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
      await fixture.advance(GATHERED_MS);
      assert.deepEqual(fixture.endpoints()?.subsets, [
        {
          addresses: [{ ip: '10.0.0.1', nodeName: 'n1', targetRef }],
          ports: [{ port: 80, protocol: 'TCP' }],
        },
      ]);
      assert.deepEqual(fixture.endpoints()?.metadata.labels, {
        team: 'a',
        'service.kubernetes.io/headless': '',
        'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
      });
    },
  );

  withServices('a Pod that becomes unready leaves the ready set within a second', async (fixture) => {
    await joinNode(fixture, 'n1');
    await fixture.service('web');
    await fixture.pod('web-1', { app: 'web', node: 'n1' });
    await fixture.advance(GATHERED_MS);
    assert.deepEqual(fixture.ready(), ['web-1']);
    await fixture.setReady('web-1', 'False');
    await fixture.advance(GATHERED_MS);
    assert.deepEqual(fixture.ready(), []);
    assert.equal(fixture.listed()[0]?.conditions?.serving, false);
    const changed = fixture.slices()[0]?.metadata.annotations?.[TRIGGER_TIME];
    assert.equal(changed, '2026-01-01T00:00:01Z', 'the time of the change of readiness');
  });
});
