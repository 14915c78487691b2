/** What the controller keeps in memory about one Service's slices, so that one changed Pod costs no visit of all. */
import type { EndpointSlice } from '../../../shared/kube/services/endpoint-types.js';
import { endpointKey } from '../../decisions/services/listed-endpoint.js';
import type { ObjectChange } from '../../informers/informer.js';

/** All of it can be lost: then the next reconcile visits all Pods and slices of the Service. */
export class SliceState {
  /** True until a reconcile has compared all Pods with all slices. */
  needsFullPass = true;
  /** Number of slices that the last pass wrote. */
  lastWrites = 0;
  /** Pods whose endpoint may have changed since the last reconcile. */
  readonly changedPods = new Set<string>();
  /** Pods that only clients on their own host reach. */
  readonly ownHostPods = new Set<string>();
  /** Name of the slice that lists each Pod. */
  readonly #sliceOf = new Map<string, string>();
  /** Slices without endpoints. */
  readonly emptySlices = new Set<string>();
  /** The revision of the last own write of each slice. */
  readonly #ownRevisions = new Map<string, string>();
  /** Slices in a revision that is not, or not yet, known to be an own write. */
  readonly #foreignRevisions = new Map<string, string>();

  /** Starts a full pass over these slices. Changes that arrive from now on are for the next reconcile. */
  restart(slices: readonly EndpointSlice[]): void {
    this.needsFullPass = false;
    this.changedPods.clear();
    this.ownHostPods.clear();
    this.emptySlices.clear();
    this.#sliceOf.clear();
    for (const current of slices) this.#list(undefined, current);
  }

  /** Returns the changed Pods and forgets them. */
  takeChangedPods(): string[] {
    const names = [...this.changedPods];
    this.changedPods.clear();
    return names;
  }

  sliceOf(pod: string): string | undefined {
    return this.#sliceOf.get(pod);
  }

  markPod(name: string): void {
    if (!this.needsFullPass) this.changedPods.add(name);
  }

  /** Returns false for the echo of an own write. */
  sliceChanged({ previous, current }: ObjectChange<EndpointSlice>): boolean {
    const name = (current ?? previous)?.metadata.name ?? '';
    this.#list(previous, current);
    const revision = current?.metadata.resourceVersion ?? '';
    const isOwn = this.#ownRevisions.get(name) === revision;
    if (!isOwn) this.#foreignRevisions.set(name, revision);
    if (!current) this.#ownRevisions.delete(name);
    return !isOwn;
  }

  /** Records an own write. `revision`: "" for a deletion. The informer may have reported it already. */
  written(name: string, revision: string): void {
    if (this.#foreignRevisions.get(name) === revision) {
      this.#foreignRevisions.delete(name);
      if (revision === '') return;
    }
    this.#ownRevisions.set(name, revision);
  }

  /** Called between writes, when the informers have reported all of them. */
  noteForeignWrites(): void {
    if (this.#foreignRevisions.size > 0) this.needsFullPass = true;
    this.#foreignRevisions.clear();
  }

  #list(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): void {
    const name = (current ?? previous)?.metadata.name ?? '';
    if (!previous || !current || !listsSamePods(previous, current)) {
      for (const endpoint of previous?.endpoints ?? []) this.#unlist(endpointKey(endpoint), name);
      for (const endpoint of current?.endpoints ?? []) this.#sliceOf.set(endpointKey(endpoint), name);
    }
    if (current && !current.endpoints?.length) this.emptySlices.add(name);
    else this.emptySlices.delete(name);
  }

  #unlist(pod: string, slice: string): void {
    if (this.#sliceOf.get(pod) === slice) this.#sliceOf.delete(pod);
  }
}

const NO_ENDPOINT = {};

function listsSamePods({ endpoints: one }: EndpointSlice, { endpoints: other }: EndpointSlice): boolean {
  if (one?.length !== other?.length) return false;
  return (one ?? []).every(
    (endpoint, at) => endpointKey(endpoint) === endpointKey(other?.[at] ?? NO_ENDPOINT),
  );
}
