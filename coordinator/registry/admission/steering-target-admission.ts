/** Requests to a rollout that name hosts: refused (422) where there is no such Node, as they are where there is no such wave. */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import type { Kind } from '../../kinds/kind.js';
import { validateNodeTargets } from '../../kinds/rollouts/rollout-requests.js';
import type { Store } from '../../store/store.js';
import type { WriteOptions } from '../registry.js';
import { prefixOf, refOf } from '../storage-keys.js';
import { refuseInvalid } from './write-admission.js';

const NODES: Pick<Kind<Node>, 'group' | 'resource' | 'namespaced'> = {
  group: '',
  resource: 'nodes',
  namespaced: false,
};

/** The options with a look at what a user asks of a Rollout. Nobody else asks: our own writes cost nothing. */
export async function withSteeringTargetCheck<T extends WriteOptions>(
  store: Store,
  { group, kind }: Pick<Kind, 'group' | 'kind'>,
  options: T,
): Promise<T> {
  if (group !== FLEET_GROUP || kind !== 'Rollout' || options.user === undefined) return options;
  const { items } = await store.list(prefixOf(NODES));
  const names = new Set(items.map(({ key }) => refOf(NODES, key).name));
  const { review } = options;
  return {
    ...options,
    review: (reviewed, next, current) => {
      review?.(reviewed, next, current);
      if (!current) return;
      const strangers = validateNodeTargets(next as Rollout, current as Rollout, (name) => names.has(name));
      refuseInvalid(reviewed, next.metadata.name, strangers);
    },
  };
}
