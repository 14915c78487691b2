/** kubectl 1.20, which reads OpenAPI v2 alone: it explains, validates and compares with the protobuf document. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { forEachKubectl, OLD_KUBECTL } from '../../harness/clients/each-kubectl.js';

function daemonSet(change: (text: string) => string = (text) => text): string {
  return change(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: NAME, namespace: default}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers:
        - name: main
          image: web:1
          ports: [{name: http, containerPort: 80}]
          resources: {limits: {cpu: 1, memory: 64Mi}, requests: {cpu: "0.5"}}
          livenessProbe: {httpGet: {port: http}}
          readinessProbe: {tcpSocket: {port: 80}}
  updateStrategy: {rollingUpdate: {maxUnavailable: 10%, maxSurge: 0}}
`);
}

/** Arguments of explain, and a pattern that its output must match. */
const EXPLAINED: [string, RegExp][] = [
  ['ds', /KIND: +DaemonSet\nVERSION: +apps\/v1\n.*Keeps one pod of a template.*\n {3}spec\t<Object>/s],
  ['ds.spec.updateStrategy.rollingUpdate.maxSurge', /FIELD: +maxSurge <string>/],
  ['daemonset.spec --recursive', /\n {3}template\t<Object>\n.*\n +imagePullPolicy\t<string>\n/s],
  ['pod.spec.containers.resources.limits', /FIELD: +limits <map\[string\]string>/],
  ['node.status.conditions', /RESOURCE: conditions <\[\]Object>/],
  ['rolloutpolicy.spec', /KIND: +RolloutPolicy\nVERSION: +fleet\.everynode\.dev\/v1/],
  ['statefulset', /KIND: +StatefulSet\n.*Everynode does not support StatefulSets/s],
];

/** Mistakes in a manifest, and the part of the message that names it. */
const MISTAKES: [from: string, to: string, message: RegExp][] = [
  [
    'image:',
    'imagee:',
    /spec\.containers\[0\]\): unknown field "imagee" in io\.k8s\.api\.core\.v1\.Container/,
  ],
  ['  template:', '  tempalte:', /unknown field "tempalte" in io\.k8s\.api\.apps\.v1\.DaemonSetSpec/],
  [
    'containerPort: 80',
    'containerPort: http',
    /invalid type for .*ContainerPort\.containerPort: got "string"/,
  ],
  ['selector:', 'selectors:', /missing required field "selector" in io\.k8s\.api\.apps\.v1\.DaemonSetSpec/],
];

forEachKubectl(
  'OpenAPI v2',
  (fixture) => {
    for (const [words, printed] of EXPLAINED) {
      test(`explain ${words}`, async () => {
        assert.match(await fixture.kubectl.ok(`explain ${words}`), printed);
      });
    }

    for (const verb of ['apply', 'create --validate=true']) {
      for (const [from, to, message] of MISTAKES) {
        test(`${verb} names ${to} before it sends the object`, async () => {
          const text = daemonSet((all) => all.replace('NAME', 'wrong').replace(from, to));
          const { code, stderr } = await fixture.kubectl.run([...verb.split(' '), '-f', '-'], text);
          assert.equal(code, 1);
          assert.match(stderr, message);
          assert.equal((await fixture.kubectl.run(['get', 'ds', 'wrong'])).code, 1);
        });
      }
    }

    test('apply accepts strings and numbers where both are valid, and diff compares by a dry run', async () => {
      const file = join(fixture.kubectl.home, 'right.yaml');
      writeFileSync(
        file,
        daemonSet((text) => text.replace('NAME', 'right')),
      );
      assert.equal(await fixture.kubectl.ok(`apply -f ${file}`), 'daemonset.apps/right created');
      assert.equal(await fixture.kubectl.ok(`diff -f ${file}`), '');
      const dryRun = await fixture.kubectl.ok(`apply --dry-run=server -f ${file}`);
      assert.equal(dryRun, 'daemonset.apps/right unchanged (server dry run)');
      await fixture.kubectl.ok('set image ds/right main=web:2');
      const { code, stdout } = await fixture.kubectl.run(['diff', '-f', file]);
      assert.equal(code, 1);
      assert.match(stdout, /^-.*image: web:2\n\+.*image: web:1$/m);
    });

    test('a List of two kinds is validated item by item', async () => {
      const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: in-list}\ndata: {a: b}';
      const items = [map, map.replace('\ndata:', '\ndatta:').replace('in-list', 'wrong')];
      const list = `apiVersion: v1\nkind: List\nitems:\n${items.map((item) => `- ${item.replaceAll('\n', '\n  ')}`).join('\n')}\n`;
      const { code, stderr } = await fixture.kubectl.run(['apply', '-f', '-'], list);
      assert.equal(code, 1);
      assert.match(stderr, /unknown field "datta" in io\.k8s\.api\.core\.v1\.ConfigMap/);
    });
  },
  {},
  [OLD_KUBECTL],
);
