/** Placement compared with a naive implementation of the rules, over random nodes and templates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compilePlacement, placementOf } from '../../../coordinator/decisions/placement/placement.js';
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';

const KEYS = fc.constantFrom('a', 'b', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/unschedulable');
const VALUES = fc.constantFrom('', 'x', 'y');
const EFFECTS = fc.constantFrom<Taint['effect']>('NoSchedule', 'PreferNoSchedule', 'NoExecute');
const TAINT = fc.record({ key: KEYS, value: VALUES, effect: EFFECTS });
const TOLERATION = fc.record(
  { key: KEYS, operator: fc.constantFrom('Exists', 'Equal'), value: VALUES, effect: EFFECTS },
  { requiredKeys: [] },
);
const LABELS = fc.dictionary(fc.constantFrom('color', 'disk'), fc.constantFrom('red', 'ssd'), { maxKeys: 2 });
const NODE = fc.record({
  metadata: fc.record({ name: fc.constantFrom('n1', 'n2'), labels: LABELS }),
  spec: fc.record({ taints: fc.array(TAINT, { maxLength: 3 }) }),
});
const SPEC = fc.record(
  { nodeName: fc.constant('n1'), nodeSelector: LABELS, tolerations: fc.array(TOLERATION, { maxLength: 3 }) },
  { requiredKeys: [] },
);

/** Taints that every DaemonSet Pod tolerates, read from the text of the rules. */
function bearsByItself(taint: Taint): boolean {
  return (
    (taint.key === 'node.kubernetes.io/not-ready' && taint.effect === 'NoExecute') ||
    (taint.key === 'node.kubernetes.io/unschedulable' && taint.effect === 'NoSchedule')
  );
}

function bears(toleration: Toleration, taint: Taint): boolean {
  const keyFits = !toleration.key || toleration.key === taint.key;
  const effectFits = !toleration.effect || toleration.effect === taint.effect;
  const valueFits = toleration.operator === 'Exists' || (toleration.value ?? '') === taint.value;
  return keyFits && effectFits && valueFits;
}

test('a node may run the Pod exactly when name, labels and every hard taint allow it', () => {
  fc.assert(
    fc.property(NODE, SPEC, (node, spec) => {
      const template = spec as Omit<PodSpec, 'containers'>;
      const fits =
        (!template.nodeName || template.nodeName === node.metadata.name) &&
        Object.entries(template.nodeSelector ?? {}).every(
          ([key, value]) => node.metadata.labels[key] === value,
        );
      const repelling = node.spec.taints.filter(
        (taint) => !bearsByItself(taint) && !(template.tolerations ?? []).some((one) => bears(one, taint)),
      );
      const placement = placementOf(node, template);
      const { shouldRun, shouldContinueRunning } = placement;
      assert.deepEqual(compilePlacement(template)(node), { shouldRun, shouldContinueRunning });
      const hard = repelling.filter(({ effect }) => effect !== 'PreferNoSchedule');
      assert.equal(placement.shouldRun, fits && hard.length === 0);
      assert.equal(
        placement.shouldContinueRunning,
        fits && !repelling.some(({ effect }) => effect === 'NoExecute'),
      );
    }),
  );
});

test('a rejection names the blocking taint', () => {
  const node = {
    metadata: { name: 'n1' },
    spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' as const }] },
  };
  assert.deepEqual(placementOf(node, {}), {
    shouldRun: false,
    shouldContinueRunning: true,
    rule: 'Taints',
    reason: 'untolerated taint gpu=yes:NoSchedule',
  });
});
