/** Packing for the worker thread does not change the data. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { packCommit, unpackCommit } from '../../../coordinator/store/log/packed-commit.js';

const WRITE = fc.record({
  key: fc.string({ minLength: 1 }),
  text: fc.option(fc.string(), { nil: undefined }),
  isNew: fc.boolean(),
});

test('keys, values, deletions and revisions are unchanged by packing', () => {
  fc.assert(
    fc.property(fc.array(WRITE, { minLength: 1 }), fc.nat(), (writes, before) => {
      const changes = writes.map(({ key, text, isNew }, index) => ({
        key,
        revision: before + 1 + index,
        ...(text !== undefined && { value: Buffer.from(text) }),
        ...(!isNew && { previous: { key, value: Buffer.from('old'), revision: 0 } }),
      }));
      const unpacked = [...unpackCommit(structuredClone(packCommit(changes)))];
      assert.deepEqual(
        unpacked.map(({ value, ...rest }) => ({ ...rest, text: value?.toString() })),
        writes.map(({ key, text, isNew }, index) => ({ key, revision: before + 1 + index, isNew, text })),
      );
    }),
  );
});
