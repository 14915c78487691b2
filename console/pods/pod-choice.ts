/** Which Pod of a list is shown. Pure. */
import type { Pod } from '../../shared/kube/pods/pod-types.js';

/**
 * Returns the Pod that the address names, or the Pod that is shown already, or the first. When another Pod fails, it
 * becomes the first: showing it would end an open shell.
 */
export function shownPod(
  rows: readonly Pod[],
  asked: string | null,
  present: string | undefined,
): Pod | undefined {
  const find = (key: string | null | undefined) => rows.find((each) => podKey(each) === key);
  return find(asked) ?? find(present) ?? rows[0];
}

export function podKey({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}
