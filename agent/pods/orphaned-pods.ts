/** Pods that only the engine knows. They are reported to the hub and kept until the hub decides about them. */
import { orphanedPodUids } from '../decisions/pods/orphaned-containers.js';
import type { ObservedContainer, RuntimeDriver } from '../runtime/runtime-driver.js';

/** A query of the engine in flight. Its result may be older than the end of a Pod. */
interface Query {
  /** Uids of Pods that ended during the query. */
  endedUids: Set<string>;
}

export class OrphanedPods {
  readonly #driver: Pick<RuntimeDriver, 'list'>;
  /** Containers by Pod uid. */
  #pods = new Map<string, ObservedContainer[]>();
  /** Queries in flight, oldest first. */
  #queries: Query[] = [];

  constructor(driver: Pick<RuntimeDriver, 'list'>) {
    this.#driver = driver;
  }

  /**
   * Updates the set from the engine: Pods that are not `isKnown` now and have not ended since the query began. The
   * result of a query is dropped if a later query finished first. Rejects like the driver and then changes nothing.
   */
  async find(isKnown: (uid: string) => boolean): Promise<void> {
    const query: Query = { endedUids: new Set() };
    this.#queries.push(query);
    try {
      const containers = await this.#driver.list();
      const place = this.#queries.indexOf(query);
      if (place < 0) return;
      this.#queries = this.#queries.slice(place);
      const uids = orphanedPodUids(containers, (uid) => isKnown(uid) || query.endedUids.has(uid));
      const of = (uid: string) => containers.filter(({ identity }) => identity.podUid === uid);
      this.#pods = new Map(uids.map((uid) => [uid, of(uid)]));
    } finally {
      this.#queries = this.#queries.filter((each) => each !== query);
    }
  }

  /** Records that the engine has nothing of this Pod any longer. */
  onPodEnded(uid: string): void {
    for (const { endedUids } of this.#queries) endedUids.add(uid);
  }

  /** Returns true if an event of this Pod, which has no worker, requires another query. */
  needsRefreshFor(uid: string): boolean {
    return this.#pods.has(uid) || this.#queries.length > 0;
  }

  get size(): number {
    return this.#pods.size;
  }

  has(uid: string): boolean {
    return this.#pods.has(uid);
  }

  uids(): string[] {
    return [...this.#pods.keys()];
  }

  containers(): ObservedContainer[] {
    return [...this.#pods.values()].flat();
  }

  /** Returns the Pod's containers and removes it from the set: a worker takes over. */
  take(uid: string): ObservedContainer[] {
    const containers = this.#pods.get(uid) ?? [];
    this.#pods.delete(uid);
    return containers;
  }
}
