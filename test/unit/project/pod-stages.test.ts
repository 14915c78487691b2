/** The table of `npm run bench -- stages` counts functions by name: a renamed function would count as zero. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { callsPerPod, POD_STAGES } from '../../bench/stages/pod-stages.js';

const ROOT = new URL('../../../', import.meta.url);

for (const { name, functions } of POD_STAGES) {
  test(`the stage "${name}" counts functions that exist`, () => {
    for (const each of functions.filter((counted) => counted.includes('#'))) {
      const [file = '', ...rest] = each.split('#');
      // A private method has its own `#` before its name.
      const called = rest.join('#');
      const source = readFileSync(new URL(file, ROOT), 'utf8');
      const declarations = [
        `function ${called}(`,
        `\n    ${called}(`,
        `\n    async ${called}(`,
        `const ${called} = (`,
      ];
      assert.ok(
        declarations.some((declaration) => source.includes(declaration)),
        `${each} is declared`,
      );
    }
  });
}

test('the calls of all functions of a stage are added and divided by the Pods', () => {
  const stage = { name: 'rows', functions: ['a.js#one', 'b.js#two', 'c.js#never'] };
  assert.equal(callsPerPod(stage, { 'a.js#one': 6, 'b.js#two': 2 }, 4), 2);
});
