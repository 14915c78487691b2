/** matchPolicy Equivalent: a rule for one version of a resource decides on requests of its other versions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DefinitionController } from '../../../coordinator/controllers/custom-resources/definition-controller.js';
import {
  customResourceDefinitionKind,
  eventKind,
  mutatingWebhookConfigurationKind,
  validatingAdmissionPolicyBindingKind,
  validatingAdmissionPolicyKind,
} from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { CustomResourceDefinition } from '../../../shared/kube/objects/custom-resource-definition.js';
import type { KubeEvent } from '../../../shared/kube/objects/event-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { type ControlPlane, startControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { refusal } from '../../harness/controllers/registry-fixture.js';
import { admissionPolicy, policyBinding } from '../../harness/objects/admission-builders.js';
import { definitionVersion, widgetDefinition } from '../../harness/objects/definition-builder.js';

const ANY = {
  type: 'object',
  properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
} as const;
const V1BETA1 = rule('example.com', 'v1beta1', 'widgets');

interface Review {
  request: {
    uid: string;
    desiredAPIVersion?: string;
    objects?: KubeObject[];
    kind: { group: string; version: string };
    requestKind: { group: string; version: string };
    object: KubeObject;
  };
}

interface Bench {
  plane: ControlPlane;
  reviews: Review['request'][];
  /** The versions to which objects were converted. */
  conversions: string[];
  widgets: Kind<KubeObject & { spec?: object }>;
}

function rule(group: string, version: string, resource: string) {
  return {
    operations: ['CREATE', 'UPDATE'],
    apiGroups: [group],
    apiVersions: [version],
    resources: [resource],
  };
}

/** The webhook sets `field` to `changed`, and converts objects by changing their version. */
function withPlane(
  title: string,
  conversion: CustomResourceDefinition['spec']['conversion'],
  check: (bench: Bench) => Promise<void>,
  field = '/spec/size',
): void {
  test(title, async () => {
    const reviews: Bench['reviews'] = [];
    const conversions: string[] = [];
    const plane = await startControlPlane([], {
      callWebhook: async (_client, review) => {
        const { request } = review as Review;
        const { uid, desiredAPIVersion: apiVersion, objects } = request;
        if (apiVersion !== undefined) {
          conversions.push(apiVersion);
          const convertedObjects = objects?.map((object) => ({ ...object, apiVersion }));
          const response = { uid, result: { status: 'Success' }, convertedObjects };
          return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response };
        }
        reviews.push(request);
        const patch = [{ op: 'add', path: field, value: 'changed' }];
        const encoded = Buffer.from(JSON.stringify(patch)).toString('base64');
        const response = { uid, allowed: true, patch: encoded, patchType: 'JSONPatch' };
        return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
      },
    });
    const controller = new DefinitionController(plane);
    try {
      const versions = [definitionVersion(ANY), definitionVersion(ANY, { name: 'v1beta1', storage: false })];
      const { status: _, ...body } = widgetDefinition(versions, conversion ? { conversion } : {});
      await plane.registry.create(customResourceDefinitionKind, undefined, body);
      await plane.settle();
      const name = { group: 'example.com', version: 'v1', resource: 'widgets' };
      const kind = plane.registry.customKinds.find(name)?.kind ?? assert.fail('not served');
      await check({ plane, reviews, conversions, widgets: kind as unknown as Bench['widgets'] });
    } finally {
      await controller.stop();
      await plane.stop();
    }
  });
}

async function enforce({ plane }: Bench, matchPolicy: string | undefined, expression: string): Promise<void> {
  const matchConstraints = { resourceRules: [V1BETA1], ...(matchPolicy ? { matchPolicy } : {}) };
  const policy = admissionPolicy('p', { matchConstraints, validations: [{ expression }] });
  await plane.registry.create(validatingAdmissionPolicyKind, undefined, policy);
  await plane.registry.create(validatingAdmissionPolicyBindingKind, undefined, policyBinding('p'));
  await plane.settle();
}

async function callFor({ plane }: Bench, change: object): Promise<void> {
  await plane.registry.create(mutatingWebhookConfigurationKind, undefined, {
    metadata: { name: 'hooks' },
    webhooks: [
      {
        ...{ name: 'hook.example.com', clientConfig: { url: 'https://hook' } },
        ...{ sideEffects: 'None', admissionReviewVersions: ['v1'], ...change },
      },
    ],
  });
  await plane.settle();
}

const create = ({ plane, widgets }: Bench) =>
  plane.registry.create(widgets, 'default', { metadata: { name: 'a' }, spec: { size: 'big' } });

const SEES_BETA =
  "!(object.apiVersion == 'example.com/v1beta1' && request.kind.version == 'v1beta1' && request.requestKind.version == 'v1')";

withPlane('a policy sees the object in the version of its rule', undefined, async (bench) => {
  await enforce(bench, undefined, SEES_BETA);
  assert.match((await refusal(create(bench))).message, /ValidatingAdmissionPolicy 'p'/);
});

withPlane('a policy with matchPolicy Exact does not match another version', undefined, async (bench) => {
  await enforce(bench, 'Exact', 'false');
  await create(bench);
});

const WEBHOOK = {
  strategy: 'Webhook',
  webhook: { clientConfig: { url: 'https://convert' }, conversionReviewVersions: ['v1'] },
};

withPlane('a policy that needs a conversion webhook refuses and names the remedy', WEBHOOK, async (bench) => {
  await enforce(bench, undefined, 'true');
  assert.match(
    (await refusal(create(bench))).message,
    /conversion webhook of widgets\.example\.com is not called for policies: add version v1 to resourceRules/,
  );
});

withPlane('an object that a webhook excludes by its labels is not converted', WEBHOOK, async (bench) => {
  await callFor(bench, { rules: [V1BETA1], objectSelector: { matchLabels: { reviewed: 'yes' } } });
  await create(bench);
  assert.deepEqual([bench.conversions, bench.reviews], [[], []]);
});

for (const conversion of [undefined, WEBHOOK]) {
  withPlane(
    `a webhook changes the object in the version of its rule, conversion ${conversion?.strategy ?? 'None'}`,
    conversion,
    async (bench) => {
      await callFor(bench, { rules: [V1BETA1] });
      const stored = (await create(bench)).object();
      assert.deepEqual([stored.apiVersion, stored.spec], ['example.com/v1', { size: 'changed' }]);
      const [review] = bench.reviews;
      assert.deepEqual(
        [review?.kind.version, review?.requestKind.version, review?.object.apiVersion],
        ['v1beta1', 'v1', 'example.com/v1beta1'],
      );
    },
  );
}

withPlane('a webhook with matchPolicy Exact is not called for another version', undefined, async (bench) => {
  await callFor(bench, { rules: [V1BETA1], matchPolicy: 'Exact' });
  assert.deepEqual((await create(bench)).object().spec, { size: 'big' });
  assert.deepEqual(bench.reviews, []);
});

withPlane(
  'a webhook for events.k8s.io changes an Event of v1',
  undefined,
  async (bench) => {
    await callFor(bench, { rules: [rule('events.k8s.io', 'v1', 'events')] });
    const event = {
      ...{ metadata: { name: 'e' }, reason: 'Tested', message: 'sent', type: 'Normal' },
      involvedObject: { kind: 'Pod', name: 'a', namespace: 'default' },
    };
    const made = await bench.plane.registry.create(eventKind, 'default', event);
    assert.deepEqual(
      bench.reviews.map(({ kind, requestKind }) => [kind.group, requestKind.group]),
      [['events.k8s.io', '']],
    );
    assert.equal((made.object() as KubeEvent).message, 'changed');
  },
  '/note',
);
