/** One thread of `npm run simulation`: runs histories by their seeds, one after another; one that breaks is shortened and told there. */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { historyOf } from './draw.js';
import { MIXES, type MixName } from './mixes.js';
import { type Outcome, runHistory } from './run-history.js';
import { shrink } from './shrink.js';
import { story } from './story.js';

const SHRINKING_TRIES = 80;
/** Most of what a history makes is soon garbage: with more room for what is new, less of it is ever moved. */
const YOUNG_MB = 64;

/** What became of a history; `told` is the story of one that broke, as short as it gets. */
export interface HistoryResult extends Omit<Outcome, 'lines'> {
  seed: string;
  told?: string;
}

export class HistoryThread {
  readonly #worker: Worker;

  constructor(mix: MixName) {
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB };
    this.#worker = new Worker(new URL(import.meta.url), { workerData: mix, resourceLimits });
  }

  /** One at a time. Rejects when the thread dies of it. */
  async run(seed: string): Promise<HistoryResult> {
    this.#worker.postMessage(seed);
    const [result] = (await once(this.#worker, 'message')) as [HistoryResult];
    return result;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

async function resultOf(seed: string, mix: MixName): Promise<HistoryResult> {
  const { lines: _, ...outcome } = await runHistory(historyOf(seed, MIXES[mix]));
  const { violation } = outcome;
  return { seed, ...outcome, ...(violation !== undefined && { told: await tell(seed, mix, violation) }) };
}

async function tell(seed: string, mix: MixName, violation: string): Promise<string> {
  const [rule = ''] = violation.split(':');
  const failsAlike = async (candidate: ReturnType<typeof historyOf>) =>
    (await runHistory(candidate)).violation?.startsWith(rule) ?? false;
  const short = await shrink(historyOf(seed, MIXES[mix]), failsAlike, SHRINKING_TRIES);
  return story(short, await runHistory(short));
}

if (!isMainThread) {
  const mix = workerData as MixName;
  parentPort?.on('message', async (seed: string) => parentPort?.postMessage(await resultOf(seed, mix)));
}
