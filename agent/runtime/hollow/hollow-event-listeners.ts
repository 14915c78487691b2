/** Subscribers of a hollow engine's events. Each receives the events of its own containers only. */
import type { ContainerOwner, RuntimeEvent } from '../runtime-driver.js';
import { RuntimeEventQueue } from '../runtime-event-queue.js';

export class HollowEventListeners {
  readonly #queues = new Map<RuntimeEventQueue, ContainerOwner>();

  /** Yields `first`, then the owner's events, until `signal` aborts. */
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

  /** Sends the event to the owner's subscribers, or to all of them without an owner. */
  publish(event: RuntimeEvent, owner?: ContainerOwner): void {
    for (const [queue, listener] of this.#queues) {
      if (owner === undefined || isSameOwner(owner, listener)) queue.push(event);
    }
  }
}

/** Returns whether both name the same cluster and node. */
export function isSameOwner(one: ContainerOwner, other: ContainerOwner): boolean {
  return one.clusterUID === other.clusterUID && one.nodeName === other.nodeName;
}
