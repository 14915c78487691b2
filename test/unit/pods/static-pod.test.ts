/** Static Pods: from manifests of a host to Pods, and to their mirror Pods. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AssignedPod } from '../../../agent/decisions/pods/assigned-pod.js';
import { mirrorsOf, staticPod } from '../../../agent/decisions/static-pods/static-pod-manifest.js';
import { mirrorChanges, mirrorOf } from '../../../coordinator/decisions/nodes/mirror-pod-spec.js';
import type { Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { MIRROR_ANNOTATION } from '../../../shared/kube/pods/static-pod-annotations.js';

const PLACE = { path: '/etc/manifests/a.yaml', nodeName: 'host-1' };
const CONTAINERS = [{ name: 'app', image: 'app:1' }];

const manifest = (spec: Partial<PodSpec> = {}, metadata: object = { name: 'web' }) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec: { containers: CONTAINERS, ...spec },
});

function podOf(...given: Parameters<typeof manifest>): Pod {
  const result = staticPod(manifest(...given), PLACE, 0);
  assert.ok(result.kind === 'pod', JSON.stringify(result));
  return result.pod;
}

describe('a manifest', () => {
  test("becomes a Pod of this node, annotated as upstream's, with defaults", () => {
    const { metadata, spec } = podOf(
      {},
      { name: 'web', labels: { app: 'web' }, uid: 'claimed', finalizers: ['x'] },
    );
    assert.match(metadata.uid ?? '', /^[0-9a-f]{32}$/);
    assert.deepEqual(metadata, {
      name: 'web-host-1',
      namespace: 'default',
      uid: metadata.uid,
      creationTimestamp: '1970-01-01T00:00:00Z',
      labels: { app: 'web' },
      annotations: {
        'kubernetes.io/config.hash': metadata.uid,
        'kubernetes.io/config.source': 'file',
        'kubernetes.io/config.seen': '1970-01-01T00:00:00Z',
      },
    });
    assert.deepEqual(
      [
        spec.nodeName,
        spec.restartPolicy,
        spec.terminationGracePeriodSeconds,
        spec.containers[0]?.imagePullPolicy,
      ],
      ['host-1', 'Always', 30, 'IfNotPresent'],
    );
    assert.deepEqual(spec.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }]);
  });

  test('gives the same Pod at any time, and another when its text, path or host is another', () => {
    const uid = podOf().metadata.uid;
    const uidOf = (result: ReturnType<typeof staticPod>) =>
      result.kind === 'pod' ? result.pod.metadata.uid : '';
    assert.equal(uidOf(staticPod(manifest(), PLACE, 99)), uid);
    assert.notEqual(podOf({ hostNetwork: true }).metadata.uid, uid);
    assert.notEqual(uidOf(staticPod(manifest(), { ...PLACE, path: '/etc/manifests/b.yaml' }, 0)), uid);
    assert.notEqual(uidOf(staticPod(manifest(), { ...PLACE, nodeName: 'host-2' }, 0)), uid);
  });

  const refused: [what: string, given: unknown, message: string][] = [
    ['nothing', null, 'not a v1 Pod'],
    ['another kind', { ...manifest(), kind: 'Deployment' }, 'not a v1 Pod'],
    ['no name', manifest({}, {}), 'metadata.name is missing or invalid'],
    ['an invalid name', manifest({}, { name: 'A_b' }), 'metadata.name is missing or invalid'],
    ['no containers', manifest({ containers: [] }), 'spec.containers is missing'],
    [
      'a container without an image',
      manifest({ containers: [{ name: 'x' } as never] }),
      'a container lacks its name or image',
    ],
    [
      'a Secret',
      manifest({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
      'static pods may not reference secrets',
    ],
    [
      'a pull secret',
      manifest({ imagePullSecrets: [{ name: 's' }] }),
      'static pods may not reference secrets',
    ],
    [
      'a ConfigMap',
      manifest({ containers: [{ name: 'a', image: 'i', envFrom: [{ configMapRef: { name: 'c' } }] }] }),
      'static pods may not reference configmaps',
    ],
    [
      'a service account',
      manifest({ serviceAccountName: 'x' }),
      'static pods may not reference serviceaccounts',
    ],
    [
      'a token',
      manifest({
        volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }],
      }),
      'static pods may not reference serviceaccounts',
    ],
  ];
  for (const [what, given, message] of refused) {
    test(`with ${what} is rejected: ${message}`, () => {
      assert.deepEqual(staticPod(given, PLACE, 0), { kind: 'refused', message });
    });
  }
});

const NODE = { metadata: { name: 'host-1', uid: 'node-uid' } };

function mirrored(pod: Pod, hostUid: string): Pod {
  const result = mirrorOf(pod, hostUid, NODE);
  assert.ok(result.kind === 'mirror', JSON.stringify(result));
  return result.pod;
}

describe('a mirror', () => {
  test('belongs to its node, has the uid of the host and no field that a host may not set', () => {
    const claimed = podOf();
    claimed.metadata.ownerReferences = [
      { apiVersion: 'v1', kind: 'DaemonSet', name: 'd', uid: 'u', controller: true },
    ];
    claimed.metadata.finalizers = ['x'];
    claimed.spec.nodeName = 'host-2';
    const { metadata, spec } = mirrored(claimed, 'on-host');
    assert.equal(metadata.annotations?.[MIRROR_ANNOTATION], 'on-host');
    assert.deepEqual(metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'host-1', uid: 'node-uid', controller: true },
    ]);
    assert.deepEqual([metadata.finalizers, metadata.uid, spec.nodeName], [undefined, undefined, 'host-1']);
  });

  const refused: [what: string, change: (pod: Pod) => void, message: string][] = [
    [
      "another host's name",
      (pod) => {
        pod.metadata.name = 'web-host-2';
      },
      'its name does not end in -host-1',
    ],
    [
      'a Secret',
      (pod) => {
        pod.spec.volumes = [{ name: 'v', secret: { secretName: 's' } }];
      },
      'a mirror pod may not reference secrets',
    ],
    [
      'a service account',
      (pod) => {
        pod.spec.serviceAccountName = 'x';
      },
      'a mirror pod may not reference serviceaccounts',
    ],
  ];
  for (const [what, change, message] of refused) {
    test(`with ${what} is rejected: ${message}`, () => {
      const pod = podOf();
      change(pod);
      assert.deepEqual(mirrorOf(pod, 'u', NODE), { kind: 'refused', message });
    });
  }
});

describe('mirror Pods of a node', () => {
  const web = podOf();
  const wanted = new Map([['u1', web]]);
  const there = (hostUid: string, changes: Partial<Pod['metadata']> = {}): Pod => {
    const pod = mirrored(web, hostUid);
    return { ...pod, metadata: { ...pod.metadata, ...changes } };
  };
  const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const cases: [what: string, present: Pod[], drop: number, create: string[]][] = [
    ['that are current are kept', [there('u1')], 0, []],
    ['that are missing are created', [], 0, ['u1']],
    ['of another manifest are deleted', [there('u0')], 1, ['u1']],
    ['that a user deletes are created again', [there('u1', deleted)], 1, ['u1']],
    ['of another name are deleted', [there('u1', { name: 'other-host-1' })], 1, ['u1']],
    ['do not affect other Pods', [{ ...web, metadata: { name: 'ds', namespace: 'default' } }], 0, ['u1']],
  ];
  for (const [what, present, drop, create] of cases) {
    test(what, () => {
      const changes = mirrorChanges(wanted, present);
      assert.deepEqual([changes.drop.length, changes.create], [drop, create]);
    });
  }
});

describe('the static Pods that a host reports', () => {
  const held = (uid: string, gone: boolean, manifest: string | undefined = 'a.yaml'): AssignedPod => ({
    uid,
    digest: uid,
    pod: podOf(),
    acceptedAt: 0,
    lifecycle: gone ? { kind: 'unassigned', deadline: 0, containersRemoved: false } : { kind: 'running' },
    ...(manifest ? { manifestFile: manifest } : {}),
  });
  const cases: [what: string, pods: AssignedPod[], told: string[]][] = [
    ['include running and terminating ones', [held('a', false)], ['a']],
    ['include a terminating one until it has ended', [held('a', true)], ['a']],
    ['contain the new one where two have the same name', [held('a', true), held('b', false)], ['b']],
    ['contain no Pod that the coordinator assigned', [held('a', false, '')], []],
  ];
  for (const [what, pods, told] of cases) {
    test(what, () =>
      assert.deepEqual(
        mirrorsOf(pods).map(({ uid }) => uid),
        told,
      ),
    );
  }
});
