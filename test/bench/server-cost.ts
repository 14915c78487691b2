/** Reads the cost of a server process through the probe that is loaded into it. */
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Answer, PROBE_VARIABLE, type Question } from './server-probe.js';
import type { CallCounts } from './stages/call-counts.js';

/** Fewer samples are not significant. */
const FEWEST_SAMPLES = 20;

const PROBE = fileURLToPath(new URL('./server-probe.js', import.meta.url));

export class ProcessCost {
  readonly #socketPath: string;

  /** `socketPath` must not exist yet, and must fit into the hundred bytes of a unix socket's address. */
  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** Environment variables that the process needs at its start. */
  get environment(): Record<string, string> {
    return { NODE_OPTIONS: `--import ${PROBE}`, [PROBE_VARIABLE]: this.#socketPath };
  }

  async cpuMs(): Promise<number> {
    return (await this.#ask('cpu')).cpuMs;
  }

  /** CPU milliseconds of the process, all threads together, during `work`. */
  async during(work: () => Promise<unknown>): Promise<number> {
    const before = await this.cpuMs();
    await work();
    return (await this.cpuMs()) - before;
  }

  /** Resident kilobytes after garbage collection. */
  async rssKilobytes(): Promise<number> {
    return ((await this.#ask('memory')).rssBytes ?? Number.NaN) / 1024;
  }

  /** Kilobytes of its objects and buffers after garbage collection, without memory that the allocator keeps. */
  async heapKilobytes(): Promise<number> {
    return ((await this.#ask('memory')).usedBytes ?? Number.NaN) / 1024;
  }

  /**
   * The 99th percentile of timer delays in the process during `work`, ms: one value, or none if `work` ended before
   * there were enough samples.
   */
  async loopDelaysMs(work: () => Promise<unknown>): Promise<number[]> {
    await this.#ask('startLoop');
    await work();
    const { loopP99Ms = Number.NaN, loopSamples = 0 } = await this.#ask('stopLoop');
    return loopSamples < FEWEST_SAMPLES ? [] : [loopP99Ms];
  }

  /** Calls of each function in the process during `work`. The process stays slower afterwards. */
  async callsDuring(work: () => Promise<unknown>): Promise<CallCounts> {
    await this.#ask('startCounts');
    await work();
    return (await this.#ask('readCounts')).counts ?? {};
  }

  #ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#socketPath);
      const chunks: Buffer[] = [];
      socket.on('connect', () => socket.write(question));
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString()) as Answer));
      socket.on('error', reject);
    });
  }
}
