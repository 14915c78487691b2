/** A definition with `strategy: Webhook` and two versions: each read, write and watch event has converted objects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DefinitionController } from '../../../coordinator/controllers/custom-resources/definition-controller.js';
import { GarbageCollector } from '../../../coordinator/controllers/gc/garbage-collector.js';
import { NamespaceController } from '../../../coordinator/controllers/gc/namespace-controller.js';
import { customResourceDefinitionKind, namespaceKind } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { type ControlPlane, startControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { refusal } from '../../harness/controllers/registry-fixture.js';
import { definitionVersion, widgetDefinition } from '../../harness/objects/definition-builder.js';

type Widget = KubeObject & { spec?: { size?: number; width?: number; height?: number } };

interface Review {
  request: { uid: string; desiredAPIVersion: string; objects: Widget[] };
}

const ANY = {
  type: 'object',
  properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
} as const;

/** v1 has one size, v2 has width and height. */
function convert({ apiVersion: _, ...widget }: Widget, apiVersion: string): Widget {
  const { size, width } = widget.spec ?? {};
  if (apiVersion.endsWith('/v2')) {
    return { ...widget, apiVersion, spec: { width: size ?? 0, height: size ?? 0 } };
  }
  return { ...widget, apiVersion, spec: { size: width ?? 0 } };
}

interface Bench {
  plane: ControlPlane;
  /** `version: names` of each review. */
  reviews: string[];
  /** False: the webhook does not answer. */
  setReachable(isReachable: boolean): void;
  v1: Kind<Widget>;
  v2: Kind<Widget>;
}

function withWebhook(rule: string, check: (bench: Bench) => Promise<void>): void {
  test(rule, async () => {
    const reviews: string[] = [];
    let isReachable = true;
    const plane = await startControlPlane([], {
      callWebhook: async (_client, review) => {
        const { uid, desiredAPIVersion, objects } = (review as Review).request;
        reviews.push(`${desiredAPIVersion}: ${objects.map(({ metadata }) => metadata.name).join()}`);
        if (!isReachable) throw new Error('connection refused');
        const convertedObjects = objects.map((object) => convert(object, desiredAPIVersion));
        const response = { uid, result: { status: 'Success' }, convertedObjects };
        return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response };
      },
    });
    const controllers = [
      new DefinitionController(plane),
      new GarbageCollector(plane),
      new NamespaceController(plane),
    ];
    try {
      await plane.registry.create(customResourceDefinitionKind, undefined, definition('v2'));
      await plane.settle();
      const kindOf = (version: string) =>
        (plane.registry.customKinds.find({ group: 'example.com', version, resource: 'widgets' })?.kind ??
          assert.fail(`${version} is not served`)) as unknown as Kind<Widget>;
      const setReachable = (value: boolean) => {
        isReachable = value;
      };
      await check({ plane, reviews, setReachable, v1: kindOf('v1'), v2: kindOf('v2') });
    } finally {
      await Promise.all(controllers.map((controller) => controller.stop()));
      await plane.stop();
    }
  });
}

/** `stored` is the storage version. */
function definition(stored: string) {
  const versions = ['v1', 'v2'].map((name) => definitionVersion(ANY, { name, storage: name === stored }));
  const webhook = { clientConfig: { url: 'https://convert' }, conversionReviewVersions: ['v1'] };
  const { status: _, ...body } = widgetDefinition(versions, { conversion: { strategy: 'Webhook', webhook } });
  return body;
}

const spec = async ({ plane }: Bench, kind: Kind<Widget>, name: string) =>
  (await plane.registry.get(kind, { namespace: 'default', name })).object().spec;

withWebhook('an object that is written in one version is read in each', async (bench) => {
  const { plane, v1, v2, reviews } = bench;
  const made = await plane.registry.create(v1, 'default', { metadata: { name: 'a' }, spec: { size: 3 } });
  assert.deepEqual(made.object().spec, { size: 3 });
  assert.deepEqual(await spec(bench, v2, 'a'), { width: 3, height: 3 });
  assert.deepEqual(reviews, ['example.com/v2: a']);
  assert.deepEqual(await spec(bench, v1, 'a'), { size: 3 });
  assert.deepEqual(reviews.slice(1), ['example.com/v1: a']);
});

withWebhook('an update in another version is stored in the storage version', async (bench) => {
  const { plane, v1, v2 } = bench;
  await plane.registry.create(v2, 'default', { metadata: { name: 'a' }, spec: { width: 1, height: 2 } });
  const change = { type: 'merge' as const, body: { spec: { size: 5 } } };
  await plane.registry.patch(v1, { namespace: 'default', name: 'a' }, change);
  assert.deepEqual(await spec(bench, v2, 'a'), { width: 5, height: 5 });
});

withWebhook('a list and a watch convert all objects of a batch in one review', async (bench) => {
  const { plane, v1, v2, reviews } = bench;
  for (const name of ['a', 'b']) {
    await plane.registry.create(v2, 'default', { metadata: { name }, spec: { width: 4, height: 4 } });
  }
  const { records, resourceVersion } = await plane.registry.list(v1);
  assert.deepEqual(
    records.map((record) => record.object().spec),
    [{ size: 4 }, { size: 4 }],
  );
  assert.deepEqual(reviews, ['example.com/v1: a,b']);
  const watch = await plane.registry.watch(v1, { resourceVersion });
  await plane.registry.delete(v2, { namespace: 'default', name: 'a' });
  for await (const events of watch) {
    const [event] = events;
    assert.ok(event?.type === 'DELETED');
    assert.deepEqual(event.record.object().spec, { size: 4 });
    break;
  }
});

withWebhook('a large list needs several reviews', async ({ plane, v1, v2, reviews }) => {
  const annotations = { large: 'x'.repeat(200_000) };
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
    await plane.registry.create(v2, 'default', { metadata: { name, annotations }, spec: { width: 1 } });
  }
  const { records } = await plane.registry.list(v1);
  assert.deepEqual(
    records.map((record) => record.object().spec),
    Array.from({ length: 7 }, () => ({ size: 1 })),
  );
  assert.deepEqual(reviews, ['example.com/v1: a,b,c,d,e', 'example.com/v1: f,g']);
});

withWebhook('an unreachable webhook fails requests of another version, and no others', async (bench) => {
  const { plane, v1, v2, setReachable } = bench;
  await plane.registry.create(v2, 'default', { metadata: { name: 'a' }, spec: { width: 1 } });
  setReachable(false);
  assert.match(
    (await refusal(plane.registry.get(v1, { namespace: 'default', name: 'a' }))).message,
    /conversion webhook for example\.com\/v2, Kind=Widget failed: connection refused/,
  );
  await refusal(plane.registry.create(v1, 'default', { metadata: { name: 'b' }, spec: { size: 1 } }));
  assert.deepEqual(await spec(bench, v2, 'a'), { width: 1 });
  assert.equal((await plane.registry.list(v2)).records.length, 1);
});

withWebhook(
  'objects of a former storage version are converted, and collected without the webhook',
  async (bench) => {
    const { plane, v2, reviews, setReachable } = bench;
    const owner = await plane.registry.create(v2, 'default', {
      metadata: { name: 'owner' },
      spec: { width: 1 },
    });
    const { uid = '' } = owner.object().metadata;
    const ownerReferences = [{ apiVersion: 'example.com/v2', kind: 'Widget', name: 'owner', uid }];
    await plane.registry.create(v2, 'default', {
      metadata: { name: 'a', ownerReferences },
      spec: { width: 6 },
    });
    const ref = { name: 'widgets.example.com' };
    await plane.registry.modify(customResourceDefinitionKind, ref, (stored) => {
      stored.spec = definition('v1').spec;
      return undefined;
    });
    await plane.settle();
    const served = plane.registry.customKinds.find({
      group: 'example.com',
      version: 'v1',
      resource: 'widgets',
    });
    assert.deepEqual(await spec(bench, served?.kind as unknown as Kind<Widget>, 'a'), { size: 6 });
    assert.equal(reviews.at(-1), 'example.com/v1: a');
    setReachable(false);
    await plane.registry.delete(customResourceDefinitionKind, ref);
    await plane.settle();
    assert.equal(plane.informers.customResourceDefinitions.size, 0);
  },
);

withWebhook('a namespace ends although the webhook ended with it', async (bench) => {
  const { plane, v2, setReachable, reviews } = bench;
  await plane.registry.create(namespaceKind, undefined, { metadata: { name: 'shop' } });
  await plane.registry.create(v2, 'shop', { metadata: { name: 'a' }, spec: { width: 1 } });
  await plane.registry.modify(customResourceDefinitionKind, { name: 'widgets.example.com' }, (stored) => {
    stored.spec = definition('v1').spec;
    return undefined;
  });
  await plane.settle();
  setReachable(false);
  await plane.registry.delete(namespaceKind, { name: 'shop' });
  await plane.settle();
  assert.equal(plane.informers.namespaces.get({ name: 'shop' }), undefined);
  assert.deepEqual(reviews, []);
});
