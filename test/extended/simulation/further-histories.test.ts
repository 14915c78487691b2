/** Histories of each mix after those of `npm test`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCoordinators } from '../../simulation/coordinators/run-coordinators.js';
import { historiesOfMixes } from '../../simulation/runs/short-mixes.js';

/** `npm test` runs those before. */
const FIRST = 13;
const LAST = 25;

historiesOfMixes('further histories', 'further');

test(`${LAST - FIRST + 1} further histories of three coordinators break no rule`, async () => {
  for (let number = FIRST; number <= LAST; number++) {
    const { violation } = await runCoordinators(`coordinators-${number}`);
    assert.equal(violation, undefined, `coordinators-${number}`);
  }
});
