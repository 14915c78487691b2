/** A container that was made just now, without asking the engine. */
import type { ContainerConfig, ObservedContainer } from '../../runtime/runtime-driver.js';

/** What a look would show of it, but for the image's digest, which only a look tells. */
export function createdContainer(
  id: string,
  { identity, image, labels }: ContainerConfig,
  now: number,
): ObservedContainer {
  return { id, identity, state: 'created', image, imageID: '', createdAt: now, oomKilled: false, labels };
}
