/** Which images a node is to have before any Pod asks for them: a list in an annotation of its Node. */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { prePulls } from '../../../shared/kube/rollouts/pre-pull-annotations.js';
import type { Informers } from '../../informers/informer.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { LiveSession } from '../sessions/live-sessions.js';

/** Names as Pods write them, separated by commas. Whoever prepares a rollout, or a person, sets it. */
export const PREFETCH_IMAGES_ANNOTATION = 'fleet.everynode.dev/prefetch-images';

/** What a DaemonSet that is gone wanted is not held any more. */
type DaemonSets = Pick<Informers['daemonSets'], 'byUid'>;

const MAX_IMAGES = 100;
const MAX_NAME = 1024;

/** Sends the node's list when it is another than the one its agent was told last. */
export function sendPrefetchImages(live: LiveSession, node: Node, daemonSets: DaemonSets): void {
  const images = imagesToHold(node, daemonSets);
  if (!live.prefetchImages || sameJson(live.prefetchImages, images)) return;
  live.prefetchImages = images;
  live.session.send({ kind: 'prefetchImages', images });
}

/** [] without the annotation. What cannot be a name is the agent's to refuse. */
function imagesToHold(node: Node, daemonSets: DaemonSets): string[] {
  const ahead = prePulls(node).filter(({ daemonSetUid }) => daemonSets.byUid(daemonSetUid));
  const listed = (node.metadata.annotations?.[PREFETCH_IMAGES_ANNOTATION] ?? '').split(',');
  const names = [...listed, ...ahead.flatMap(({ images }) => images)];
  const given = names.map((name) => name.trim()).filter((name) => name !== '' && name.length <= MAX_NAME);
  return [...new Set(given)].slice(0, MAX_IMAGES);
}
