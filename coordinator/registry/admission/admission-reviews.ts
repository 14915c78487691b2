/** Admission checks that need more than the written object, like upstream's admission plugins. */

import type { DaemonJob } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { FLEET_GROUP, type KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { validateJobTargets } from '../../kinds/daemonjobs/daemonjob-steering.js';
import type { FieldError, Kind } from '../../kinds/kind.js';
import { validateNodeTargets } from '../../kinds/rollouts/rollout-requests.js';
import type { Store } from '../../store/store.js';
import type { RegistryDeps } from '../registry.js';
import { FactsMissing } from '../registry-errors.js';
import type { WriteOptions } from '../registry-options.js';
import { prefixOf, refOf } from '../storage-keys.js';
import { withPodSecurity } from './pod-security-admission.js';
import { withPolicies } from './policy-admission.js';
import { withSingleDefaultClass } from './priority-admission.js';
import { refuseInvalid } from './write-admission.js';

/** Returns the options of an update with all checks that apply to this kind. */
export async function withAdmissionReviews<T extends WriteOptions>(
  deps: Pick<RegistryDeps, 'store' | 'kinds' | 'customKinds' | 'policies'>,
  kind: Kind,
  namespace: string | undefined,
  options: T,
): Promise<T> {
  const { store } = deps;
  const secured = await withPodSecurity(store, kind, namespace, options);
  const classed = await withSingleDefaultClass(store, kind, secured);
  const steered = withSteeringTargetCheck(store, kind, classed);
  return withPolicies(deps, kind, namespace, { operation: 'UPDATE', options: steered });
}

const NODES: Pick<Kind<Node>, 'group' | 'resource' | 'namespaced'> = {
  group: '',
  resource: 'nodes',
  namespaced: false,
};

type ValidateTargets = (
  next: KubeObject,
  current: KubeObject,
  isNode: (name: string) => boolean,
) => FieldError[];

const STEERING_TARGETS: Readonly<Record<string, ValidateTargets>> = {
  Rollout: (next, current, isNode) => validateNodeTargets(next as Rollout, current as Rollout, isNode),
  DaemonJob: (next, current, isNode) => validateJobTargets(next as DaemonJob, current as DaemonJob, isNode),
};

/**
 * Adds a check of the steering of a Rollout or a DaemonJob: it must name existing Nodes. Only users' writes are checked.
 * Nodes are listed only for a write that names new ones.
 */
function withSteeringTargetCheck<T extends WriteOptions>(
  store: Store,
  { group, kind }: Pick<Kind, 'group' | 'kind'>,
  options: T,
): T {
  const validate = group === FLEET_GROUP ? STEERING_TARGETS[kind] : undefined;
  if (!validate || options.user === undefined) return options;
  let names: ReadonlySet<string> | undefined;
  const load = async () => {
    const { items } = await store.list(prefixOf(NODES));
    names = new Set(items.map(({ key }) => refOf(NODES, key).name));
  };
  const isNode = (name: string): boolean => {
    if (!names) throw new FactsMissing(load);
    return names.has(name);
  };
  const { review } = options;
  return {
    ...options,
    review: (reviewed, next, current) => {
      review?.(reviewed, next, current);
      if (current) refuseInvalid(reviewed, next.metadata.name, validate(next, current, isNode));
    },
  };
}
