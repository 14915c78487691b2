/**
 * A watch of all ConfigMaps that continues at the next address where the last one ended, as an informer does. It records
 * what it received; `cluster-check` judges it.
 */
import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import type { ConfigMap } from '../../../shared/kube/objects/config-types.js';
import type { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { pause } from '../../harness/basics/wait-until.js';
import type { AddressChoice } from './address-choice.js';
import { MAPS } from './turn-writer.js';

/** Writers change something more often while any coordinator serves. */
const SILENCE_MS = 3_000;
const RETRY_MS = 50;

/** One received change, or the state after a list. `version`: resource version. */
export type Seen =
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
      readonly name: string;
      readonly turn: number;
      readonly version: number;
    }
  | { readonly type: 'LIST'; readonly version: number; readonly turns: ReadonlyMap<string, number> };

interface EventLine {
  type: string;
  object: ConfigMap & { code?: number; message?: string };
}

export class TurnWatch {
  /** Since `take`. */
  #seen: Seen[] = [];
  readonly #addresses: AddressChoice;
  #version: string | undefined;
  #open: ClientRequest | undefined;
  #isClosed = false;
  #work: Promise<void> = Promise.resolve();
  /** Number of connections. */
  connections = 0;

  constructor(addresses: AddressChoice) {
    this.#addresses = addresses;
  }

  start(): void {
    this.#work = this.#follow();
  }

  /** Resource version of the last received change. */
  get version(): number {
    return Number(this.#version ?? 0);
  }

  /** Returns what was received since the last call. */
  take(): Seen[] {
    const seen = this.#seen;
    this.#seen = [];
    return seen;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#open?.destroy();
    await this.#work;
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      try {
        if (this.#version === undefined) await this.#list();
        await this.#watch(this.#addresses.next());
      } catch {
        this.#addresses.leave();
        // The connection broke, or no coordinator serves. The next one continues at the same version.
      }
      await pause(RETRY_MS);
    }
  }

  async #list(): Promise<void> {
    const { items, resourceVersion } = await this.#addresses.next().items<ConfigMap>(MAPS);
    const turns = new Map(items.map(({ metadata, data }) => [metadata.name, Number(data?.turn)]));
    this.#seen.push({ type: 'LIST', version: Number(resourceVersion), turns });
    this.#version = resourceVersion;
  }

  /** Resolves when the stream ends. */
  #watch(api: CoordinatorApi): Promise<void> {
    this.connections += 1;
    const { url, ca, headers } = api.requestFor(`${MAPS}?watch=true&resourceVersion=${this.#version}`);
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { ca, headers, agent: false, timeout: SILENCE_MS }, (incoming) => {
        const lines = createInterface({ input: incoming });
        lines.on('line', (line) => this.#receive(line, outgoing, incoming.statusCode ?? 0));
        lines.on('error', reject);
        incoming.on('close', () => resolve());
      });
      this.#open = outgoing;
      outgoing.on('timeout', () => outgoing.destroy(new Error('silence')));
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  #receive(line: string, outgoing: ClientRequest, statusCode: number): void {
    // A line that was received after the watch was ended belongs to no position.
    if (outgoing !== this.#open || outgoing.destroyed) return;
    if (statusCode === 410) this.#version = undefined;
    if (statusCode !== 200) return;
    let event: EventLine;
    try {
      event = JSON.parse(line) as EventLine;
    } catch {
      // The connection broke within a line.
      outgoing.destroy();
      return;
    }
    const { type, object } = event;
    if (type === 'ERROR') {
      if (object.code === 410) this.#version = undefined;
      outgoing.destroy();
      return;
    }
    const version = object.metadata.resourceVersion ?? '';
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
      const { name } = object.metadata;
      this.#seen.push({ type, name, turn: Number(object.data?.turn), version: Number(version) });
    }
    this.#version = version;
  }
}
