/** Images that a rollout has hosts fetch ahead of their turn: annotations of Nodes, one a DaemonSet. */
import type { Node } from '../nodes/node-types.js';

const PREFIX = 'pre-pull.fleet.everynode.dev/';

/** The annotation of a DaemonSet; its value names images as Pods do, separated by commas. */
export function prePullAnnotation(daemonSetUid: string): string {
  return `${PREFIX}${daemonSetUid}`;
}

/** What each DaemonSet, by its uid, has the node fetch. */
export function prePulls({ metadata }: Node): { daemonSetUid: string; images: string[] }[] {
  return Object.entries(metadata.annotations ?? {}).flatMap(([key, value]) =>
    key.startsWith(PREFIX) ? [{ daemonSetUid: key.slice(PREFIX.length), images: value.split(',') }] : [],
  );
}
