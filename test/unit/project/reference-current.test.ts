/** docs/reference/ is what the source says: a page that is out of date misleads readers. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FEATURES } from '../../../shared/link/link-features.js';
import { referencePages } from '../../reference/reference-pages.js';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..');
const FOLDER = join(ROOT, 'docs/reference');
const pages = referencePages(ROOT);

test('docs/reference has exactly the generated pages', () => {
  assert.deepEqual(readdirSync(FOLDER).sort(), [...pages.keys()].sort());
});

for (const [name, text] of pages) {
  test(`docs/reference/${name} is current; if not, run npm run reference`, () => {
    assert.equal(readFileSync(join(FOLDER, name), 'utf8'), text);
  });
}

test('every feature that docs/reference/link-protocol.md names exists in this build', () => {
  const named = [...(pages.get('link-protocol.md') ?? '').matchAll(/\bfeature `(\w+)`/gi)];
  assert.ok(named.length > 0);
  const unknown = named.flatMap(([, feature = '']) => (FEATURES.includes(feature) ? [] : [feature]));
  assert.deepEqual(unknown, []);
});
