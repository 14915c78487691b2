/** Floor of an orchestrator: it already knows the work and sends only the necessary requests to the engines. */
import { WAITS } from '../../harness/engines/test-images.js';
import type { BenchEngine } from '../real/bench-engines.js';
import type { MeasuredFleet } from '../real/measured-fleet.js';

export class BareFleet implements MeasuredFleet {
  readonly #engines: readonly BenchEngine[];
  readonly #image: string;
  /** Running container by engine. */
  readonly #current = new Map<BenchEngine, string>();
  #isLabelled = false;

  constructor(engines: readonly BenchEngine[], image: string) {
    this.#engines = engines;
    this.#image = image;
    const [first] = engines;
    first?.events.onEvent(({ action, id }) => {
      if (action === 'die' && this.#isLabelled && this.#current.get(first) === id) void this.#run(first);
    });
  }

  async label(wanted: boolean): Promise<void> {
    const [first] = this.#engines;
    if (!first) return;
    this.#isLabelled = wanted;
    await (wanted ? this.#run(first) : this.#end(first));
  }

  async deploy(): Promise<void> {
    await Promise.all(this.#engines.map((engine) => this.#run(engine)));
  }

  async untilAllShown(): Promise<void> {
    // Nothing more to wait for after `deploy`.
  }

  /** Creates the successor before it stops the old container, so that the creation is no part of the gap. */
  async update(atOnce: number): Promise<void> {
    const left = this.#engines.values();
    const replace = async (): Promise<void> => {
      for (const engine of left) {
        const successor = await engine.api.create({ image: this.#image, command: WAITS });
        const old = this.#current.get(engine) ?? '';
        await engine.api.stop(old);
        await engine.api.start(successor);
        this.#current.set(engine, successor);
        void engine.api.remove(old);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, replace));
  }

  async remove(): Promise<void> {
    await Promise.all(this.#engines.map((engine) => this.#end(engine)));
  }

  async #run(engine: BenchEngine): Promise<void> {
    const old = this.#current.get(engine);
    const id = await engine.api.create({ image: this.#image, command: WAITS });
    this.#current.set(engine, id);
    await engine.api.start(id);
    if (old) await engine.api.remove(old);
  }

  async #end(engine: BenchEngine): Promise<void> {
    const id = this.#current.get(engine);
    if (!id) return;
    this.#current.delete(engine);
    await engine.api.stop(id);
    await engine.api.remove(id);
  }
}
