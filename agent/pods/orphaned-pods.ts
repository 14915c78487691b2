/** Pods that only the engine knows: told to the hub, kept until it says what is to become of them. */
import { orphanedPodUids } from '../decisions/pods/orphaned-containers.js';
import type { ObservedContainer, RuntimeDriver } from '../runtime/runtime-driver.js';

/** A look at the engine that is under way: what it answers may be older than what it was not asked for. */
interface Look {
  /** Uids of Pods that ended meanwhile. */
  onPodEnded: Set<string>;
}

export class OrphanedPods {
  readonly #driver: Pick<RuntimeDriver, 'list'>;
  /** Their containers, by uid. */
  #pods = new Map<string, ObservedContainer[]>();
  /** In the order in which they began. */
  #looks: Look[] = [];

  constructor(driver: Pick<RuntimeDriver, 'list'>) {
    this.#driver = driver;
  }

  /**
   * Asks the engine which they are: its Pods that are not `isKnown` when it has answered, and have not ended since it was asked. An answer
   * that comes behind a later one's is dropped. Rejects as the driver does, and changes nothing then.
   */
  async find(isKnown: (uid: string) => boolean): Promise<void> {
    const look: Look = { onPodEnded: new Set() };
    this.#looks.push(look);
    try {
      const containers = await this.#driver.list();
      const place = this.#looks.indexOf(look);
      if (place < 0) return;
      this.#looks = this.#looks.slice(place);
      const uids = orphanedPodUids(containers, (uid) => isKnown(uid) || look.onPodEnded.has(uid));
      const of = (uid: string) => containers.filter(({ identity }) => identity.podUid === uid);
      this.#pods = new Map(uids.map((uid) => [uid, of(uid)]));
    } finally {
      this.#looks = this.#looks.filter((each) => each !== look);
    }
  }

  /** Nothing of this Pod is in the engine any more. */
  ended(uid: string): void {
    for (const { onPodEnded } of this.#looks) onPodEnded.add(uid);
  }

  /** Whether what happened to a container of a Pod without a worker makes another look necessary. */
  needsRefreshFor(uid: string): boolean {
    return this.#pods.has(uid) || this.#looks.length > 0;
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

  /** Its containers; from now on others speak for it. */
  take(uid: string): ObservedContainer[] {
    const containers = this.#pods.get(uid) ?? [];
    this.#pods.delete(uid);
    return containers;
  }
}
