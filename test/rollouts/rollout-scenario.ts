/** What a scenario of a rollout is, and what it yields. */
import type { ScenarioFleet } from './scenario-fleet.js';

export interface Scenario {
  name: string;
  /** Of the table of what users of other systems complain of. */
  rows?: readonly number[];
  /** Too long for every run of the tests. */
  isLong?: boolean;
  /** Throws where a rule is broken. */
  play(stage: ScenarioFleet): Promise<ScenarioOutcome>;
}

export interface ScenarioOutcome {
  /** How the rollout stood at last. */
  phase: string;
  /** Hosts that have ever run the bad release; absent: there was none. */
  hostsWithBadRelease?: number;
  /** How many may have. */
  maxHostsWithBadRelease?: number;
  /** From the release to its end, against what the policy's own limits ask for, ms. */
  duration?: { ms: number; floorMs: number };
}

/** Whether no more hosts than allowed ever ran the bad release. */
export function isContained({
  hostsWithBadRelease: ranBad = 0,
  maxHostsWithBadRelease: mostBad = 0,
}: ScenarioOutcome): boolean {
  return ranBad <= mostBad;
}
