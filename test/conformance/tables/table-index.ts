/** The adapter of each file: a new table needs one line here. */

import type { Table } from './conformance-table.js';
import { DAEMON_ELIGIBILITY } from './daemon-eligibility-table.js';
import { NODE_AFFINITY } from './node-affinity-table.js';
import { ROLLING_UPDATE } from './rolling-update-table.js';
import { SCENARIOS } from './scenarios-table.js';
import { TAINT_EVICTION } from './taint-eviction-table.js';
import { TOLERATIONS } from './tolerations-table.js';
import { VALIDATION } from './validation-table.js';

/** By the file's name without `.json`. */
export const TABLES: Readonly<Record<string, Table>> = {
  tolerations: TOLERATIONS,
  'node-affinity': NODE_AFFINITY,
  'daemon-eligibility': DAEMON_ELIGIBILITY,
  'rolling-update': ROLLING_UPDATE,
  'taint-eviction': TAINT_EVICTION,
  scenarios: SCENARIOS,
  validation: VALIDATION,
};
