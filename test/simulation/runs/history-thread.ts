/**
 * One thread of `npm run simulation`: runs histories by seed, one after another, and shortens and reports a failing
 * history.
 */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { generateHistory } from '../histories/draw-history.js';
import { MIXES, type MixName } from '../histories/history-mixes.js';
import { shrink } from '../histories/shrink-history.js';
import { formatFailure } from './failure-report.js';
import { type HistoryOutcome, runHistory } from './run-history.js';
import { type RunName, runSeed } from './run-seed.js';

const SHRINKING_TRIES = 80;
/** Limit for a history and its shortening, which take seconds and minutes. */
const LIMIT_MS = 30 * 60_000;
/** Most of what a history makes is soon garbage: with more room for what is new, less of it is ever moved. */
const YOUNG_MB = 64;

/** The result of a history. */
export interface HistoryResult extends Omit<HistoryOutcome, 'lines'> {
  seed: string;
  /** Of one that broke. */
  shortened?: Shortened;
}

/** As short as it gets. */
interface Shortened {
  story: string;
  /** Run time in seconds. */
  seconds: number;
}

export class HistoryThread {
  readonly #worker: Worker;
  readonly #limitMs: number;

  constructor(mix: RunName, limitMs = LIMIT_MS) {
    this.#limitMs = limitMs;
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB };
    this.#worker = new Worker(new URL(import.meta.url), { workerData: mix, resourceLimits });
  }

  /**
   * One at a time. Rejects when the thread dies of it, or gives no result in time: a program may loop without end and
   * without reading its clock.
   */
  async run(seed: string): Promise<HistoryResult> {
    this.#worker.postMessage(seed);
    try {
      const signal = AbortSignal.timeout(this.#limitMs);
      const [result] = (await once(this.#worker, 'message', { signal })) as [HistoryResult];
      return result;
    } catch (error) {
      await this.end();
      throw new Error(`${seed} gives no result: it ends its thread, or does not end`, { cause: error });
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

async function resultOf(seed: string, mix: RunName): Promise<HistoryResult> {
  const { lines, ...outcome } = await runSeed(seed, mix);
  const { violation } = outcome;
  if (violation === undefined) return { seed, ...outcome };
  // A history of coordinators alone has no steps that could be left out.
  if (mix === 'coordinators') return { seed, ...outcome, shortened: { story: lines.join('\n'), seconds: 0 } };
  return { seed, ...outcome, shortened: await shorten(seed, mix, violation) };
}

async function shorten(seed: string, mix: MixName, violation: string): Promise<Shortened> {
  const begun = performance.now();
  const [rule = ''] = violation.split(':');
  const failsAlike = async (candidate: ReturnType<typeof generateHistory>) =>
    (await runHistory(candidate)).violation?.startsWith(rule) ?? false;
  const short = await shrink(generateHistory(seed, MIXES[mix]), failsAlike, SHRINKING_TRIES);
  return {
    story: formatFailure(short, await runHistory(short)),
    seconds: (performance.now() - begun) / 1_000,
  };
}

if (!isMainThread) {
  const mix = workerData as RunName;
  parentPort?.on('message', async (seed: string) => parentPort?.postMessage(await resultOf(seed, mix)));
}
