/** Admission webhooks in the registry (apiserver pkg/admission/plugin/webhook). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  configMapKind,
  hostValuesKind,
  mutatingWebhookConfigurationKind,
  validatingWebhookConfigurationKind,
} from '../../../coordinator/kinds/index.js';
import { keyOf } from '../../../coordinator/registry/storage-keys.js';
import type { AdmissionResponse, AdmissionWebhook } from '../../../shared/kube/admission/webhook-types.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import type { ConfigMap } from '../../../shared/kube/objects/config-types.js';
import { type ControlPlane, startControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { refusal } from '../../harness/controllers/registry-fixture.js';
import { CONFIG_MAP_RULE } from '../../harness/objects/admission-builders.js';

interface Review {
  request: {
    uid: string;
    name: string;
    operation: string;
    object: ConfigMap | null;
    oldObject: ConfigMap | null;
  };
}

type Answer = (request: Review['request']) => Partial<AdmissionResponse>;

interface Bench {
  plane: ControlPlane;
  /** The answers by the URL of the webhook. Absent: the call fails. */
  answers: Map<string, Answer>;
  /** `URL operation name` of each call. */
  calls: string[];
}

function withWebhooks(rule: string, check: (bench: Bench) => Promise<void>): void {
  test(rule, async () => {
    const answers = new Map<string, Answer>();
    const calls: string[] = [];
    const plane = await startControlPlane([], {
      callWebhook: async ({ url = '' }, review) => {
        const { request } = review as Review;
        calls.push(`${url} ${request.operation} ${request.name}`);
        const answer = answers.get(url);
        if (!answer) throw new Error(`Post "${url}": connection refused`);
        const response = { uid: request.uid, ...answer(request) };
        return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
      },
    });
    try {
      await check({ plane, answers, calls });
    } finally {
      await plane.stop();
    }
  });
}

function webhook(host: string, change: AdmissionWebhook = {}): AdmissionWebhook {
  return {
    name: `${host}.example.com`,
    clientConfig: { url: `https://${host}` },
    rules: [CONFIG_MAP_RULE],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...change,
  };
}

async function configure(
  { plane }: Bench,
  kind: typeof mutatingWebhookConfigurationKind,
  ...webhooks: AdmissionWebhook[]
): Promise<void> {
  await plane.registry.create(kind, undefined, { metadata: { name: 'hooks' }, webhooks });
  await plane.settle();
}

const validating = validatingWebhookConfigurationKind;
const mutating = mutatingWebhookConfigurationKind;

function createMap({ plane }: Bench, name: string, options = {}) {
  return plane.registry.create<ConfigMap>(
    configMapKind,
    'default',
    { metadata: { name }, data: { a: '1' } },
    options,
  );
}

function patch(...operations: object[]): Partial<AdmissionResponse> {
  const text = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch: text };
}

const add = (key: string): object => ({ op: 'add', path: `/data/${key}`, value: 'x' });

describe('admission webhooks', () => {
  withWebhooks('a validating webhook refuses with its message and code', async (bench) => {
    bench.answers.set('https://v', ({ object }) =>
      object?.metadata.name === 'bad'
        ? { allowed: false, status: { code: 403, message: 'a bad name' } }
        : { allowed: true, warnings: ['careful'], auditAnnotations: { seen: 'yes' } },
    );
    await configure(bench, validating, webhook('v'));
    const refused = await refusal(createMap(bench, 'bad'));
    assert.deepEqual(
      [refused.code, refused.message],
      [403, 'admission webhook "v.example.com" denied the request: a bad name'],
    );
    const seen: string[] = [];
    await createMap(bench, 'good', {
      warn: (text: string) => seen.push(text),
      annotate: (key: string, value: string) => seen.push(`${key}=${value}`),
    });
    assert.deepEqual(seen, ['v.example.com/seen=yes', 'careful']);
  });

  withWebhooks('a failed call refuses with Fail, and passes with Ignore', async (bench) => {
    await configure(bench, validating, webhook('v'));
    const refused = await refusal(createMap(bench, 'a'));
    const text =
      'Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: Post "https://v": connection refused';
    assert.deepEqual([refused.code, refused.message], [500, text]);
    const webhooks = [webhook('v', { failurePolicy: 'Ignore' })];
    const ref = { name: 'hooks' };
    await bench.plane.registry.patch(validating, ref, { type: 'merge', body: { webhooks } });
    await bench.plane.settle();
    const annotations: string[] = [];
    await createMap(bench, 'a', {
      annotate: (key: string, value: string) => annotations.push(`${key}=${value}`),
    });
    assert.deepEqual(annotations, [
      'failed-open.validating.webhook.admission.k8s.io/round_0_index_0=v.example.com',
    ]);
  });

  withWebhooks(
    'mutating webhooks change the object one after the other, before validation',
    async (bench) => {
      bench.answers.set('https://one', () => patch(add('one')));
      bench.answers.set('https://two', ({ object }) =>
        patch(add(`after-${Object.keys(object?.data ?? {}).join('-')}`)),
      );
      await configure(bench, mutating, webhook('one'), webhook('two'));
      const { data } = (await createMap(bench, 'a')).object();
      assert.deepEqual(data, { a: '1', one: 'x', 'after-a-one': 'x' });
      bench.answers.set('https://one', () => patch({ op: 'add', path: '/data/in valid', value: 'x' }));
      assert.equal((await refusal(createMap(bench, 'b'))).code, 422);
    },
  );

  withWebhooks('IfNeeded calls a webhook again after a later change', async (bench) => {
    bench.answers.set('https://one', ({ object }) => patch(add(object?.data?.two ? 'again' : 'one')));
    bench.answers.set('https://two', () => patch(add('two')));
    await configure(bench, mutating, webhook('one', { reinvocationPolicy: 'IfNeeded' }), webhook('two'));
    const { data } = (await createMap(bench, 'a')).object();
    assert.deepEqual(data, { a: '1', one: 'x', two: 'x', again: 'x' });
    assert.equal(bench.calls.length, 3);
  });

  withWebhooks('updates, patches, applies and deletions are decided as well', async (bench) => {
    const { registry } = bench.plane;
    bench.answers.set('https://m', ({ operation }) =>
      operation === 'DELETE' ? { allowed: true } : patch(add('m')),
    );
    bench.answers.set('https://v', ({ operation, oldObject }) =>
      operation === 'DELETE' ? { allowed: oldObject?.data?.keep === undefined } : { allowed: true },
    );
    await createMap(bench, 'a');
    const rules = [{ ...CONFIG_MAP_RULE, operations: ['UPDATE', 'DELETE'] }];
    await configure(bench, mutating, webhook('m', { rules }));
    await configure(bench, validating, webhook('v', { rules }));
    const ref = { namespace: 'default', name: 'a' };
    const merged = await registry.patch<ConfigMap>(configMapKind, ref, {
      type: 'merge',
      body: { data: { keep: '1' } },
    });
    assert.deepEqual(merged.record.object().data, { a: '1', keep: '1', m: 'x' });
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { b: '2' } };
    const applied = await registry.patch<ConfigMap>(
      configMapKind,
      ref,
      { type: 'apply', body },
      { fieldManager: 'f' },
    );
    assert.equal(applied.record.object().data?.m, 'x');
    const refused = await refusal(registry.delete(configMapKind, ref));
    assert.equal(refused.message, 'admission webhook "v.example.com" denied the request without explanation');
    await registry.update(configMapKind, ref, { metadata: { name: 'a' }, data: {} });
    await registry.delete(configMapKind, ref);
  });

  withWebhooks('a write changes no part of the stored object, with webhooks and without', async (bench) => {
    const { registry, store } = bench.plane;
    const ref = { namespace: 'default', name: 'till' };
    // Written by another version: this one drops the field `retired` and the null from what it decodes.
    const nodeSelector = { matchLabels: { site: 'kiel' }, matchExpressions: null, retired: { a: 1 } };
    const stored = {
      apiVersion: 'fleet.everynode.dev/v1',
      kind: 'HostValues',
      metadata: { ...ref, uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', generation: 1 },
      spec: { nodeSelector, values: { a: '1' }, hosts: { h: { a: '1' } } },
    };
    await store.create(keyOf(hostValuesKind, ref), Buffer.from(JSON.stringify(stored)));
    const before = deepFrozen((await registry.get<HostValues>(hostValuesKind, ref)).object());
    const write = async (value: string) => {
      const options = { fieldValidation: 'Ignore', fieldManager: 'f', dryRun: true } as const;
      const spec = { ...stored.spec, values: { a: value } };
      const body = { type: 'merge', body: { spec: { values: { a: value } } } } as const;
      const replaced = await registry.update(
        hostValuesKind,
        ref,
        { ...stored, spec } as unknown as HostValues,
        options,
      );
      const { record } = await registry.patch<HostValues>(hostValuesKind, ref, body, options);
      const dryRuns = [replaced.object(), record.object()].map((object) => object.spec.values?.a);
      return [...dryRuns, (await registry.get(hostValuesKind, ref)).object() === before];
    };
    assert.deepEqual(await write('2'), ['2', '2', true]);
    bench.answers.set('https://m', () => patch({ op: 'add', path: '/spec/values/a', value: 'm' }));
    bench.answers.set('https://v', () => ({ allowed: true }));
    const rules = [{ ...CONFIG_MAP_RULE, apiGroups: ['*'], resources: ['hostvalues'] }];
    await configure(bench, mutating, webhook('m', { rules }));
    await configure(bench, validating, webhook('v', { rules }));
    assert.deepEqual(await write('3'), ['m', 'm', true]);
    const options = { fieldValidation: 'Ignore', fieldManager: 'f' } as const;
    const merge = { type: 'merge', body: { spec: { values: { a: '4' } } } } as const;
    const { record } = await registry.patch<HostValues>(hostValuesKind, ref, merge, options);
    assert.equal(record.object().spec.values?.a, 'm');
    assert.equal(before.spec.values?.a, '1');
  });

  withWebhooks('rules, selectors and match conditions decide whether a webhook is called', async (bench) => {
    const never = { allowed: false };
    for (const host of ['rule', 'namespace', 'object', 'condition'])
      bench.answers.set(`https://${host}`, () => never);
    await configure(
      bench,
      validating,
      webhook('rule', { rules: [{ ...CONFIG_MAP_RULE, resources: ['secrets'] }] }),
      webhook('namespace', { namespaceSelector: { matchLabels: { other: 'yes' } } }),
      webhook('object', { objectSelector: { matchLabels: { other: 'yes' } } }),
      webhook('condition', { matchConditions: [{ name: 'c', expression: "object.metadata.name == 'b'" }] }),
    );
    await createMap(bench, 'a');
    assert.deepEqual(bench.calls, []);
    await refusal(createMap(bench, 'b'));
    assert.deepEqual(bench.calls, ['https://condition CREATE b']);
  });

  withWebhooks('a dry run calls only webhooks without side effects', async (bench) => {
    const { plane } = bench;
    bench.answers.set('https://v', () => ({ allowed: true }));
    await configure(bench, validating, webhook('v', { sideEffects: 'NoneOnDryRun' }));
    await createMap(bench, 'a', { dryRun: true });
    assert.equal(bench.calls.length, 1);
    const some = {
      type: 'json' as const,
      body: [{ op: 'replace', path: '/webhooks/0/sideEffects', value: 'Some' }],
    };
    assert.equal((await refusal(plane.registry.patch(validating, { name: 'hooks' }, some))).code, 422);
  });

  withWebhooks('a wrong answer counts as a failed call', async (bench) => {
    await configure(bench, validating, webhook('v'));
    const answers: [Partial<AdmissionResponse>, RegExp][] = [
      [{ uid: 'other' }, /expected response\.uid="[-0-9a-f]+", got "other"/],
      [patch(add('x')), /validating webhook may not return response\.patch/],
    ];
    for (const [answer, text] of answers) {
      bench.answers.set('https://v', () => answer);
      assert.match((await refusal(createMap(bench, 'a'))).message, text);
    }
  });

  withWebhooks('a broken webhook for everything can be removed', async (bench) => {
    const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
    await configure(bench, validating, webhook('v', { rules: [everything] }));
    assert.equal((await refusal(createMap(bench, 'a'))).code, 500);
    await bench.plane.registry.delete(validating, { name: 'hooks' });
    await bench.plane.settle();
    await createMap(bench, 'a');
  });
});

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFrozen);
  return value;
}
