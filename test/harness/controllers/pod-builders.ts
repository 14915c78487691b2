/** Small Pods for tests of kinds: what a manifest would say, with upstream's defaults filled in. */

import { setPodDefaults, setPodTemplateDefaults } from '../../../shared/kube/pods/pod-defaults.js';
import type { Pod, PodSpec, PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';

/** A Pod `p` in `default` with this spec. The spec is as a client sends it, so it may lack or misname anything. */
export function podFrom(spec: object, metadata: object = {}): Pod {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', ...metadata },
    spec: structuredClone(spec),
  } as Pod;
  setPodDefaults(pod);
  return pod;
}

/** A spec with one container `c` of image `i`, changed by `fields`. */
export function oneContainer(fields: object = {}, spec: object = {}): object {
  return { containers: [{ name: 'c', image: 'i', ...fields }], ...spec };
}

/** The same spec as part of a template: requests and host ports are not filled in. */
export function templateSpec(spec: object): PodSpec {
  const template = { spec: structuredClone(spec) } as PodTemplateSpec;
  setPodTemplateDefaults(template);
  return template.spec;
}
