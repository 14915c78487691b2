/**
 * Authorization to steer a DaemonJob. A DaemonSet is steered by its Rollout, so the right to change the DaemonSet is not
 * enough to approve its waves. A DaemonJob is steered by annotations of its own, and needs the same right.
 */
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { isSteered } from '../kinds/daemonjobs/daemonjob-steering.js';
import { daemonJobKind, rolloutKind } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';

/** Returns the access that the write needs besides its own: the same verb on the Rollout of this name. */
export function steeringAccess(
  verb: string,
  kind: Pick<Kind, 'group' | 'resource'>,
  next: KubeObject,
  current: KubeObject | undefined,
):
  | { verb: string; group: string; resource: string; subresource: ''; namespace: string; name: string }
  | undefined {
  if (kind.group !== daemonJobKind.group || kind.resource !== daemonJobKind.resource || !current)
    return undefined;
  if (!isSteered(next as DaemonJob, current as DaemonJob)) return undefined;
  const { namespace = '', name } = current.metadata;
  const { group, resource } = rolloutKind;
  return { verb, group, resource, subresource: '', namespace, name };
}
