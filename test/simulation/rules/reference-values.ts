/** The reference model of HostValues, written from docs/host-values.md and without the product's code. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';

/** Text for a value that is missing or contradictory. No value of a history has it. */
export const REFUSED = '(refused)';

const ANNOTATION = 'fleet.everynode.dev/host-values';

/** Returns the paths of values in the environment. Histories use values nowhere else. */
export function valuePathsOf({ containers }: Pick<PodSpec, 'containers'>): string[] {
  const paths = containers.flatMap(({ env = [] }) =>
    env.map(({ valueFrom }) => valueFrom?.fieldRef?.fieldPath),
  );
  return paths.filter((path) => path !== undefined);
}

/** Returns the values with which the Pod was created, by path. */
export function valuesOfPod({ metadata }: { metadata: { annotations?: Record<string, string> } }) {
  return JSON.parse(metadata.annotations?.[ANNOTATION] ?? '{}') as Record<string, unknown>;
}

/** Returns the value of a path on a node, or `REFUSED`. */
export function expectedValue(path: string, node: Node, objects: Iterable<HostValues>): string {
  const [, source, key = ''] = /^(.*)\['(.*)'\]$/.exec(path) ?? [];
  if (source === 'node.metadata.labels') return node.metadata.labels?.[key] ?? REFUSED;
  const found = [...objects].flatMap((each) => candidatesOf(each, key, node));
  const best = Math.max(...found.map(({ rank }) => rank));
  const values = new Set(found.filter(({ rank }) => rank === best).map(({ value }) => value));
  const [value = REFUSED] = values;
  return values.size === 1 ? value : REFUSED;
}

/** Returns the values that a Pod of the DaemonSet has on the node, by path. */
export function valuesOn(
  { spec }: DaemonSet,
  node: Node,
  { hostValues }: { hostValues: ReadonlyMap<string, HostValues> },
): Record<string, string> {
  const paths = valuePathsOf(spec.template.spec);
  return Object.fromEntries(paths.map((path) => [path, expectedValue(path, node, hostValues.values())]));
}

/** A value that the DaemonSet uses is missing or contradictory on the node. */
export function hasNoValues(
  daemonSet: DaemonSet,
  node: Node | undefined,
  stored: { hostValues: ReadonlyMap<string, HostValues> },
): boolean {
  return node !== undefined && Object.values(valuesOn(daemonSet, node, stored)).includes(REFUSED);
}

/** The priority counts first. Of equal ones, an object that names the host wins. */
function candidatesOf({ spec }: HostValues, key: string, { metadata }: Node) {
  const { priority = 0, hosts = {}, values = {}, nodeSelector } = spec;
  const named = hosts[metadata.name]?.[key];
  if (named !== undefined) return [{ rank: priority * 2 + 1, value: named }];
  const wanted = Object.entries(nodeSelector?.matchLabels ?? {});
  const isSelected = wanted.every(([label, value]) => metadata.labels?.[label] === value);
  const value = isSelected ? values[key] : undefined;
  return value === undefined ? [] : [{ rank: priority * 2, value }];
}
