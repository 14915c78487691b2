/** `kubectl explain`, old and new: types from the schemas, and Everynode's own descriptions where they exist. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachKubectl } from '../../harness/clients/each-kubectl.js';

/** Arguments of the command, and a pattern that its output must match. */
const CASES: [string, RegExp][] = [
  ['ds', /GROUP: +apps\nKIND: +DaemonSet\nVERSION: +v1\n.*Keeps one pod of a template/s],
  ['ds', /\n {2}spec\t<DaemonSetSpec>\n {4}What is wanted\./],
  [
    'ds.spec.updateStrategy',
    /FIELD: updateStrategy <DaemonSetUpdateStrategy>.*rollingUpdate\t<RollingUpdateDaemonSet>/s,
  ],
  ['ds.spec.updateStrategy.rollingUpdate.maxSurge', /FIELD: maxSurge <IntOrString>.*at the same\s+time/s],
  ['ds.spec', /selector\t<LabelSelector> -required-/],
  ['node.status', /FIELD: status <NodeStatus>.*conditions\t<\[\]NodeCondition>.*Connected/s],
  ['node.spec.taints', /FIELD: taints <\[\]Taint>.*NoExecute/s],
  ['ds.metadata', /FIELD: metadata <ObjectMeta>.*ownerReferences\t<\[\]OwnerReference>/s],
  ['ds --recursive', /template\t<PodTemplateSpec> -required-.*imagePullPolicy\t<string>/s],
  ['node --recursive', /nodeInfo\t<NodeSystemInfo>\n {6}architecture\t<string>/],
  ['pod.spec.containers', /image\t<string>/],
];

/** Objects with fields that have a description and a type that has one too. */
const DESCRIBED_TWICE = ['ds.spec.updateStrategy', 'ds.metadata', 'node.spec', 'node.status.nodeInfo'];

forEachKubectl('explain', (fixture) => {
  for (const field of DESCRIBED_TWICE) {
    test(`explain ${field} prints no line of a description twice`, async () => {
      const [, text = ''] =
        /DESCRIPTION:\n(.*?)\nFIELDS:/s.exec(await fixture.kubectl.ok(`explain ${field}`)) ?? [];
      const lines = text.split('\n').filter((line) => line.trim());
      assert.notEqual(lines.length, 0);
      assert.deepEqual(lines, [...new Set(lines)]);
    });
  }
  for (const [words, printed] of CASES) {
    test(`explain ${words} prints ${printed.source.slice(0, 40)}`, async () => {
      assert.match(await fixture.kubectl.ok(`explain ${words}`), printed);
    });
  }
});
