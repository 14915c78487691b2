/**
 * The rules under load with a fleet that is small enough for CI; `npm run load` checks them with ten thousand hosts.
 */
import { test } from 'node:test';
import { withFleets } from './hollow/measure-hollow.js';
import { checkRulesUnderLoad } from './rules/rules-under-load.js';

const AGENTS = 300;

test('under load small requests are served, no heartbeat is missed, memory is bounded and a kill loses no acknowledged write', (context) =>
  withFleets(AGENTS, (_, product) => checkRulesUnderLoad(product, (what) => context.diagnostic(what))));
