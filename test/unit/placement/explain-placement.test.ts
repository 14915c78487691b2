import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlacementSpec } from '../../../coordinator/decisions/placement/placement.js';
import { explainPlacement } from '../../../coordinator/decisions/placement/placement-explanation.js';
import { nodeObject } from '../../harness/objects/object-builders.js';

/** Returns `NodeName: detail` of each rule, with `!` before failed ones. */
function outcomes(spec: PlacementSpec, node = nodeObject('n1')): string[] {
  return explainPlacement(node, spec).map(
    ({ rule, passed, detail }) => `${passed ? '' : '!'}${rule}: ${detail}`,
  );
}

test('a template without constraints passes every rule', () => {
  assert.deepEqual(outcomes({}), [
    'NodeName: the template names no node',
    'NodeSelector: the template has no node selector',
    'NodeAffinity: the template has no required node affinity',
    'Taints: the node has no taint that rejects Pods',
  ]);
});

test('rules after the first failing one are reported too', () => {
  const taints = [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' as const }];
  const node = nodeObject('n1', { labels: { disk: 'hdd' }, taints });
  const term = { matchExpressions: [{ key: 'zone', operator: 'Exists' }] };
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
  };
  assert.deepEqual(outcomes({ nodeName: 'n2', nodeSelector: { disk: 'ssd', rack: '1' }, affinity }, node), [
    '!NodeName: the template names node n2',
    '!NodeSelector: the node selector requires disk=ssd (the node has disk=hdd), rack=1 (the node has no label rack)',
    '!NodeAffinity: the required node affinity requires zone Exists',
    '!Taints: untolerated taint gpu=yes:NoSchedule',
  ]);
});

test('constraints that are met are named', () => {
  const node = nodeObject('n1', {
    labels: { disk: 'ssd' },
    taints: [{ key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' }],
  });
  assert.deepEqual(outcomes({ nodeName: 'n1', nodeSelector: { disk: 'ssd' } }, node).slice(0, 2), [
    'NodeName: the template names this node',
    'NodeSelector: the node has disk=ssd',
  ]);
  assert.deepEqual(
    outcomes({}, node).at(-1),
    'Taints: tolerated: node.kubernetes.io/disk-pressure:NoSchedule',
  );
});

test('an affinity without terms matches no node, and the message says so', () => {
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
  };
  assert.match(outcomes({ affinity })[2] ?? '', /^!NodeAffinity: .*it has no terms$/);
});
