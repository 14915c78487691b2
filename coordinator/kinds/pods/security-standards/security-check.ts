/** What the checks of the Pod Security Standards share (k8s.io/pod-security-admission `policy`). */
import type { Container, Pod } from '../../../../shared/kube/pods/pod-types.js';

/** What a check looks at: a Pod, or the template of one. */
export type SecuredPod = Pick<Pod, 'spec'> & { metadata?: Pick<Pod['metadata'], 'annotations'> };

/** Why a Pod is beyond a level: in a few words, and precisely. */
export interface Violation {
  reason: string;
  detail: string;
}

/** `minor`: of the version of the standards, 1.MINOR. Undefined = fine. */
export type Check = (pod: SecuredPod, minor: number) => Violation | undefined;

/** Containers of every kind, in upstream's order. */
export function everyContainer({ spec }: SecuredPod): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

/** Names of the containers for which the test holds. */
export function containersThat(pod: SecuredPod, test: (container: Container) => boolean): string[] {
  return everyContainer(pod)
    .filter(test)
    .map(({ name }) => name);
}

/** `"a", "b"`. */
export function quoted(values: readonly string[]): string {
  return values.map((value) => `"${value}"`).join(', ');
}

/** The word for one or for several. */
export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}s`;
}

/** `container "a"` or `containers "a", "b"`. */
export function containerNames(names: readonly string[]): string {
  return `${plural('container', names.length)} ${quoted(names)}`;
}

/** `pod and containers "a", "b"`: those who set something; empty when nobody did. */
export function setters(podDid: boolean, names: readonly string[]): string {
  return [...(podDid ? ['pod'] : []), ...(names.length > 0 ? [containerNames(names)] : [])].join(' and ');
}

/** Each once, sorted. */
export function sortedSet(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
