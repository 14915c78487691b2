/** What an action is given, and what its command answered. */
import type { ApiAnswer } from '../../harness/api/coordinator-api.js';
import type { ConformanceFleet } from './conformance-fleet.js';

/** `set` is the first one created, until the step names another. */
export interface ActionContext {
  fleet: ConformanceFleet;
  set: string;
  parameters: Record<string, unknown>;
}

/** For the expectations that look at it. */
export interface ActionOutcome {
  /** The set that the step names. */
  set?: string;
  exitCode?: number;
  /** stdout and stderr together. */
  output?: string;
  /** Of a request that was not kubectl's. */
  answer?: ApiAnswer;
  /** Code of a GET right after a DELETE's answer. */
  getAfterDelete?: number;
  /** Items that a list command printed. */
  listed?: number;
}
