/** scenarios.json: end to end, through the API, real kubectl and hollow agents. */

import type { Scenario } from '../scenarios/conformance-scenario.js';
import { runScenario } from '../scenarios/run-scenario.js';
import type { Table } from './conformance-table.js';

/** Adapter of scenarios.json. Cases wait for real grace periods, so several run concurrently. */
export const SCENARIOS: Table = {
  concurrency: 6,
  open: async () => ({
    run: (testCase) => runScenario(testCase as Scenario),
    close: async () => undefined,
  }),
};
