/** Runs the history of a seed: one of a mix, or one of coordinators without agents. */
import { createHash } from 'node:crypto';
import { runCoordinators } from '../coordinators/run-coordinators.js';
import { generateHistory } from '../histories/draw-history.js';
import { MIXES, type MixName } from '../histories/history-mixes.js';
import { emptyEventCounts } from './event-counts.js';
import { type HistoryOutcome, runHistory } from './run-history.js';

/** A mix, or `coordinators`: several coordinators without agents. */
export type RunName = MixName | 'coordinators';
export const RUN_NAMES: readonly string[] = [...Object.keys(MIXES), 'coordinators'];

export async function runSeed(seed: string, name: RunName): Promise<HistoryOutcome> {
  if (name !== 'coordinators') return runHistory(generateHistory(seed, MIXES[name]));
  const { violation, lines, counts, simulatedMs } = await runCoordinators(seed);
  return {
    ...(violation !== undefined && { violation }),
    digest: createHash('sha256').update(lines.join('\n')).digest('hex'),
    lines,
    tallies: { ...emptyEventCounts(), events: Object.fromEntries(counts) },
    ...{ frames: 0, framesLost: 0, simulatedMs },
  };
}
