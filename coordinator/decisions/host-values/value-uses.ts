/** Finds the values that a Pod template uses. A template that uses none costs nothing more. */
import { parseValuePath } from '../../../shared/kube/host-values/rendered-values.js';
import {
  containersOf,
  parseResourceUse,
  type ResourceUse,
} from '../../../shared/kube/host-values/resource-values.js';
import type { Container, PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import type { DownwardAPIVolumeFile } from '../../../shared/kube/pods/volume-types.js';

export interface ValueUses {
  /** Every `fieldPath` once, sorted. */
  paths: readonly string[];
  /** Keys of HostValues among the paths, sorted. */
  keys: readonly string[];
  resources: readonly ResourceUse[];
  /** Containers whose image or resources the coordinator renders: without them all Pods of a template are alike. */
  rendered: readonly Container[];
}

function resourceUses({ metadata }: PodTemplateSpec): ResourceUse[] {
  return Object.entries(metadata?.annotations ?? {}).flatMap(([name, key]) => {
    const use = parseResourceUse(name);
    return use ? [{ ...use, path: `hostValues['${key}']` }] : [];
  });
}

function filesOf({ spec }: PodTemplateSpec): DownwardAPIVolumeFile[] {
  return (spec.volumes ?? []).flatMap(({ downwardAPI, projected }) => [
    ...(downwardAPI?.items ?? []),
    ...(projected?.sources ?? []).flatMap((source) => source.downwardAPI?.items ?? []),
  ]);
}

function findUses(template: PodTemplateSpec): ValueUses | undefined {
  const containers = containersOf(template);
  const fields = [
    ...containers.flatMap(({ env }) => env ?? []).map(({ valueFrom }) => valueFrom?.fieldRef?.fieldPath),
    ...filesOf(template).map(({ fieldRef }) => fieldRef?.fieldPath),
  ];
  const resources = resourceUses(template);
  const named = [...fields.flatMap((path) => path ?? []), ...resources.map(({ path }) => path)];
  const used = named.flatMap((path) => {
    const value = parseValuePath(path);
    return value ? [{ path, ...value }] : [];
  });
  if (used.length === 0) return undefined;
  const keys = used.flatMap(({ source, key }) => (source === 'hostValues' ? [key] : []));
  return {
    paths: [...new Set(used.map(({ path }) => path))].sort(),
    keys: [...new Set(keys)].sort(),
    resources,
    rendered: containers.filter(
      ({ name, image }) =>
        image?.includes('$(') === true || resources.some(({ container }) => container === name),
    ),
  };
}

/** By template, which all versions of a DaemonSet share until it changes. `null`: it uses no values. */
const known = new WeakMap<PodTemplateSpec, ValueUses | null>();

/** Returns undefined for a template that uses no values. */
export function valueUsesOf(template: PodTemplateSpec): ValueUses | undefined {
  const present = known.get(template);
  if (present !== undefined) return present ?? undefined;
  const uses = findUses(template);
  known.set(template, uses ?? null);
  return uses;
}
