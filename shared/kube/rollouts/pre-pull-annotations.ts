/** Images that hosts pull before a rollout reaches them: Node annotations, one for each DaemonSet. */
import type { Node } from '../nodes/node-types.js';

const PREFIX = 'pre-pull.fleet.everynode.dev/';

/** Returns the annotation key of a DaemonSet. Its value is a comma-separated list of image names. */
export function prePullAnnotation(daemonSetUid: string): string {
  return `${PREFIX}${daemonSetUid}`;
}

/** Returns the images that the node should pull, by DaemonSet uid. */
export function prePulls({ metadata }: Node): { daemonSetUid: string; images: string[] }[] {
  return Object.entries(metadata.annotations ?? {}).flatMap(([key, value]) =>
    key.startsWith(PREFIX) ? [{ daemonSetUid: key.slice(PREFIX.length), images: value.split(',') }] : [],
  );
}
