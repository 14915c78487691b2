/** A scenario of a rollout, and its outcome. */
import type { ScenarioFleet } from './scenario-fleet.js';

export interface Scenario {
  name: string;
  /** Rows in the table of complaints by users of other systems. */
  rows?: readonly number[];
  /** True if the scenario takes too long for a regular test run. */
  isLong?: boolean;
  /** Throws if a rule is broken. */
  play(stage: ScenarioFleet): Promise<ScenarioOutcome>;
}

export interface ScenarioOutcome {
  /** Last phase of the rollout. */
  phase: string;
  /** Number of hosts that ever ran the bad release; undefined if there was none. */
  hostsWithBadRelease?: number;
  /** Allowed maximum of `hostsWithBadRelease`. */
  maxHostsWithBadRelease?: number;
  /** Time from the start of the release to its end, and the minimum that the policy implies, ms. */
  duration?: { ms: number; floorMs: number };
}

/** True if at most the allowed number of hosts ever ran the bad release. */
export function isContained({
  hostsWithBadRelease: ranBad = 0,
  maxHostsWithBadRelease: mostBad = 0,
}: ScenarioOutcome): boolean {
  return ranBad <= mostBad;
}
