/** Images that a node should pull before a Pod needs them, listed in an annotation of its Node. */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { prePulls } from '../../../shared/kube/rollouts/pre-pull-annotations.js';
import type { Informers } from '../../informers/informer.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { LiveSession } from '../sessions/live-sessions.js';

/** Comma-separated image names in the form that Pods use. Set by an operator or by a rollout. */
export const PREFETCH_IMAGES_ANNOTATION = 'fleet.everynode.dev/prefetch-images';

/** Images for a deleted DaemonSet are dropped from the list. */
type DaemonSets = Pick<Informers['daemonSets'], 'byUid'>;

const MAX_IMAGES = 100;
const MAX_NAME = 1024;

/** Sends the node's list if it differs from the list that its agent received last. */
export function sendPrefetchImages(live: LiveSession, node: Node, daemonSets: DaemonSets): void {
  const images = prefetchList(node, daemonSets);
  if (sameJson(live.prefetchImages, images)) return;
  live.prefetchImages = images;
  live.session.send({ kind: 'prefetchImages', images });
}

/** Returns the node's list; [] without the annotation. The agent rejects invalid names. */
function prefetchList(node: Node, daemonSets: DaemonSets): string[] {
  const prePulled = prePulls(node).filter(({ daemonSetUid }) => daemonSets.byUid(daemonSetUid));
  const listed = (node.metadata.annotations?.[PREFETCH_IMAGES_ANNOTATION] ?? '').split(',');
  const names = [...listed, ...prePulled.flatMap(({ images }) => images)];
  const valid = names.map((name) => name.trim()).filter((name) => name !== '' && name.length <= MAX_NAME);
  return [...new Set(valid)].slice(0, MAX_IMAGES);
}
