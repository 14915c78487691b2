/** The input of an action, and the result of its command. */
import type { ApiAnswer } from '../../harness/api/coordinator-api.js';
import type { ConformanceFleet } from './conformance-fleet.js';

/** `set` is the first created set, until a step names another one. */
export interface ActionContext {
  fleet: ConformanceFleet;
  set: string;
  parameters: Record<string, unknown>;
}

/** Input for the expectations about the command. */
export interface ActionOutcome {
  /** The set that the step names. */
  set?: string;
  exitCode?: number;
  /** stdout and stderr together. */
  output?: string;
  /** Response of a request that was not sent by kubectl. */
  answer?: ApiAnswer;
  /** Status code of a GET right after the response of a DELETE. */
  getAfterDelete?: number;
  /** Number of items that a list command printed. */
  listed?: number;
}
