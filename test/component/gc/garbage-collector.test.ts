import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { GarbageCollector } from '../../../coordinator/controllers/gc/garbage-collector.js';
import { PodGarbageCollector } from '../../../coordinator/controllers/gc/pod-garbage-collector.js';
import {
  ALL_KINDS,
  configMapKind,
  controllerRevisionKind,
  daemonSetKind,
  nodeKind,
  podKind,
} from '../../../coordinator/kinds/index.js';
import type { DeleteOptions } from '../../../coordinator/registry/registry-options.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import {
  type ControlPlane,
  joinNode,
  withControlPlane,
} from '../../harness/controllers/control-plane-fixture.js';
import { admissionPolicy, policyBinding } from '../../harness/objects/admission-builders.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';
import { podObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'web' };

function withCollector(rule: string, check: (plane: ControlPlane, owner: DaemonSet) => Promise<void>): void {
  withControlPlane(rule, async (plane) => {
    const collector = new GarbageCollector(plane);
    const { apiVersion, kind, metadata, spec } = daemonSet('web');
    const body = { apiVersion, kind, metadata: { name: metadata.name }, spec };
    const owner = (await plane.registry.create(daemonSetKind, 'default', body)).object();
    await plane.registry.create(podKind, 'default', ownedBy(podObject('web-1'), owner));
    const revision = { metadata: { name: 'web-abc' }, data: {}, revision: 1 };
    await plane.registry.create(controllerRevisionKind, 'default', ownedBy(revision, owner));
    await plane.settle();
    try {
      await check(plane, owner);
    } finally {
      await collector.stop();
    }
  });
}

const WORKLOAD_SPEC = {
  selector: { matchLabels: { app: 'x' } },
  template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
};
const JOB_SPEC = {
  template: { spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] } },
};

/** Required fields of each kind. */
const REQUIRED: Record<string, object> = {
  CertificateSigningRequest: {
    spec: {
      request: Buffer.from(
        '-----BEGIN CERTIFICATE REQUEST-----\nAA==\n-----END CERTIFICATE REQUEST-----\n',
      ).toString('base64'),
      signerName: 'example.com/none',
      usages: ['client auth'],
    },
  },
  ClusterRoleBinding: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' } },
  CronDaemonJob: { spec: { schedule: '@daily', jobTemplate: { spec: JOB_SPEC } } },
  DaemonJob: { spec: JOB_SPEC },
  DaemonJobResult: { nodeName: 'n1', phase: 'Succeeded', run: 1, attempts: 1, failures: 0 },
  Deployment: { spec: WORKLOAD_SPEC },
  ReplicaSet: { spec: WORKLOAD_SPEC },
  CronJob: { spec: { schedule: '@daily', jobTemplate: { spec: JOB_SPEC } } },
  EndpointSlice: { addressType: 'IPv4', endpoints: [] },
  DaemonSetOverride: { spec: { daemonSetName: 'web', containers: [{ name: 'app', image: 'app:2' }] } },
  HostValues: { spec: { values: { site: 'kiel' } } },
  HorizontalPodAutoscaler: { spec: { scaleTargetRef: { kind: 'X', name: 'x' }, maxReplicas: 1 } },
  Ingress: { spec: { defaultBackend: { service: { name: 'x' } } } },
  IngressClass: { spec: { controller: 'example.com/x' } },
  PersistentVolume: { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } } },
  PersistentVolumeClaim: {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  Job: { spec: JOB_SPEC },
  RoleBinding: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' } },
  RolloutPolicy: { spec: { selector: {} } },
  RuntimeClass: { handler: 'x' },
  StorageClass: { provisioner: 'example.com/x' },
  Service: { spec: { ports: [{ port: 80 }] } },
  ValidatingAdmissionPolicy: { spec: admissionPolicy('p').spec },
  ValidatingAdmissionPolicyBinding: { spec: policyBinding('p').spec },
};
/** All kinds that can be owned, except those of the tests above. */
const DEPENDENT_KINDS = ALL_KINDS.filter(
  ({ kind }) =>
    ![
      ...['Event', 'Pod', 'Node', 'Namespace', 'DaemonSet', 'ControllerRevision'],
      // Its controller removes it: see definition-controller.test.ts.
      'CustomResourceDefinition',
    ].includes(kind),
);

function ownedBy<T extends { metadata: object }>(object: T, owner: KubeObject) {
  const { name, uid = '' } = owner.metadata;
  const reference = { apiVersion: owner.apiVersion, kind: owner.kind, name, uid };
  const ownerReferences = [{ ...reference, controller: true, blockOwnerDeletion: true }];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

async function deleteOwner(plane: ControlPlane, options: DeleteOptions): Promise<void> {
  await plane.registry.delete(daemonSetKind, REF, options);
  await plane.settle();
}

const sizes = ({ informers: { daemonSets, pods, controllerRevisions } }: ControlPlane) => [
  daemonSets.size,
  pods.size,
  controllerRevisions.size,
];

describe('garbage collector', () => {
  withCollector('background: dependents are deleted after their owner', async (plane) => {
    await deleteOwner(plane, { propagationPolicy: 'Background' });
    assert.deepEqual(sizes(plane), [0, 0, 0]);
  });

  withCollector('orphan: dependents are kept without their owner', async (plane) => {
    await deleteOwner(plane, { propagationPolicy: 'Orphan' });
    assert.deepEqual(sizes(plane), [0, 1, 1]);
    const pod = plane.informers.pods.get({ namespace: 'default', name: 'web-1' });
    assert.equal(pod?.metadata.ownerReferences, undefined);
  });

  withCollector('foreground: the owner waits for a Pod that is terminating', async (plane) => {
    await plane.registry.bind({ namespace: 'default', name: 'web-1' }, 'n1');
    await deleteOwner(plane, { propagationPolicy: 'Foreground' });
    assert.deepEqual(sizes(plane), [1, 1, 0]);
    const pod = plane.informers.pods.get({ namespace: 'default', name: 'web-1' });
    assert.ok(pod?.metadata.deletionTimestamp);
    await plane.registry.confirmStopped(pod.metadata, pod.metadata.uid ?? '');
    await plane.settle();
    assert.deepEqual(sizes(plane), [0, 0, 0]);
  });

  withCollector('foreground: the owner ends when a dependent no longer names it', async (plane, owner) => {
    const other = await plane.registry.create(configMapKind, 'default', { metadata: { name: 'other' } });
    const [first] = ownedBy({ metadata: {} }, owner).metadata.ownerReferences;
    const [second] = ownedBy({ metadata: {} }, other.object()).metadata.ownerReferences;
    const ownerReferences = [first, { ...second, controller: false }];
    await plane.registry.create(configMapKind, 'default', { metadata: { name: 'shared', ownerReferences } });
    await plane.settle();
    await deleteOwner(plane, { propagationPolicy: 'Foreground' });
    assert.deepEqual(sizes(plane), [0, 0, 0]);
    const { records } = await plane.registry.list(configMapKind, { namespace: 'default' });
    assert.deepEqual(
      records.map((left) => left.object().metadata.name),
      ['other', 'shared'],
    );
  });

  for (const kind of DEPENDENT_KINDS) {
    withCollector(
      `a ${kind.kind} is deleted with its owner, at any place in the chain`,
      async (plane, owner) => {
        const namespace = kind.namespaced ? 'default' : undefined;
        const body = ownedBy({ ...REQUIRED[kind.kind], metadata: { name: 'mine' } }, owner);
        const record = await plane.registry.create(kind, namespace, body);
        await plane.registry.create(
          configMapKind,
          'default',
          ownedBy({ metadata: { name: 'next' } }, record.object()),
        );
        await plane.settle();
        await deleteOwner(plane, { propagationPolicy: 'Background' });
        await plane.settle();
        for (const dependent of [kind, configMapKind]) {
          const { records } = await plane.registry.list(
            dependent,
            namespace === undefined ? {} : { namespace },
          );
          assert.deepEqual(
            records.map((left) => left.object().metadata.name),
            [],
          );
        }
      },
    );
  }

  withCollector(
    'a ConfigMap of a ConfigMap that is deleted with orphaned dependents is kept',
    async (plane) => {
      const owner = (
        await plane.registry.create(configMapKind, 'default', { metadata: { name: 'a' } })
      ).object();
      await plane.registry.create(configMapKind, 'default', ownedBy({ metadata: { name: 'b' } }, owner));
      await plane.settle();
      await plane.registry.delete(configMapKind, owner.metadata, { propagationPolicy: 'Orphan' });
      await plane.settle();
      const { records } = await plane.registry.list(configMapKind);
      const left = records.map((record) => record.object().metadata);
      assert.deepEqual(
        left.map(({ name, ownerReferences }) => [name, ownerReferences]),
        [['b', undefined]],
      );
    },
  );

  withCollector('an object that is created for a deleted owner is deleted', async (plane, owner) => {
    await deleteOwner(plane, { propagationPolicy: 'Background' });
    await plane.registry.create(podKind, 'default', ownedBy(podObject('late'), owner));
    await plane.settle();
    assert.deepEqual(sizes(plane), [0, 0, 0]);
  });

  withCollector('another owner keeps it, and the lost owner is removed from it', async (plane, owner) => {
    const pod = ownedBy(podObject('shared'), owner);
    const lost = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'lost', uid: 'gone' };
    Object.assign(pod.metadata, { ownerReferences: [...(pod.metadata.ownerReferences ?? []), lost] });
    await plane.registry.create(podKind, 'default', pod);
    await plane.settle();
    const kept = plane.informers.pods.get({ namespace: 'default', name: 'shared' });
    assert.deepEqual(
      kept?.metadata.ownerReferences?.map((reference) => reference.name),
      ['web'],
    );
  });

  withCollector('an owner of an unknown kind is ignored', async (plane) => {
    const ownerReferences = [{ apiVersion: 'example.org/v1', kind: 'Thing', name: 't', uid: 'u' }];
    const pod = podObject('foreign');
    await plane.registry.create(podKind, 'default', {
      ...pod,
      metadata: { ...pod.metadata, ownerReferences },
    });
    await plane.settle();
    assert.ok(plane.informers.pods.get({ namespace: 'default', name: 'foreign' }));
  });
});

function withPodCollector(rule: string, check: (plane: ControlPlane) => Promise<void>): void {
  withControlPlane(rule, async (plane) => {
    const collector = new PodGarbageCollector(plane);
    await joinNode(plane, 'n1');
    await plane.registry.create(podKind, 'default', podObject('a', { nodeName: 'n1' }));
    await plane.settle();
    try {
      await check(plane);
    } finally {
      await collector.stop();
    }
  });
}

describe('pod garbage collector', () => {
  withPodCollector('Pods of a deleted node are deleted after 40 s', async (plane) => {
    await plane.registry.delete(nodeKind, { name: 'n1' });
    await plane.settle();
    await plane.advance(39_000);
    assert.equal(plane.informers.pods.size, 1);
    await plane.advance(2_000);
    assert.equal(plane.informers.pods.size, 0);
  });

  withPodCollector('a node that returns in time keeps its Pods', async (plane) => {
    await plane.registry.delete(nodeKind, { name: 'n1' });
    await plane.settle();
    await plane.advance(20_000);
    await joinNode(plane, 'n1');
    await plane.advance(60_000);
    assert.equal(plane.informers.pods.size, 1);
  });

  withPodCollector('a Pod that is bound to a node that never existed is deleted too', async (plane) => {
    await plane.registry.create(podKind, 'default', podObject('b', { nodeName: 'nowhere' }));
    await plane.settle();
    await plane.advance(41_000);
    assert.deepEqual(
      [...plane.informers.pods.list()].map((pod) => pod.metadata.name),
      ['a'],
    );
  });
});
