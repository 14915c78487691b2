/** Server-side apply and managedFields, over a memory store and the real kinds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configMapKind,
  daemonSetKind,
  jobKind,
  podKind,
  secretKind,
} from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { JsonMap } from '../../../coordinator/registry/encoding/json-value.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { WriteOptions } from '../../../coordinator/registry/registry-options.js';
import type { KubeObject, ManagedFieldsEntry } from '../../../shared/kube/objects/meta.js';
import { refusal, testRegistry } from '../../harness/controllers/registry-fixture.js';
import { daemonSetObject, podObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'a' };

function configMap(data: JsonMap, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, data };
}

function daemonSet(podSpec: object, spec: object = {}): object {
  const labels = { app: 'a' };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'a' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec },
      ...spec,
    },
  };
}

interface ApplyOptions extends WriteOptions {
  force?: boolean;
}

async function apply<T extends KubeObject>(
  registry: Registry,
  kind: Kind<T>,
  body: object,
  manager: string,
  { force = false, ...options }: ApplyOptions = {},
): Promise<T> {
  const write = { fieldManager: manager, ...options };
  return (await registry.patch(kind, REF, { type: 'apply', body, force }, write)).record.object();
}

/** Returns `manager Operation fields`, the fields as JSON. */
function ownership(object: KubeObject): string[] {
  return (object.metadata.managedFields ?? []).map(entryText);
}

function entryText({ manager, operation, subresource, fieldsV1 }: ManagedFieldsEntry): string {
  return `${manager} ${operation}${subresource ? `/${subresource}` : ''} ${JSON.stringify(fieldsV1)}`;
}

test('an apply creates a missing object, and owns the fields of the manifest but no default', async () => {
  const { registry } = await testRegistry();
  const body = daemonSet({ containers: [{ name: 'c', image: 'x:1', ports: [{ containerPort: 80 }] }] });
  const patch = { type: 'apply' as const, body };
  const { record, created } = await registry.patch(daemonSetKind, REF, patch, { fieldManager: 'me' });
  assert.equal(created, true);
  assert.equal(record.object().spec.revisionHistoryLimit, 10);
  assert.deepEqual(ownership(record.object()), [
    'me Apply {"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:containerPort":{}}}}}}}}}',
  ]);
});

test('the creator of a Job owns neither its generated selector nor its generated labels', async () => {
  const { registry } = await testRegistry();
  const containers = [{ name: 'work', image: 'work:1' }];
  const body = {
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a' } },
    spec: { template: { spec: { restartPolicy: 'Never', containers } } },
  };
  const created = (await registry.create(jobKind, 'default', body, { fieldManager: 'kubectl' })).object();
  assert.ok(created.spec.selector?.matchLabels);
  const [owned] = ownership(created);
  assert.match(owned ?? '', /"f:completions"/);
  assert.doesNotMatch(owned ?? '', /f:selector|f:labels/);
  // kubectl makes the creator an applier before it applies the manifest.
  const managers = created.metadata.managedFields?.map((entry) => ({ ...entry, operation: 'Apply' }));
  await registry.update(jobKind, REF, {
    ...created,
    metadata: { ...created.metadata, managedFields: managers },
  });
  const applied = await apply(registry, jobKind, body, 'kubectl');
  assert.deepEqual(applied.spec.selector, created.spec.selector);
  assert.deepEqual(applied.spec.template.metadata?.labels, created.spec.template.metadata?.labels);
});

test('a creation by POST owns its fields and the defaults', async () => {
  const { registry } = await testRegistry();
  const body = { ...daemonSetObject('a'), metadata: { name: 'a', labels: { l: '1' } } };
  const record = await registry.create(daemonSetKind, 'default', body, { fieldManager: 'kubectl-create' });
  const [entry, ...others] = record.object().metadata.managedFields ?? [];
  assert.equal(others.length, 0);
  assert.equal(entry?.time, '2026-01-02T03:04:05Z');
  assert.deepEqual(entry?.fieldsV1, {
    'f:metadata': {
      'f:annotations': { '.': {}, 'f:deprecated.daemonset.template.generation': {} },
      'f:labels': { '.': {}, 'f:l': {} },
    },
    'f:spec': {
      'f:revisionHistoryLimit': {},
      'f:selector': {},
      'f:template': {
        'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
        'f:spec': {
          'f:containers': {
            'k:{"name":"main"}': {
              '.': {},
              'f:image': {},
              'f:imagePullPolicy': {},
              'f:name': {},
              'f:resources': {},
              'f:terminationMessagePath': {},
              'f:terminationMessagePolicy': {},
            },
          },
          'f:dnsPolicy': {},
          'f:restartPolicy': {},
          'f:schedulerName': {},
          'f:securityContext': {},
          'f:terminationGracePeriodSeconds': {},
        },
      },
      'f:updateStrategy': {
        'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} },
        'f:type': {},
      },
    },
  });
});

test('a field that no manager names is removed, a field of another owner is kept', async () => {
  const { registry } = await testRegistry();
  await apply(registry, configMapKind, configMap({ a: '1', b: '2' }), 'one');
  await apply(registry, configMapKind, configMap({ b: '2', c: '3' }), 'two');
  const left = await apply(registry, configMapKind, configMap({}), 'one');
  assert.deepEqual(left.data, { b: '2', c: '3' });
  assert.deepEqual(ownership(left), ['one Apply {"f:data":{}}', 'two Apply {"f:data":{"f:b":{},"f:c":{}}}']);
});

test('another value of an owned field is a 409 that names owner and path', async () => {
  const { registry } = await testRegistry();
  const container = { name: 'c', image: 'x:1' };
  await apply(registry, daemonSetKind, daemonSet({ containers: [container] }), 'one');
  const rival = daemonSet({ containers: [{ ...container, image: 'x:2' }] });
  const error = await refusal(apply(registry, daemonSetKind, rival, 'two'));
  const field = '.spec.template.spec.containers[name="c"].image';
  assert.equal(error.message, `Apply failed with 1 conflict: conflict with "one": ${field}`);
  assert.equal(error.code, 409);
  assert.deepEqual(error.details, {
    causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field }],
  });
});

test('several conflicts are listed owner by owner, updaters with their version', async () => {
  const { registry } = await testRegistry();
  await registry.create(configMapKind, 'default', configMap({ a: '1', b: '1' }), { fieldManager: 'maker' });
  await apply(registry, configMapKind, configMap({ c: '1' }), 'other');
  const error = await refusal(apply(registry, configMapKind, configMap({ a: '2', b: '2', c: '2' }), 'me'));
  assert.equal(
    error.message,
    'Apply failed with 3 conflicts: conflicts with "maker" using v1:\n- .data.a\n- .data.b\nconflicts with "other":\n- .data.c',
  );
});

test('force takes the field over; the former owner keeps the others', async () => {
  const { registry } = await testRegistry();
  await apply(registry, configMapKind, configMap({ a: '1', b: '1' }), 'one');
  const forced = await apply(registry, configMapKind, configMap({ a: '2' }), 'two', { force: true });
  assert.deepEqual(forced.data, { a: '2', b: '1' });
  assert.deepEqual(ownership(forced), ['one Apply {"f:data":{"f:b":{}}}', 'two Apply {"f:data":{"f:a":{}}}']);
});

test('an update takes ownership of changed fields, and a removed field has no owner', async () => {
  const { registry } = await testRegistry();
  await apply(registry, configMapKind, configMap({ a: '1', b: '1', c: '1' }), 'one');
  const change = { type: 'merge' as const, body: { data: { a: '2', b: null } } };
  const { record } = await registry.patch(configMapKind, REF, change, { fieldManager: 'kubectl-patch' });
  assert.deepEqual(ownership(record.object()), [
    'one Apply {"f:data":{"f:c":{}}}',
    'kubectl-patch Update {"f:data":{"f:a":{}}}',
  ]);
});

test('an apply without changes modifies neither time nor resourceVersion', async () => {
  const { registry, clock } = await testRegistry();
  const first = await apply(registry, configMapKind, configMap({ a: '1' }), 'me');
  clock.advance(60_000);
  const second = await apply(registry, configMapKind, configMap({ a: '1' }), 'me');
  assert.deepEqual(second, first);
});

test('a Secret’s write-only stringData does not turn each apply into a write', async () => {
  const { registry, clock } = await testRegistry();
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData: { k: 'v' } };
  const first = await apply(registry, secretKind, body, 'me');
  clock.advance(60_000);
  assert.deepEqual(await apply(registry, secretKind, body, 'me'), first);
});

test('an apply that changes a value updates its time', async () => {
  const { registry, clock } = await testRegistry();
  await apply(registry, configMapKind, configMap({ a: '1' }), 'me');
  clock.advance(60_000);
  const { metadata } = await apply(registry, configMapKind, configMap({ a: '2' }), 'me');
  assert.equal(metadata.managedFields?.[0]?.time, '2026-01-02T03:05:05Z');
});

test('a dropped volume is removed completely, though a default in it has no owner', async () => {
  const { registry } = await testRegistry();
  const containers = [{ name: 'c', image: 'x:1' }];
  const volumes = [{ name: 'v', hostPath: { path: '/v' } }];
  await apply(registry, daemonSetKind, daemonSet({ containers, volumes }), 'me');
  const emptied = { name: 'v', emptyDir: {} };
  const changed = await apply(registry, daemonSetKind, daemonSet({ containers, volumes: [emptied] }), 'me');
  assert.deepEqual(changed.spec.template.spec.volumes, [emptied]);
  const none = await apply(registry, daemonSetKind, daemonSet({ containers }), 'me');
  assert.equal(none.spec.template.spec.volumes, undefined);
});

test('ports with one number and two protocols are two items', async () => {
  const { registry } = await testRegistry();
  const ports = [{ containerPort: 53 }, { containerPort: 53, protocol: 'UDP' }];
  const withPorts = (list: object[]) => daemonSet({ containers: [{ name: 'c', image: 'x:1', ports: list }] });
  await apply(registry, daemonSetKind, withPorts(ports), 'me');
  const left = await apply(registry, daemonSetKind, withPorts(ports.slice(1)), 'me');
  assert.deepEqual(left.spec.template.spec.containers[0]?.ports, [{ containerPort: 53, protocol: 'UDP' }]);
});

test('untracked fields belong to before-first-apply', async () => {
  const { registry } = await testRegistry();
  await registry.create(podKind, 'default', podObject('a'));
  const label = (value: string) => ({ metadata: { name: 'a', labels: { x: value } } });
  await registry.modify(podKind, REF, (pod) => {
    pod.metadata.labels = { x: '0' };
  });
  assert.equal((await registry.get(podKind, REF)).object().metadata.managedFields, undefined);
  const error = await refusal(apply(registry, podKind, label('1'), 'me'));
  assert.equal(
    error.message,
    'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .metadata.labels.x',
  );
});

test('kubectl may migrate a client-side apply, and the annotation stays correct', async () => {
  const { registry } = await testRegistry();
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const lastApplied = JSON.stringify(configMap({ a: '1' }));
  const body = configMap({ a: '1' }, { annotations: { [annotation]: lastApplied } });
  await registry.create(configMapKind, 'default', body, { fieldManager: 'kubectl-client-side-apply' });
  assert.equal((await refusal(apply(registry, configMapKind, configMap({ a: '2' }), 'me'))).code, 409);
  const taken = await apply(registry, configMapKind, configMap({ a: '2' }), 'kubectl');
  assert.deepEqual(taken.data, { a: '2' });
  assert.deepEqual(JSON.parse(taken.metadata.annotations?.[annotation] ?? ''), configMap({ a: '2' }));
});

test('managedFields: an empty entry clears them, an empty list and garbage keep them', async () => {
  const { registry } = await testRegistry();
  const before = await apply(registry, configMapKind, configMap({ a: '1' }), 'me');
  const set = async (managedFields: unknown) => {
    const patch = { type: 'merge' as const, body: { metadata: { managedFields } } };
    const { record } = await registry.patch(configMapKind, REF, patch, { fieldManager: 'x' });
    return record.object().metadata.managedFields;
  };
  const { managedFields } = before.metadata;
  assert.deepEqual(await set([]), managedFields);
  assert.deepEqual(await set([{ manager: 'x', operation: 'Guess' }]), managedFields);
  const renamed = (managedFields ?? []).map((entry) => ({ ...entry, manager: 'you' }));
  assert.deepEqual(await set(renamed), renamed);
  assert.equal(await set([{}]), undefined);
  assert.equal(await set([]), undefined);
});

test('status is owned separately: main applies neither own nor contest it', async () => {
  const { registry } = await testRegistry();
  const body = { ...daemonSet({ containers: [{ name: 'c', image: 'x:1' }] }), status: { numberReady: 7 } };
  await apply(registry, daemonSetKind, body, 'me');
  const status = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    status: {
      conditions: [{ type: 'Odd', status: 'True' }],
    },
  };
  const told = await apply(registry, daemonSetKind, status, 'watcher', { subresource: 'status' });
  assert.equal(
    ownership(told).at(-1),
    'watcher Apply/status {"f:status":{"f:conditions":{"k:{\\"type\\":\\"Odd\\"}":{".":{},"f:status":{},"f:type":{}}}}}',
  );
  assert.equal(ownership(told).length, 2);
  const again = await apply(registry, daemonSetKind, body, 'other');
  assert.equal(again.status?.conditions?.length, 1);
});

test('an apply to the status of a missing object is a 404', async () => {
  const { registry } = await testRegistry();
  const body = { status: { numberReady: 1 } };
  const error = await refusal(apply(registry, daemonSetKind, body, 'me', { subresource: 'status' }));
  assert.equal(error.code, 404);
});

test('a dry run returns the result and stores nothing', async () => {
  const { registry } = await testRegistry();
  const dry = await apply(registry, configMapKind, configMap({ a: '1' }), 'me', { dryRun: true });
  assert.deepEqual(ownership(dry), ['me Apply {"f:data":{"f:a":{}}}']);
  assert.equal((await refusal(registry.get(configMapKind, REF))).code, 404);
});

for (const [rule, body, code, message] of [
  [
    'managedFields in a manifest',
    configMap({}, { managedFields: [] }),
    400,
    /metadata.managedFields must be nil/,
  ],
  [
    'an unknown field',
    { ...configMap({}), spec: {} },
    400,
    /failed to create typed patch object \(default\/a; v1, Kind=ConfigMap\): \.spec: field not declared in schema/,
  ],
  ['another kind', { apiVersion: 'v1', kind: 'Secret' }, 400, /Secret in version "v1" cannot be handled/],
  ['another revision', configMap({}, { resourceVersion: '1' }), 409, /the object has been modified/],
  ['a manifest that is not a map', [], 400, /not a JSON object/],
] as const) {
  test(`an apply rejects ${rule}`, async () => {
    const { registry } = await testRegistry();
    await apply(registry, configMapKind, configMap({ a: '1' }), 'me');
    const error = await refusal(apply(registry, configMapKind, body, 'me'));
    assert.equal(error.code, code);
    assert.match(error.message, message);
  });
}

test('a controller’s change of a tracked field is recorded, its status is not', async () => {
  const { registry } = await testRegistry();
  await apply(registry, daemonSetKind, daemonSet({ containers: [{ name: 'c', image: 'x:1' }] }), 'me');
  const label = await registry.modify(daemonSetKind, REF, (set) => {
    set.metadata.labels = { touched: 'yes' };
  });
  assert.equal(
    ownership(label.object()).at(-1),
    'everynode Update {"f:metadata":{"f:labels":{".":{},"f:touched":{}}}}',
  );
  const write = { subresource: 'status' } as const;
  const status = await registry.modify(
    daemonSetKind,
    REF,
    (set) => {
      if (set.status) set.status.observedGeneration = 1;
    },
    write,
  );
  assert.equal(ownership(status.object()).length, 2);
});

test('of more than ten updaters the oldest are merged', async () => {
  const { registry, clock } = await testRegistry();
  await registry.create(configMapKind, 'default', configMap({ k0: '' }), { fieldManager: 'm0' });
  for (let index = 1; index <= 11; index += 1) {
    clock.advance(1000);
    const body = { data: { [`k${index}`]: '' } };
    await registry.patch(configMapKind, REF, { type: 'merge', body }, { fieldManager: `m${index}` });
  }
  const names = ownership((await registry.get(configMapKind, REF)).object()).map(
    (text) => text.split(' ')[0],
  );
  assert.deepEqual(names, ['ancient-changes', ...[3, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => `m${n}`)]);
});
