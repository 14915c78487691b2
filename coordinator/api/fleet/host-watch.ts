/** The watch of hosts: JSON lines from the host index. */
import type { Writable } from 'node:stream';
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import { inChunks, ReaderStalled, writePaced } from '../http/paced-writer.js';
import type { HostText } from '../ports.js';
import { visibleHosts } from './visible-hosts.js';

const API_VERSION = `${FLEET_GROUP}/v1`;

export type HostLineEncoder = (type: 'ADDED' | 'MODIFIED' | 'DELETED', text: HostText) => string;

export const hostLine: HostLineEncoder = (type, { name, json }) =>
  `{"type":"${type}","object":${json ?? JSON.stringify(deletedHost(name))}}\n`;

export function deletedHost(name: string): Host {
  const status = {
    state: 'Unknown' as const,
    pressures: [],
    unschedulable: false,
    taints: 0,
    agentVersion: '',
  };
  return {
    ...{ kind: 'Host', apiVersion: API_VERSION, metadata: { name } },
    status: { ...status, pods: { total: 0, ready: 0, failing: 0 }, failing: [] },
  };
}

/** Starts with all hosts and a bookmark. Ends when the client disconnects or the timeout has passed. */
export async function watchHosts(
  deps: ApiDeps,
  request: ApiRequest,
  lineOf: HostLineEncoder,
): Promise<ApiResponse> {
  const { textFor } = visibleHosts(deps, request);
  const reader = new HostReader(deps, request.signal, (type, text) => lineOf(type, textFor(text)));
  return { type: 'stream', contentType: 'application/json', write: (response) => reader.run(response) };
}

/**
 * One watcher. It keeps only the newest unread state of each host, so that a slow watcher uses at most the memory of
 * one fleet.
 */
class HostReader {
  readonly #waiting = new Map<string, HostText>();
  readonly #known = new Set<string>();
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(
    private readonly deps: ApiDeps,
    private readonly signal: AbortSignal,
    private readonly lineOf: HostLineEncoder,
  ) {}

  async run(response: Writable): Promise<void> {
    const { hosts, clock, settings } = this.deps;
    const { first, leave } = await hosts.watch((changed) => {
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
      await this.#write(response, [BOOKMARK]);
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

  *#linesOf(texts: readonly HostText[]): Generator<string> {
    for (const text of texts) {
      const wasKnown = this.#known.has(text.name);
      if (text.json === undefined) {
        this.#known.delete(text.name);
        if (wasKnown) yield this.lineOf('DELETED', text);
      } else {
        this.#known.add(text.name);
        yield this.lineOf(wasKnown ? 'MODIFIED' : 'ADDED', text);
      }
    }
  }
}

const BOOKMARK = `${JSON.stringify({
  type: 'BOOKMARK',
  object: {
    kind: 'Host',
    apiVersion: API_VERSION,
    metadata: { resourceVersion: '', annotations: { 'k8s.io/initial-events-end': 'true' } },
  },
})}\n`;
