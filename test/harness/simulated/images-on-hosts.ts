/** The images and containers of simulated hosts. Images are named as in manifests. */
import { fullImageName } from '../../../agent/decisions/images/image-name.js';
import type { SimulatedNode } from '../../../agent/simulate/simulated-node.js';

/** Returns whether a container of this image runs on the host now. */
export function runsImage({ engine, owner }: SimulatedNode, image: string): boolean {
  const name = fullImageName(image);
  const running = engine.ownedBy(owner).filter(({ state }) => state === 'running');
  return running.some(({ config }) => fullImageName(config.image) === name);
}

/** Returns whether the host has the image. */
export function hasImage({ engine }: SimulatedNode, image: string): boolean {
  return engine.images.has(fullImageName(image));
}

/** Returns whether the host is pulling the image. */
export function isPulling({ engine }: SimulatedNode, image: string): boolean {
  return engine.images.isPulling(fullImageName(image));
}
