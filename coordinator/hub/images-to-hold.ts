/** Which images a node is to have before any Pod asks for them: a list in an annotation of its Node. */
import type { Node } from '../../shared/kube/node.js';
import { sameJson } from '../registry/json-value.js';
import type { LiveSession } from './live-sessions.js';

/** Names as Pods write them, separated by commas. Whoever prepares a rollout, or a person, sets it. */
export const HOLD_IMAGES_ANNOTATION = 'fleet.everynode.dev/hold-images';

const MAX_IMAGES = 100;
const MAX_NAME = 1024;

/** Sends the node's list when it is another than the one its agent was told last. */
export function tellImagesToHold(live: LiveSession, node: Node): void {
  const images = imagesToHold(node);
  if (!live.heldImages || sameJson(live.heldImages, images)) return;
  live.heldImages = images;
  live.session.send({ kind: 'holdImages', images });
}

/** [] without the annotation. What cannot be a name is the agent's to refuse. */
function imagesToHold(node: Node): string[] {
  const names = (node.metadata.annotations?.[HOLD_IMAGES_ANNOTATION] ?? '').split(',');
  const given = names.map((name) => name.trim()).filter((name) => name !== '' && name.length <= MAX_NAME);
  return [...new Set(given)].slice(0, MAX_IMAGES);
}
