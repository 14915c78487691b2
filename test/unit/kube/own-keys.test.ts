/** Inherited property names are absent from maps without them, and ordinary keys in maps with them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldValue, resourceValue } from '../../../agent/decisions/container-spec/field-ref.js';
import { nextAction } from '../../../agent/decisions/pods/pod-next-action.js';
import { parseNodeQuery } from '../../../agent/simulate/node-query.js';
import { matchesNodeAffinity } from '../../../coordinator/decisions/placement/node-affinity.js';
import { fitRefusals } from '../../../coordinator/decisions/placement/pod-fit.js';
import { usageOfPods } from '../../../coordinator/decisions/placement/pod-resource-usage.js';
import { secretKind } from '../../../coordinator/kinds/index.js';
import { semanticallyEqual } from '../../../coordinator/kinds/validation/semantic-equality.js';
import { applyJsonPatch } from '../../../coordinator/registry/patch/json-patch.js';
import { applyStrategicMergePatch } from '../../../coordinator/registry/patch/strategic-merge-patch.js';
import { inverseChange } from '../../../shared/kube/nodes/node-change.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { applyMergePatch } from '../../../shared/kube/objects/merge-patch.js';
import { compileLabelSelector, parseLabelSelector } from '../../../shared/kube/objects/selectors.js';
import { nodeObject, podObject } from '../../harness/objects/object-builders.js';
import { viewOf } from '../../harness/pods/pod-views.js';

const FACTS = { nodeName: 'n', hostIP: '192.0.2.1', podIP: '10.0.0.1', allocatable: { cpu: '4' } };

for (const key of ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__']) {
  describe(`the key ${key}:`, () => {
    const holding: Record<string, string> = JSON.parse(`{"${key}": "x"}`);

    test('a lookup finds own properties only', () => {
      assert.equal(ownValue<string>({}, key), undefined);
      assert.equal(ownValue(holding, key), 'x');
    });

    test('a label selector matches only objects that have the label', () => {
      for (const matcher of [
        compileLabelSelector({ matchLabels: holding }),
        compileLabelSelector({ matchExpressions: [{ key, operator: 'Exists' }] }),
        parseLabelSelector(key),
        parseLabelSelector(`${key}=x`),
      ]) {
        assert.deepEqual([matcher.matches({}), matcher.matches(holding)], [false, true]);
      }
      const unknown = { key: 'a', operator: key } as unknown as { key: string; operator: 'In' };
      assert.equal(compileLabelSelector({ matchExpressions: [unknown] }).matches({ a: 'x' }), false);
    });

    test('a node selector and a query of simulated nodes match only nodes that have the label', () => {
      const spec = podObject('p', { nodeSelector: holding }).spec;
      assert.equal(matchesNodeAffinity(spec, nodeObject('n')), false);
      if (key !== '__proto__')
        assert.equal(matchesNodeAffinity(spec, nodeObject('n', { labels: holding })), true);
      for (const query of [`${key}=x`, `${key} in (x)`, `!other,${key}`]) {
        const matches = parseNodeQuery(query);
        assert.deepEqual(
          [{}, holding].map((labels) => matches({ name: 'n', labels })),
          [false, true],
          query,
        );
      }
    });

    test('a resource with an inherited property name is insufficient where the node lacks it', () => {
      // Validation rejects this name for a resource.
      if (key === '__proto__') return;
      const resources = { requests: JSON.parse(`{"${key}": "1"}`) };
      const pod = podObject('p', { containers: [{ name: 'c', image: 'i', resources }] });
      assert.deepEqual(fitRefusals(pod, nodeObject('n'), usageOfPods([])), [`Insufficient ${key}`]);
    });

    test('equality and patches use own properties only', () => {
      assert.equal(semanticallyEqual({ labels: {} }, { labels: holding }), false);
      assert.equal(semanticallyEqual({ limits: {} }, { limits: JSON.parse(`{"${key}": "1"}`) }), false);
      const patch = { labels: holding };
      for (const merged of [
        applyMergePatch({ labels: {} }, patch),
        applyStrategicMergePatch({ labels: {} }, patch, undefined),
      ]) {
        assert.deepEqual(JSON.stringify(merged), JSON.stringify({ labels: holding }));
      }
      const operations = [{ op: 'test', path: `/labels/${key}`, value: 'x' }];
      assert.throws(() => applyJsonPatch({ labels: {} }, operations), { reason: 'Invalid' });
      assert.equal(Reflect.get({}, 'polluted'), undefined);
    });

    test('an environment variable of an absent label is empty, one of an absent resource has no value', () => {
      const pod = podObject('p');
      for (const map of ['labels', 'annotations']) {
        assert.deepEqual(fieldValue(pod, `metadata.${map}['${key}']`, FACTS), { kind: 'text', text: '' });
      }
      const container = { name: 'c', image: 'i', resources: { limits: {} } };
      assert.equal(resourceValue(container, `limits.${key}`, undefined, FACTS), undefined);
    });

    test('a container with an inherited property name has neither failed nor been pulled before its first step', () => {
      const container = { name: key, image: 'app:1' };
      const usual = nextAction(viewOf({ spec: { containers: [{ ...container, name: 'main' }] } }));
      const action = nextAction(viewOf({ spec: { containers: [container] } }));
      assert.equal(action.kind, usual.kind);
    });

    test('a Secret may have such a type, and undoing a change of such a label removes it', () => {
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 's' },
        type: key,
        data: {},
      } as const;
      assert.deepEqual(secretKind.validate(secret), []);
      const undone = inverseChange(nodeObject('n'), { labels: holding });
      assert.deepEqual(Object.entries(undone.labels ?? {}), [[key, null]]);
    });
  });
}
