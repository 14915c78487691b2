/** The API accepts DaemonSets in the shape of widely used charts and warns once about each field without effect. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { forEachKubectl } from '../harness/clients/each-kubectl.js';

/** Path from `dist/test/clients` to the sources: the compiler does not copy YAML. */
const SHAPES = new URL('../../../test/fixtures/chart-shapes.yaml', import.meta.url);

/** Fields that the warnings name, below `spec.template.spec`. */
const WITHOUT_EFFECT: Readonly<Record<string, readonly string[]>> = {
  'device-plugin': ['runtimeClassName'],
};

forEachKubectl('DaemonSets in the shape of charts', (fixture) => {
  for (const text of readFileSync(SHAPES, 'utf8').split('\n---\n')) {
    const name = /metadata: \{name: ([\w-]+)\}/.exec(text)?.[1] ?? '';
    test(`${name} is applied, and warnings name its fields without effect`, async () => {
      const { code, stdout, stderr } = await fixture.kubectl.run(['apply', '-f', '-'], text);
      assert.equal(code, 0, stderr);
      assert.equal(stdout, `daemonset.apps/${name} created\n`);
      const named = [...stderr.matchAll(/^Warning: spec\.template\.spec\.(\S+): stored, but/gm)];
      assert.deepEqual(
        named.map(([, field]) => field),
        WITHOUT_EFFECT[name] ?? [],
      );
    });
  }
});
