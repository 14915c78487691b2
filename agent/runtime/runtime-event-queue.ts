/** Buffers runtime events between the engine and the agent. Its memory is limited by the number of Pods. */
import type { RuntimeEvent } from './runtime-driver.js';

/** Merges events, which only mean "inspect again": repeated ones of a Pod, and all others into a `resync`. */
export class RuntimeEventQueue {
  readonly #pods = new Set<string>();
  #resync = false;
  #down: string | undefined;
  #wake: () => void = () => undefined;

  push(event: RuntimeEvent): void {
    switch (event.kind) {
      case 'container':
        if (!this.#resync) this.#pods.add(event.podUid);
        break;
      case 'resync':
        this.#resync = true;
        this.#down = undefined;
        this.#pods.clear();
        break;
      case 'down':
        this.#down = event.message;
        break;
    }
    this.#wake();
  }

  /** Yields events until `signal` aborts. Order: engine down, resync, single Pods. */
  async *read(signal: AbortSignal): AsyncGenerator<RuntimeEvent, void> {
    while (!signal.aborted) {
      const event = this.#take();
      if (event) yield event;
      else await this.#changed(signal);
    }
  }

  #take(): RuntimeEvent | undefined {
    if (this.#down !== undefined) {
      const message = this.#down;
      this.#down = undefined;
      return { kind: 'down', message };
    }
    if (this.#resync) {
      this.#resync = false;
      return { kind: 'resync' };
    }
    for (const podUid of this.#pods) {
      this.#pods.delete(podUid);
      return { kind: 'container', podUid };
    }
    return undefined;
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done);
    });
  }
}
