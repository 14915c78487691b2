/** Container events, as reported by an engine. */
import { type ClientRequest, request } from 'node:http';
import { createInterface } from 'node:readline';

interface ContainerEvent {
  action: 'start' | 'die' | string;
  id: string;
  /** Time of receipt, ms of the monotonic clock. */
  at: number;
}

const PATIENCE_MS = 60_000;

export class EngineEvents {
  readonly #events: ContainerEvent[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #stream: ClientRequest;

  /** Receives all events from now on. */
  constructor(socketPath: string) {
    const filters = encodeURIComponent(JSON.stringify({ type: ['container'] }));
    this.#stream = request({ socketPath, path: `/v1.41/events?filters=${filters}` }, (response) => {
      const lines = createInterface({ input: response });
      // The stream breaks when the engine exits or at `close`. Waiting callers report their own timeout.
      lines.on('error', () => undefined);
      lines.on('line', (line) => {
        const { Action: action, id } = JSON.parse(line) as { Action: string; id: string };
        this.#events.push({ action, id, at: performance.now() });
        for (const listener of this.#listeners) listener();
      });
    });
    // `close` ends the request on purpose.
    this.#stream.on('error', () => undefined);
    this.#stream.end();
  }

  /** The events received so far, oldest first. */
  since(at: number): ContainerEvent[] {
    return this.#events.filter((event) => event.at >= at);
  }

  /** Resolves with the first such event after `since`. */
  first(action: string, since: number): Promise<ContainerEvent> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.#events.find((event) => event.at >= since && event.action === action);
        if (!found) return;
        this.#listeners.delete(look);
        clearTimeout(timer);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.#listeners.delete(look);
        reject(new Error(`no container event "${action}" within ${PATIENCE_MS} ms`));
      }, PATIENCE_MS);
      this.#listeners.add(look);
      look();
    });
  }

  /** Calls `listener` for each event from now on. */
  onEvent(listener: (event: ContainerEvent) => void): void {
    let delivered = this.#events.length;
    this.#listeners.add(() => {
      for (; delivered < this.#events.length; delivered += 1) {
        const event = this.#events[delivered];
        if (event) listener(event);
      }
    });
  }

  close(): void {
    this.#stream.destroy();
  }
}
