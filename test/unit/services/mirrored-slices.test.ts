/** Cases of pkg/controller/endpointslicemirroring/reconciler_test.go. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isMirrorable, mirrorChanges } from '../../../coordinator/decisions/services/mirrored-slices.js';
import type { SliceContent } from '../../../coordinator/decisions/services/slice-changes.js';
import type {
  EndpointSlice,
  EndpointSubset,
  Endpoints,
} from '../../../shared/kube/services/endpoint-types.js';

const HTTP = { port: 80, protocol: 'TCP' };
const HTTPS = { name: 'https', port: 443, protocol: 'TCP' };

function endpointsOf(subsets: EndpointSubset[], meta: object = {}): Endpoints {
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'db', namespace: 'default', uid: 'e', ...meta },
    subsets,
  };
}

/** The slice as it is stored after a create. */
function stored(name: string, { labels, ports, ...content }: SliceContent): EndpointSlice {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Endpoints', name: 'db', uid: 'e', controller: true }];
  return {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ports: [...ports], ...content },
    metadata: { name, namespace: 'default', labels, ownerReferences },
  };
}

const at = (...ips: string[]) => ips.map((ip) => ({ ip }));

describe('slices for Endpoints that a user writes', () => {
  const endpoints = endpointsOf(
    [
      { addresses: at('10.0.0.1', '10.0.0.2'), notReadyAddresses: at('10.0.0.3'), ports: [HTTP] },
      { addresses: at('10.0.0.1', 'fd00::1'), ports: [HTTPS] },
    ],
    { labels: { team: 'a' } },
  );
  const { create } = mirrorChanges(endpoints, []);
  const existing = create.map((content, index) => stored(`s${index}`, content));

  test('there is one for each set of ports and address family', () => {
    assert.deepEqual(
      create.map(({ addressType, ports, endpoints }) => [
        addressType,
        ports.map(({ port }) => port),
        endpoints.map(({ addresses, conditions }) => [addresses[0], conditions?.ready]),
      ]),
      [
        [
          'IPv4',
          [80],
          [
            ['10.0.0.1', true],
            ['10.0.0.2', true],
            ['10.0.0.3', false],
          ],
        ],
        ['IPv4', [443], [['10.0.0.1', true]]],
        ['IPv6', [443], [['fd00::1', true]]],
      ],
    );
    assert.deepEqual(create[0]?.labels, {
      team: 'a',
      'kubernetes.io/service-name': 'db',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    });
  });

  test('unchanged Endpoints change nothing', () => {
    assert.deepEqual(mirrorChanges(endpoints, existing), { create: [], update: [], remove: [] });
  });

  test('a changed address updates its slice, and a removed subset deletes its own', () => {
    const changed = endpointsOf([{ addresses: at('10.0.0.9'), ports: [HTTP] }], { labels: { team: 'a' } });
    const { create, update, remove } = mirrorChanges(changed, existing);
    assert.deepEqual([create.length, update.map(({ slice }) => slice.metadata.name)], [0, ['s0']]);
    assert.deepEqual(
      remove.map(({ metadata }) => metadata.name),
      ['s1', 's2'],
    );
  });

  test('changed labels are copied', () => {
    assert.equal(mirrorChanges(endpointsOf(endpoints.subsets ?? []), existing).update.length, 3);
  });

  test('a second slice for the same ports is deleted', () => {
    const [first] = existing;
    assert.ok(first);
    const second = { ...first, metadata: { ...first.metadata, name: 'second' } };
    assert.deepEqual(mirrorChanges(endpoints, [...existing, second]).remove, [second]);
  });

  test('slices of earlier Endpoints with the same name are replaced', () => {
    const recreated = endpointsOf(endpoints.subsets ?? [], { uid: 'other', labels: { team: 'a' } });
    const { create, remove } = mirrorChanges(recreated, existing);
    assert.deepEqual([create.length, remove.length], [3, 3]);
  });

  test('at most 1,000 addresses of a subset are mirrored', () => {
    const ips = Array.from({ length: 1_001 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
    const { create } = mirrorChanges(endpointsOf([{ addresses: at(...ips), ports: [HTTP] }]), []);
    assert.equal(create[0]?.endpoints.length, 1_000);
  });
});

describe('Endpoints are mirrored unless', () => {
  const meta: [string, object, boolean][] = [
    ['nothing speaks against it', {}, true],
    ['the user says so', { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }, false],
    ['they are a lock', { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } }, false],
    [
      'the controller wrote them',
      { labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' } },
      false,
    ],
  ];
  for (const [rule, fields, expected] of meta)
    test(rule, () => assert.equal(isMirrorable(endpointsOf([], fields)), expected));
});
