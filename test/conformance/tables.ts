/** Which adapter runs which file: adding a table is a line here. */
import { DAEMON_ELIGIBILITY } from './daemon-eligibility.js';
import { NODE_AFFINITY } from './node-affinity.js';
import { ROLLING_UPDATE } from './rolling-update.js';
import { SCENARIOS } from './scenarios.js';
import type { Table } from './table.js';
import { TAINT_EVICTION } from './taint-eviction.js';
import { TOLERATIONS } from './tolerations.js';
import { VALIDATION } from './validation.js';

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
