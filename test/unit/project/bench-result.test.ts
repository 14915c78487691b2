/** Verdicts of the benchmark: medians over pairs, goals, and their format. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { judge, median, percentile, type Result } from '../../bench/bench-result.js';
import { line, markdown, TABLE_BEGIN, TABLE_END } from '../../bench/bench-table.js';
import { pairs } from '../../bench/paired-runs.js';

const RESULT: Result = { section: 'parts', name: 'a change', unit: 'ms', floor: [], product: [] };

test('the ratio is the median over pairs, so a slow minute for both sides does not change it', () => {
  const floor = [10, 10, 100, 10, 10];
  const product = floor.map((value) => value * 1.2);
  const verdict = judge({ ...RESULT, floor, product, goal: { kind: 'ratio', most: 1.25 } });
  assert.equal(verdict.ratio, 1.2);
  assert.equal(verdict.met, true);
});

test('a difference is judged over pairs too', () => {
  const result: Result = { ...RESULT, floor: [100, 300, 200], product: [110, 330, 212] };
  assert.equal(judge(result).difference, 12);
  assert.equal(judge({ ...result, goal: { kind: 'difference', most: 11 } }).met, false);
  assert.equal(judge({ ...result, goal: { kind: 'difference', most: 11 } }, 1.5).met, true);
});

test('a goal without a measurement is not met', () => {
  assert.equal(judge({ ...RESULT, goal: { kind: 'product', most: 5 } }).met, false);
  assert.equal(judge({ ...RESULT, product: [1], goal: { kind: 'ratio', most: 5 } }).met, false);
});

test('percentiles are interpolated between neighbours', () => {
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.equal(percentile([1, 2, 3, 4, 5], 1), 5);
});

test('floor and product alternate in starting, and the first round does not count', async () => {
  const order: string[] = [];
  const run = (name: string) => () => order.push(name);
  const values = await pairs(2, run('floor'), run('product'));
  assert.deepEqual(order, ['floor', 'product', 'product', 'floor', 'floor', 'product']);
  assert.deepEqual(values, { floor: [4, 5], product: [3, 6] });
});

test('a line and a row of the table show figures, goal and verdict', () => {
  const goal = { kind: 'ratio', most: 1.5 } as const;
  const result: Result = { ...RESULT, number: '7', floor: [2], product: [4], goal };
  assert.equal(
    line(result),
    '  7 a change: floor 2.00, product 4.00 ms = 2.00× · goal ≤ 1.5× · NOT met [n=1]',
  );
  assert.match(
    markdown([result]),
    /\| 7 \| parts \| a change, ms \| 2.00 \| 4.00 \| – \| 2.00× \| ≤ 1.5× \| NOT met \| 1 \|/,
  );
});

test('docs/benchmarks.md has a place for the table', () => {
  const document = readFileSync(new URL('../../../../docs/benchmarks.md', import.meta.url), 'utf8');
  assert.ok(document.indexOf(TABLE_BEGIN) > 0 && document.indexOf(TABLE_END) > document.indexOf(TABLE_BEGIN));
});
