/**
 * Summaries of all hosts, computed only while a client watches or lists them. A change marks its host. Marked hosts are
 * computed together, and the JSON is encoded once for all watchers.
 */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { certificateTroubleAt, isTroubledHost } from '../../../shared/kube/fleet/troubled-host.js';
import {
  credentialSecretName,
  ENROLMENT_NAMESPACE,
  nodeOfCredential,
} from '../../../shared/kube/nodes/node-credential-secret.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { hostSummary } from '../../decisions/views/host-summary.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';
import { DeadlineQueue } from '../queue/deadline-queue.js';

/** Longest delay of a change. All changes within it are sent together. */
const BATCH_MS = 100;
/** Longest wait for a deadline. Without a limit, a clock that was set forward would delay all deadlines. */
const MAX_WAIT_MS = 3_600_000;

/** One host as JSON text; `undefined` if it was deleted. */
interface HostJson {
  name: string;
  json: string | undefined;
  /** See `isTroubledHost`. False if it was deleted. */
  isTroubled: boolean;
}

/** Hosts that have not reconnected since the coordinator's start. In memory, because all reconnect then. */
interface Contacts {
  /**
   * Returns since when the coordinator waits for the host, in ms since the epoch. Undefined if the host has reconnected
   * and its stored status is current.
   */
  awaitingSince(node: string): number | undefined;
  /** Calls the handler for each host with a changed connection state. */
  onChange(handler: (node: string) => void): void;
}

interface HostIndexDeps {
  informers: Informers;
  liveness: Contacts;
  clock: Clock;
}

export class HostIndex {
  readonly #deps: HostIndexDeps;
  readonly #slice: TimeSlice;
  readonly #texts = new Map<string, { host: Host; json: string; isTroubled: boolean }>();
  readonly #marked = new Set<string>();
  readonly #listeners = new Set<(changed: readonly HostJson[]) => void>();
  #timer: Timer | undefined;
  /** When a certificate comes close to its expiry. No other change of the host may happen then. */
  readonly #deadlines = new DeadlineQueue();
  #wakeUp: Timer | undefined;
  /** Computations run one after another, so that an older result never overwrites a newer one. */
  #refreshing: Promise<void> = Promise.resolve();

  constructor(deps: HostIndexDeps) {
    this.#deps = deps;
    this.#slice = new TimeSlice(deps.clock);
    const { nodes, pods, secrets } = deps.informers;
    deps.liveness.onChange((name) => this.#mark(name));
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

  async list(): Promise<readonly Host[]> {
    await this.#refresh();
    return [...this.#texts.values()].map(({ host }) => host).sort(byName);
  }

  async get(name: string): Promise<Host | undefined> {
    await this.#refresh();
    return this.#texts.get(name)?.host;
  }

  /** Returns all hosts, and calls `onChange` with each batch of hosts that changed until `leave`. */
  async watch(
    onChange: (changed: readonly HostJson[]) => void,
  ): Promise<{ first: HostJson[]; leave: () => void }> {
    await this.#refresh();
    this.#listeners.add(onChange);
    if (this.#marked.size > 0) this.#scheduleRefresh();
    const first = [...this.#texts].map(([name, { json, isTroubled }]) => ({ name, json, isTroubled }));
    return { first, leave: () => void this.#listeners.delete(onChange) };
  }

  #mark(name: string | undefined): void {
    if (name === undefined) return;
    this.#marked.add(name);
    if (this.#listeners.size > 0) this.#scheduleRefresh();
  }

  #scheduleRefresh(): void {
    this.#timer ??= this.#deps.clock.after(BATCH_MS, () => {
      this.#timer = undefined;
      void this.#refresh();
    });
  }

  #refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.then(() => this.#refreshMarked());
    return this.#refreshing;
  }

  async #refreshMarked(): Promise<void> {
    const changed: HostJson[] = [];
    for (const name of this.#marked) {
      this.#marked.delete(name);
      const text = this.#refreshHost(name);
      if (text) changed.push(text);
      const pause = this.#slice.yieldIfUsedUp();
      if (pause) await pause;
    }
    this.#awaitDeadline();
    if (changed.length === 0) return;
    for (const listener of this.#listeners) listener(changed);
  }

  /** One timer for the soonest deadline of all hosts. */
  #awaitDeadline(): void {
    const { clock } = this.#deps;
    this.#wakeUp?.cancel();
    this.#wakeUp = undefined;
    const { next } = this.#deadlines;
    if (next === undefined) return;
    this.#wakeUp = clock.after(Math.min(Math.max(0, next - clock.now()), MAX_WAIT_MS), () => {
      for (const name of this.#deadlines.takeDue(clock.now())) this.#mark(name);
      this.#awaitDeadline();
    });
  }

  /** Returns undefined if the summary is unchanged. */
  #refreshHost(name: string): HostJson | undefined {
    const { nodes, pods } = this.#deps.informers;
    const known = this.#texts.get(name);
    const node = nodes.get({ name });
    if (!node) {
      this.#texts.delete(name);
      this.#deadlines.set(name, undefined);
      return known && { name, json: undefined, isTroubled: false };
    }
    const host = hostSummary(node, pods.indexed(PODS_BY_NODE, name), {
      certificateEnds: this.#certificateEnd(name),
      awaitingSince: this.#deps.liveness.awaitingSince(name),
    });
    const json = JSON.stringify(host);
    const now = this.#deps.clock.now();
    const isTroubled = isTroubledHost(host, now);
    const troubleAt = certificateTroubleAt(host.status);
    this.#deadlines.set(name, troubleAt !== undefined && troubleAt > now ? troubleAt : undefined);
    // A certificate can come close to its expiry without a change of the host.
    if (known?.json === json && known.isTroubled === isTroubled) return undefined;
    this.#texts.set(name, { host, json, isTroubled });
    return { name, json, isTroubled };
  }

  #certificateEnd(name: string): string | undefined {
    const ref = { namespace: ENROLMENT_NAMESPACE, name: credentialSecretName(name) };
    const end = this.#deps.informers.secrets.get(ref)?.data?.['not-after'];
    return end === undefined ? undefined : Buffer.from(end, 'base64').toString();
  }
}

function byName(a: Host, b: Host): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
