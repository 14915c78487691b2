import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AssignedPod } from '../../../../agent/decisions/pods/assigned-pod.js';
import {
  localEndpoints,
  localPod,
  podReachability,
} from '../../../../agent/decisions/services/local-endpoints.js';
import { podObject } from '../../../harness/objects/object-builders.js';
import { readyStatus } from '../../../harness/services/service-table-fixture.js';
import { serviceView } from '../../../harness/services/service-views.js';

const OWN = { node: 'node-0', zone: 'shop-1' };

function assignedPod(spec: object = {}, meta: object = {}, fields: Partial<AssignedPod> = {}): AssignedPod {
  const pod = podObject('web-1', { nodeName: 'node-0', ...spec }, { labels: { app: 'web' }, ...meta });
  return { uid: 'u', digest: 'd', pod, acceptedAt: 0, lifecycle: { kind: 'running' }, ...fields };
}

function endpointsOf(assigned: AssignedPod, isReady = true, view = serviceView('web')) {
  const found = localPod(assigned, podReachability(readyStatus(isReady)));
  return localEndpoints(view, found ? [found] : [], OWN);
}

const published = {
  containers: [{ name: 'main', image: 'app:1', ports: [{ containerPort: 8080, hostPort: 9080 }] }],
};
const removed = { kind: 'terminating', deadline: 5, containersRemoved: true } as const;
const stopping = { kind: 'terminating', deadline: 5, containersRemoved: false } as const;

describe('local endpoints', () => {
  test('a bridged Pod is an endpoint at its own address', () => {
    assert.deepEqual(endpointsOf(assignedPod()), [
      {
        node: 'node-0',
        hostname: '',
        zone: 'shop-1',
        addresses: ['172.17.0.2'],
        ports: [8080],
        state: 'ready',
        direct: { addresses: ['172.17.0.2'], ports: [8080] },
      },
    ]);
  });

  test('a Pod with a hostPort is reached at the host by others, and at its own address from the host', () => {
    const [endpoint] = endpointsOf(assignedPod(published));
    assert.deepEqual(
      [endpoint?.addresses, endpoint?.ports, endpoint?.direct],
      [['192.0.2.10'], [9080], { addresses: ['172.17.0.2'], ports: [8080] }],
    );
  });

  test('a relayed Pod without a hostPort is reached at the relay port', () => {
    const [endpoint] = endpointsOf(assignedPod(), true, serviceView('web', { relayPorts: [31_777] }));
    assert.deepEqual(
      [endpoint?.addresses, endpoint?.ports, endpoint?.direct.ports],
      [['192.0.2.10'], [31_777], [8080]],
    );
  });

  const states: [what: string, assigned: AssignedPod, isReady: boolean, states: string[]][] = [
    ['an unready Pod is not ready', assignedPod(), false, ['notReady']],
    [
      'a Pod that this host stops is terminating',
      assignedPod({}, {}, { lifecycle: stopping }),
      true,
      ['terminating'],
    ],
    ['a Pod without containers is no endpoint', assignedPod({}, {}, { lifecycle: removed }), true, []],
    ['a Pod of another namespace is no endpoint', assignedPod({}, { namespace: 'other' }), true, []],
    ['a Pod with other labels is no endpoint', assignedPod({}, { labels: { app: 'db' } }), true, []],
  ];
  for (const [what, assigned, isReady, expected] of states)
    test(what, () =>
      assert.deepEqual(
        endpointsOf(assigned, isReady).map(({ state }) => state),
        expected,
      ),
    );

  test('a Pod that has reported no status is no endpoint', () => {
    assert.equal(localPod(assignedPod(), undefined), undefined);
  });

  test('a Service without a selector has no local endpoints, because its view lists all', () => {
    const { selector: _, ...view } = serviceView('web');
    assert.deepEqual(endpointsOf(assignedPod(), true, view), []);
  });
});
