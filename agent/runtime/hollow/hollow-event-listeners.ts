/** Who listens to a hollow engine's events; each hears of its own containers only. */
import type { ContainerOwner, RuntimeEvent } from '../runtime-driver.js';
import { RuntimeEventQueue } from '../runtime-event-queue.js';

export class HollowEventListeners {
  readonly #queues = new Map<RuntimeEventQueue, ContainerOwner>();

  /** Events for this owner, beginning with `first`, until aborted. */
  async *listen(
    owner: ContainerOwner,
    first: RuntimeEvent,
    signal: AbortSignal,
  ): AsyncGenerator<RuntimeEvent, void> {
    const queue = new RuntimeEventQueue();
    queue.push(first);
    this.#queues.set(queue, owner);
    try {
      yield* queue.read(signal);
    } finally {
      this.#queues.delete(queue);
    }
  }

  /** To the listeners of `owner`; to all when none is given. */
  publish(event: RuntimeEvent, owner?: ContainerOwner): void {
    for (const [queue, listener] of this.#queues) {
      if (owner === undefined || isSameOwner(owner, listener)) queue.push(event);
    }
  }
}

/** True for one fleet and one node. */
export function isSameOwner(one: ContainerOwner, other: ContainerOwner): boolean {
  return one.clusterUID === other.clusterUID && one.nodeName === other.nodeName;
}
