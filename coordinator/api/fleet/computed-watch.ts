/** Watches of computed objects: JSON lines. They start with all objects and a bookmark, because there is no history. */
import type { Writable } from 'node:stream';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import { inChunks, ReaderStalled, writePaced } from '../http/paced-writer.js';
import type { ObjectText } from '../ports.js';

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

export type ObjectLineEncoder = (type: EventType, text: ObjectText) => string;

interface WatchedObjects {
  kind: string;
  /** Resolves with all objects, then reports each change until `leave` is called. */
  subscribe(
    onChange: (changed: readonly ObjectText[]) => void,
  ): Promise<{ first: ObjectText[]; leave: () => void }>;
  lineOf: ObjectLineEncoder;
}

/** `json`: the encoded object. */
export function objectLine(type: EventType, json: string): string {
  return `{"type":"${type}","object":${json}}\n`;
}

/** Ends when the client disconnects or the timeout has passed. */
export function watchComputed(deps: ApiDeps, request: ApiRequest, watched: WatchedObjects): ApiResponse {
  const reader = new ComputedReader(deps, request.signal, watched);
  return { type: 'stream', contentType: 'application/json', write: (response) => reader.run(response) };
}

/**
 * One watcher. It keeps only the newest unread state of each object, so that a slow watcher uses at most the
 * memory of one fleet.
 */
class ComputedReader {
  readonly #waiting = new Map<string, ObjectText>();
  readonly #known = new Set<string>();
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(
    private readonly deps: ApiDeps,
    private readonly signal: AbortSignal,
    private readonly watched: WatchedObjects,
  ) {}

  async run(response: Writable): Promise<void> {
    const { clock, settings } = this.deps;
    const { first, leave } = await this.watched.subscribe((changed) => {
      for (const text of changed) this.#waiting.set(text.name, text);
      this.#wake();
    });
    const wake = () => this.#wake();
    const timer = clock.after(settings.watchTimeoutMs, () => {
      this.#isOver = true;
      wake();
    });
    this.signal.addEventListener('abort', wake);
    try {
      await this.#write(response, this.#linesOf(first));
      await this.#write(response, [bookmark(this.watched.kind)]);
      while (!this.#hasEnded) {
        const batch = [...this.#waiting.values()];
        this.#waiting.clear();
        if (batch.length > 0) await this.#write(response, this.#linesOf(batch));
        else await this.#news();
      }
    } catch (error) {
      if (!(error instanceof ReaderStalled)) throw error;
    } finally {
      timer.cancel();
      this.signal.removeEventListener('abort', wake);
      leave();
    }
  }

  get #hasEnded(): boolean {
    return this.#isOver || this.signal.aborted;
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#hasEnded || this.#waiting.size > 0) resolve();
    });
  }

  async #write(response: Writable, lines: Iterable<string>): Promise<void> {
    const { clock, slice, settings } = this.deps;
    for await (const chunk of inChunks(lines, slice)) {
      await writePaced(response, chunk, clock, settings.stallMs);
    }
  }

  *#linesOf(texts: readonly ObjectText[]): Generator<string> {
    for (const text of texts) {
      const wasKnown = this.#known.has(text.name);
      if (text.json === undefined) {
        this.#known.delete(text.name);
        if (wasKnown) yield this.watched.lineOf('DELETED', text);
      } else {
        this.#known.add(text.name);
        yield this.watched.lineOf(wasKnown ? 'MODIFIED' : 'ADDED', text);
      }
    }
  }
}

function bookmark(kind: string): string {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const metadata = { resourceVersion: '', annotations };
  const object = { kind, apiVersion: `${FLEET_GROUP}/v1`, metadata };
  return `${JSON.stringify({ type: 'BOOKMARK', object })}\n`;
}
