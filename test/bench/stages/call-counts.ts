/**
 * Counts the calls of every function of a process, through V8's precise coverage, and what coverage does not see: JSON
 * texts and promises. The product has no counters of its own, so they cost nothing when they are off.
 */
import { Session } from 'node:inspector/promises';
import { promiseHooks } from 'node:v8';

/** Calls by `FILE#FUNCTION`; the file is relative to the folder of the compiled program. */
export type CallCounts = Record<string, number>;

/** Names of the counts that are no functions of the product. */
export const PARSED = 'JSON.parse';
export const STRINGIFIED = 'JSON.stringify';
export const PROMISES = 'Promise';

const ROOT = new URL('../../../', import.meta.url).href;

export class CallCounter {
  readonly #session = new Session();
  readonly #builtIns: CallCounts = { [PARSED]: 0, [STRINGIFIED]: 0, [PROMISES]: 0 };
  #stopPromises: (() => void) | undefined;

  async start(): Promise<void> {
    this.#countBuiltIns();
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  /** Returns the calls since `start`. The process counts until its end, and is slower than others. */
  async read(): Promise<CallCounts> {
    this.#stopPromises?.();
    const counts = { ...this.#builtIns };
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    for (const { url, functions } of result) {
      if (!url.startsWith(ROOT)) continue;
      for (const { functionName, ranges } of functions) {
        const name = `${url.slice(ROOT.length)}#${functionName}`;
        counts[name] = (counts[name] ?? 0) + (ranges[0]?.count ?? 0);
      }
    }
    return counts;
  }

  #countBuiltIns(): void {
    const counts = this.#builtIns;
    const { parse, stringify } = JSON;
    const add = (name: string) => {
      counts[name] = (counts[name] ?? 0) + 1;
    };
    JSON.parse = (...input: Parameters<typeof parse>) => {
      add(PARSED);
      return parse(...input);
    };
    JSON.stringify = ((...input: Parameters<typeof stringify>) => {
      add(STRINGIFIED);
      return stringify(...input);
    }) as typeof stringify;
    this.#stopPromises = promiseHooks.onInit(() => add(PROMISES)) as () => void;
  }
}
