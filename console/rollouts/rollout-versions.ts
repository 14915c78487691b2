/** The images that a rollout replaces, and the images that it installs. Pure. */
import {
  type ControllerRevision,
  REVISION_HASH_LABEL,
} from '../../shared/kube/daemonsets/daemonset-types.js';
import { PAST_ROLLOUT_LABEL, type Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { imagesOfRevision } from '../layout/text/image-text.js';

/** Returns the stored revision of the rollout, or undefined. */
export function revisionOf(
  rollout: Rollout,
  revisions: readonly ControllerRevision[],
): ControllerRevision | undefined {
  return ownRevisions(rollout, revisions).find((each) => isOfRollout(each, rollout));
}

/**
 * Returns `till:1.4.1 → till:1.5.0`, or one version if both are equal or the one before is not stored any more. Empty
 * if the revision is not stored.
 */
export function rolloutVersions(rollout: Rollout, revisions: readonly ControllerRevision[]): string {
  const own = ownRevisions(rollout, revisions);
  const at = own.findIndex((each) => isOfRollout(each, rollout));
  const to = imagesOfRevision(own[at]);
  const from = imagesOfRevision(own[at - 1]);
  return from && from !== to ? `${from} → ${to}` : to;
}

/** Returns the revisions of the DaemonSet, oldest first. */
function ownRevisions({ metadata }: Rollout, revisions: readonly ControllerRevision[]): ControllerRevision[] {
  const daemonSet = metadata.labels?.[PAST_ROLLOUT_LABEL] ?? metadata.name;
  return revisions
    .filter(
      (each) =>
        each.metadata.namespace === metadata.namespace &&
        each.metadata.ownerReferences?.some(({ kind, name }) => kind === 'DaemonSet' && name === daemonSet),
    )
    .sort((a, b) => a.revision - b.revision);
}

function isOfRollout({ metadata }: ControllerRevision, { status }: Rollout): boolean {
  return metadata.labels?.[REVISION_HASH_LABEL] === status?.revision;
}
