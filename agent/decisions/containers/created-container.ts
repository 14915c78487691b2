import type { ContainerConfig, ObservedContainer } from '../../runtime/runtime-driver.js';

/** Returns a newly created container as an inspection would show it, except for the image's digest. */
export function createdContainer(
  id: string,
  { identity, image, labels }: ContainerConfig,
  now: number,
): ObservedContainer {
  return { id, identity, state: 'created', image, imageID: '', createdAt: now, oomKilled: false, labels };
}
