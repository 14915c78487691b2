/**
 * Every host at a glance, for those who look: nothing is computed while nobody does. A change marks its host; marked hosts are
 * looked at together, and what comes out is encoded once for all who watch.
 */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import {
  credentialSecretName,
  ENROLMENT_NAMESPACE,
  nodeOfCredential,
} from '../../../shared/kube/nodes/node-credential-secret.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { hostSummary } from '../../decisions/views/host-summary.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';

/** A change is told after so long at the latest, together with all others of that time. */
const TOGETHER_MS = 100;

/** One host as JSON text; `undefined` when it is gone. */
interface HostJson {
  name: string;
  json: string | undefined;
}

/** Who was not heard since the coordinator's own start: in memory alone, for all of a fleet comes back then. */
interface Contacts {
  /** Since when the host is waited for, ms since the epoch; undefined: it was heard, and what is stored of its link is true. */
  awaitingSince(node: string): number | undefined;
  /** Hears of each host whose contact changed. */
  onChange(handler: (node: string) => void): void;
}

interface HostIndexDeps {
  informers: Informers;
  liveness: Contacts;
  clock: Clock;
}

export class HostIndex {
  readonly #parts: HostIndexDeps;
  readonly #slice: TimeSlice;
  readonly #texts = new Map<string, { host: Host; json: string }>();
  readonly #marked = new Set<string>();
  readonly #listeners = new Set<(changed: readonly HostJson[]) => void>();
  #timer: Timer | undefined;
  /** Looks follow each other, so that none tells what an earlier one knew better. */
  #looking: Promise<void> = Promise.resolve();

  constructor(parts: HostIndexDeps) {
    this.#parts = parts;
    this.#slice = new TimeSlice(parts.clock);
    const { nodes, pods, secrets } = parts.informers;
    parts.liveness.onChange((name) => this.#mark(name));
    nodes.onChange(({ previous, current }) => this.#mark((current ?? previous)?.metadata.name));
    pods.onChange(({ previous, current }) => {
      this.#mark(current?.spec.nodeName);
      if (previous?.spec.nodeName !== current?.spec.nodeName) this.#mark(previous?.spec.nodeName);
    });
    secrets.onChange(({ previous, current }) => {
      const changed = current ?? previous;
      this.#mark(changed && nodeOfCredential(changed.metadata));
    });
  }

  /** All hosts as they are now, in order of their names. */
  async list(): Promise<readonly Host[]> {
    await this.#look();
    return [...this.#texts.values()].map(({ host }) => host).sort(byName);
  }

  /** One host as it is now. */
  async get(name: string): Promise<Host | undefined> {
    await this.#look();
    return this.#texts.get(name)?.host;
  }

  /**
   * Answers all hosts, and calls `onChange` with each batch of changes after them until `leave`.
   * A host whose text did not change is not told of.
   */
  async watch(
    onChange: (changed: readonly HostJson[]) => void,
  ): Promise<{ first: HostJson[]; leave: () => void }> {
    await this.#look();
    this.#listeners.add(onChange);
    if (this.#marked.size > 0) this.#lookSoon();
    const first = [...this.#texts].map(([name, { json }]) => ({ name, json }));
    return { first, leave: () => void this.#listeners.delete(onChange) };
  }

  #mark(name: string | undefined): void {
    if (name === undefined) return;
    this.#marked.add(name);
    if (this.#listeners.size > 0) this.#lookSoon();
  }

  #lookSoon(): void {
    this.#timer ??= this.#parts.clock.after(TOGETHER_MS, () => {
      this.#timer = undefined;
      void this.#look();
    });
  }

  #look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#lookAtMarked());
    return this.#looking;
  }

  async #lookAtMarked(): Promise<void> {
    const changed: HostJson[] = [];
    for (const name of this.#marked) {
      this.#marked.delete(name);
      const text = this.#lookAt(name);
      if (text) changed.push(text);
      const pause = this.#slice.yieldIfUsedUp();
      if (pause) await pause;
    }
    if (changed.length === 0) return;
    for (const listener of this.#listeners) listener(changed);
  }

  /** Undefined when nothing that is shown has changed. */
  #lookAt(name: string): HostJson | undefined {
    const { nodes, pods } = this.#parts.informers;
    const known = this.#texts.get(name);
    const node = nodes.get({ name });
    if (!node) {
      this.#texts.delete(name);
      return known && { name, json: undefined };
    }
    const host = hostSummary(node, pods.indexed(PODS_BY_NODE, name), {
      certificateEnds: this.#certificateEnd(name),
      awaitingSince: this.#parts.liveness.awaitingSince(name),
    });
    const json = JSON.stringify(host);
    if (known?.json === json) return undefined;
    this.#texts.set(name, { host, json });
    return { name, json };
  }

  #certificateEnd(name: string): string | undefined {
    const ref = { namespace: ENROLMENT_NAMESPACE, name: credentialSecretName(name) };
    const end = this.#parts.informers.secrets.get(ref)?.data?.['not-after'];
    return end === undefined ? undefined : Buffer.from(end, 'base64').toString();
  }
}

function byName(a: Host, b: Host): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
