/** Runs rounds one after another on one fleet. */

import { ChaosFleet, type FleetOptions } from './chaos-fleet.js';
import { IMAGES, OF_CLOCKS, OF_WHOLE_HOSTS, planOf } from './chaos-plan.js';
import { playRound } from './chaos-round.js';
import { fakeTimeLibrary } from './libfaketime-clock.js';
import { RequestedState } from './requested-state.js';
import { FaultTable, summarizeRound } from './round-summary.js';

export interface RoundsOptions extends FleetOptions {
  seed: string;
  rounds: number;
  /** No round starts after this time, ms. */
  longestMs: number;
  timeoutMs: number;
  /** True if no further round is needed. */
  isEnough?: () => boolean;
  print: (line: string) => void;
}

/**
 * Runs all rounds, or stops after the first failed one. Resolves with the reason if this machine cannot run such hosts.
 */
export async function playRounds(options: RoundsOptions): Promise<FaultTable | string> {
  const {
    seed,
    rounds,
    longestMs,
    timeoutMs: patienceMs,
    print: say,
    hosts,
    isPlain,
    isEnough = () => false,
  } = options;
  const fleet = await ChaosFleet.open(options);
  if (typeof fleet === 'string') return fleet;
  const tally = new FaultTable();
  try {
    const names = fleet.hosts.map(({ name }) => name);
    const book = new RequestedState(fleet.api, names);
    await book.carryOut({
      kind: 'set daemonset',
      name: 'alpha',
      image: IMAGES[0],
      zone: null,
      surges: false,
    });
    const end = performance.now() + longestMs;
    const without = [...(isPlain ? OF_WHOLE_HOSTS : []), ...(fakeTimeLibrary() ? [] : OF_CLOCKS)];
    for (let number = 1; number <= rounds && performance.now() < end && !isEnough(); number += 1) {
      const steps = planOf(seed, number, { hosts, without });
      const outcome = await playRound({ fleet, requestedState: book, steps, timeoutMs: patienceMs });
      tally.add(outcome);
      say(summarizeRound(number, steps, outcome));
      if (outcome.violations.length === 0) continue;
      say(await fleet.lastLogLines());
      break;
    }
    return tally;
  } finally {
    await fleet.close();
  }
}
