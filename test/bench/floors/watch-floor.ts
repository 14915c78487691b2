/** Floor of a watch: each event is serialised once, and fifty events go to a reader in one write. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

const AT_A_TIME = 50;
const EVENT_BYTES = 1_000;

export class WatchFanOut {
  readonly #watchers = new Set<ServerResponse>();

  add(response: ServerResponse): void {
    this.#watchers.add(response);
    response.on('close', () => this.#watchers.delete(response));
    response.flushHeaders();
  }

  /** Returns the number of delivered events, summed over all watchers. */
  async send(events: number): Promise<number> {
    for (let from = 0; from < events; from += AT_A_TIME) {
      const lines = Array.from({ length: Math.min(AT_A_TIME, events - from) }, (_, offset) => {
        return `${JSON.stringify({ type: 'MODIFIED', object: { n: from + offset, text: 'x'.repeat(EVENT_BYTES) } })}\n`;
      });
      const bytes = Buffer.from(lines.join(''));
      const full = [...this.#watchers].filter((watcher) => !watcher.write(bytes));
      await Promise.all(full.map((watcher) => once(watcher, 'drain')));
    }
    return events * this.#watchers.size;
  }
}
