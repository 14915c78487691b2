/** Equal parts of cached objects are one object in memory. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { sharingEqualParts, withKnownParts } from '../../../coordinator/informers/equal-parts.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ownText } from '../../../shared/kube/objects/own-text.js';
import { nodeObject } from '../../harness/objects/object-builders.js';

const MIB = 1_048_576;
/** Few names and values, so that equal parts are frequent. Includes members that are `undefined`. */
const { tree: TREE } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      undefined,
      null,
      true,
      0,
      1,
      '',
      'a',
      'a longer text of a frame',
      'ä \ud800 lone surrogate',
    ),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'toString'), tie('tree'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}));

describe('a value with the equal parts of a known one', () => {
  test('is the same value, and neither argument changes', () => {
    fc.assert(
      fc.property(TREE, TREE, (value, known) => {
        const before = structuredClone([value, known]);
        const text = JSON.stringify(value);
        const shared = withKnownParts(value, known);
        assert.deepStrictEqual(shared, value);
        assert.equal(JSON.stringify(shared), text, 'with its members in the same order');
        assert.deepStrictEqual([value, known], before);
      }),
      { numRuns: 2_000 },
    );
  });

  test('is the known one if it is equal', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), TREE, { noNullPrototype: true }), (known) => {
        assert.equal(withKnownParts(structuredClone(known), known), known);
      }),
    );
  });
});

test('nodes with equal capacity share it, and keep their own names and times', () => {
  const share = sharingEqualParts<Node>();
  const node = (name: string, time: string): Node => ({
    ...nodeObject(name),
    status: {
      capacity: { cpu: '4', memory: '8Gi' },
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time }],
    },
  });
  const one = share(node('n1', '2026-01-01T00:00:00Z'));
  const [plain, other] = [node('n2', '2026-01-01T00:00:05Z'), node('n2', '2026-01-01T00:00:05Z')];
  const { metadata } = other;
  assert.equal(share(other), other);
  assert.deepStrictEqual(other, plain);
  assert.equal(other.status?.capacity, one.status?.capacity);
  assert.equal(other.metadata, metadata, 'the store sets the revision in this object');
});

test('a part of a long text does not keep the text in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const kept = Array.from({ length: 50 }, (_, index) => {
    const frame: string = JSON.parse(`"${index} is in a frame;${'x'.repeat(MIB)}"`);
    return ownText(frame.slice(0, 16));
  });
  collect();
  assert.equal(kept[7], '7 is in a frame;');
  assert.ok(process.memoryUsage().heapUsed < 40 * MIB, `${process.memoryUsage().heapUsed}`);
});
