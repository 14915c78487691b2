/** How many histories of each mix the tests run. `npm run simulation` runs as many as requested. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateHistory } from '../histories/draw-history.js';
import { MIXES, type MixName } from '../histories/history-mixes.js';
import { formatFailure } from './failure-report.js';
import { runHistory } from './run-history.js';

/** Histories in `npm test`, and those that `npm run extended` adds. */
const SHARES: Partial<Record<MixName, readonly [short: number, further: number]>> = {
  all: [7, 8],
  priorities: [3, 2],
  rollouts: [5, 5],
  deletions: [4, 6],
  clocks: [3, 2],
  restores: [3, 2],
  waves: [5, 5],
  turns: [3, 2],
  pressure: [2, 3],
  hosts: [4, 6],
  zones: [3, 2],
  calm: [2, 3],
  holds: [2, 1],
  reverts: [2, 2],
  darkness: [2, 1],
  values: [4, 4],
  jobs: [10, 10],
};

/** Defines a test for each mix. The further histories have the numbers after those of the short run. */
export function historiesOfMixes(title: string, which: 'short' | 'further'): void {
  describe(title, () => {
    for (const [mix, [short, further]] of Object.entries(SHARES) as [MixName, [number, number]][]) {
      const [first, count] = which === 'short' ? [1, short] : [short + 1, further];
      test(`${count} histories of the mix ${mix} break no rule`, async () => {
        for (let number = first; number < first + count; number++) {
          const history = generateHistory(`${mix}-${number}`, MIXES[mix]);
          const outcome = await runHistory(history);
          assert.equal(outcome.violation, undefined, formatFailure(history, outcome));
        }
      });
    }
  });
}
