/** Asks a server process what it has cost, through the probe that was loaded into it. */
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Answer, PROBE_VARIABLE, type Question } from './server-probe.js';

/** Fewer prove nothing. */
const FEWEST_SAMPLES = 20;

const PROBE = fileURLToPath(new URL('./server-probe.js', import.meta.url));

export class ProcessCost {
  readonly #socketPath: string;

  /** `socketPath` must not exist yet, and fit into the hundred bytes of a unix socket's address. */
  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** What the process must find in its environment when it starts. */
  get environment(): Record<string, string> {
    return { NODE_OPTIONS: `--import ${PROBE}`, [PROBE_VARIABLE]: this.#socketPath };
  }

  async cpuMs(): Promise<number> {
    return (await this.#ask('cpu')).cpuMs;
  }

  /** CPU milliseconds that the process spends, all threads together, while `work` runs. */
  async during(work: () => Promise<unknown>): Promise<number> {
    const before = await this.cpuMs();
    await work();
    return (await this.cpuMs()) - before;
  }

  /** Kilobytes after a collection of garbage. */
  async rssKilobytes(): Promise<number> {
    return ((await this.#ask('memory')).rssBytes ?? Number.NaN) / 1024;
  }

  /** Kilobytes that its objects and buffers take after a collection of garbage; what an allocator keeps back is not in it. */
  async heapKilobytes(): Promise<number> {
    return ((await this.#ask('memory')).usedBytes ?? Number.NaN) / 1024;
  }

  /**
   * The 99th percentile of how late timers of the process come while `work` runs, ms: one figure, or none when it was over before
   * enough of them had come to tell.
   */
  async loopDelaysMs(work: () => Promise<unknown>): Promise<number[]> {
    await this.#ask('startLoop');
    await work();
    const { loopP99Ms = Number.NaN, loopSamples = 0 } = await this.#ask('stopLoop');
    return loopSamples < FEWEST_SAMPLES ? [] : [loopP99Ms];
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
