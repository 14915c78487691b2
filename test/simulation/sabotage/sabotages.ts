/** Ways to break the product in one place: programs that read objects differently from how they are stored. */
import { DesiredCache } from '../../../agent/desired/desired-cache.js';
import type { CoordinatorCore } from '../../../coordinator/coordinator-core.js';
import type { Informer } from '../../../coordinator/informers/informer.js';
import { HANDOVER_ANNOTATION } from '../../../shared/kube/handovers/host-handover.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Sabotage } from '../machines/simulated-world.js';
import { breakDuring } from './break-during.js';

/** Makes the coordinator read the objects of a kind differently from how they are stored. */
export function seeing<T extends KubeObject>(
  informerOf: (core: CoordinatorCore) => Informer<T>,
  change: (object: T) => T,
) {
  return (core: CoordinatorCore): CoordinatorCore => {
    const informer = informerOf(core);
    const { get, indexed, onChange } = informer;
    informer.get = (ref) => {
      const found = get.call(informer, ref);
      return found && change(found);
    };
    informer.indexed = (index, value) => indexed.call(informer, index, value).map((each) => change(each));
    informer.onChange = (listener) =>
      onChange.call(informer, ({ previous, current }) =>
        listener({ previous: previous && change(previous), current: current && change(current) }),
      );
    return core;
  };
}

/** Makes the coordinator read its policies differently. */
export function seeingPolicy(change: (spec: RolloutPolicySpec) => RolloutPolicySpec): Sabotage {
  return {
    wrapCore: seeing(
      ({ informers }) => informers.rolloutPolicies,
      (policy) => ({ ...policy, spec: change(policy.spec) }),
    ),
  };
}

/** Makes an agent read the Pods of its desired state differently from how they were sent. */
export function reading(change: (pod: Pod) => Pod): (check: () => Promise<void>) => Promise<void> {
  const { apply } = DesiredCache.prototype;
  const wrong: DesiredCache['apply'] = function (this: DesiredCache, given) {
    const set = given.set.map((each) => {
      if (each.kind) return each;
      const pod = change(JSON.parse(Buffer.from(each.object).toString()) as Pod);
      return { ...each, object: Buffer.from(JSON.stringify(pod)) };
    });
    return apply.call(this, { ...given, set });
  };
  return (check) => breakDuring(DesiredCache.prototype, { apply: wrong }, check);
}

/** Returns the Pod with a changed handover annotation, if it has one. */
export function editHandoverAnnotation(pod: Pod, change: (text: string) => string): Pod {
  const { annotations } = pod.metadata;
  const text = annotations?.[HANDOVER_ANNOTATION];
  if (text === undefined) return pod;
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...annotations, [HANDOVER_ANNOTATION]: change(text) } },
  };
}
