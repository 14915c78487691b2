import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { HistoryBudget } from '../../../coordinator/store/log/history-retention.js';

const MAX_BYTES = 100_000;

describe('history budget', () => {
  test('nothing is compacted while history is within bounds', () => {
    const budget = new HistoryBudget(MAX_BYTES);
    for (let revision = 1; revision <= 40; revision += 1) budget.add(revision, 2_000);
    assert.equal(budget.excess, undefined);
  });

  test('creations count as history too: they have no earlier value, but a row', () => {
    const budget = new HistoryBudget(MAX_BYTES);
    for (let revision = 1; revision <= 10_000; revision += 1) budget.add(revision, 0);
    assert.ok(budget.excess);
  });

  test('compacted changes do not count any more', () => {
    const budget = new HistoryBudget(MAX_BYTES);
    for (let revision = 1; revision <= 100; revision += 1) budget.add(revision, 2_000);
    budget.forget(100);
    assert.equal(budget.excess, undefined);
  });

  test('for any changes as much history is kept as fits, within a sixteenth and one change', () => {
    const changes = fc.array(fc.nat(20_000), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(changes, (sizes) => {
        const budget = new HistoryBudget(MAX_BYTES);
        let forgotten = 0;
        for (const [index, bytes] of sizes.entries()) {
          budget.add(index + 1, bytes);
          const upTo = budget.excess;
          if (upTo === undefined) continue;
          assert.ok(upTo > forgotten && upTo <= index + 1);
          forgotten = upTo;
          budget.forget(upTo);
          assert.equal(budget.excess, undefined);
        }
        const kept = sizes.slice(forgotten).reduce((sum, bytes) => sum + bytes + 160, 0);
        assert.ok(kept <= MAX_BYTES);
        if (forgotten > 0) assert.ok(kept >= MAX_BYTES - MAX_BYTES / 16 - 2 * 20_160);
      }),
    );
  });
});
