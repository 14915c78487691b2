/** Shared parts of the Pod Security Standards (k8s.io/pod-security-admission `policy`). */
import type { Container, Pod } from '../../../../shared/kube/pods/pod-types.js';

/** A Pod or a Pod template. */
export type SecuredPod = Pick<Pod, 'spec'> & { metadata?: Pick<Pod['metadata'], 'annotations'> };

/** A violated rule: short reason and exact detail. */
export interface Violation {
  reason: string;
  detail: string;
}

/** Returns undefined if the Pod complies. `minor`: the standards' version is 1.MINOR. */
export type Check = (pod: SecuredPod, minor: number) => Violation | undefined;

/** Returns containers of all kinds, in upstream's order. */
export function everyContainer({ spec }: SecuredPod): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

/** Returns the names of the containers that pass the test. */
export function containersThat(pod: SecuredPod, test: (container: Container) => boolean): string[] {
  return everyContainer(pod)
    .filter(test)
    .map(({ name }) => name);
}

/** Returns for example `"a", "b"`. */
export function quoted(values: readonly string[]): string {
  return values.map((value) => `"${value}"`).join(', ');
}

/** Returns the word in the singular or the plural. */
export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}s`;
}

/** Returns `container "a"` or `containers "a", "b"`. */
export function containerNames(names: readonly string[]): string {
  return `${plural('container', names.length)} ${quoted(names)}`;
}

/** Returns for example `pod and containers "a", "b"`, or "" if neither sets the field. */
export function setters(podDid: boolean, names: readonly string[]): string {
  return [...(podDid ? ['pod'] : []), ...(names.length > 0 ? [containerNames(names)] : [])].join(' and ');
}

/** Returns the values sorted, without duplicates. */
export function sortedSet(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
