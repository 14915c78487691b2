/** The values of hosts that a Pod template uses, and where. Pure. */
import { parseValuePath } from '../../shared/kube/host-values/rendered-values.js';
import { containersOf, parseResourceUse } from '../../shared/kube/host-values/resource-values.js';
import type { PodTemplateSpec } from '../../shared/kube/pods/pod-types.js';

interface TemplateValue {
  /** `hostValues['KEY']`, or a label or annotation of the Node. */
  path: string;
  /** Key of HostValues. Absent for labels and annotations. */
  key?: string;
  /** For example `variable STORE of till`. */
  places: readonly string[];
}

/** Returns each value once, sorted by path. */
export function templateValues(template: PodTemplateSpec): TemplateValue[] {
  const places = new Map<string, string[]>();
  for (const [path, place] of [...variables(template), ...files(template), ...quantities(template)]) {
    if (!parseValuePath(path)) continue;
    const known = places.get(path);
    if (known) known.push(place);
    else places.set(path, [place]);
  }
  return [...places]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, found]) => {
      const value = parseValuePath(path);
      return { path, ...(value?.source === 'hostValues' && { key: value.key }), places: found };
    });
}

type Use = [path: string, place: string];

function variables(template: PodTemplateSpec): Use[] {
  return containersOf(template).flatMap(({ name, env = [] }) =>
    env.flatMap((variable): Use[] => {
      const path = variable.valueFrom?.fieldRef?.fieldPath;
      return path ? [[path, `variable ${variable.name} of ${name}`]] : [];
    }),
  );
}

function files({ spec }: PodTemplateSpec): Use[] {
  return (spec.volumes ?? []).flatMap(({ name, downwardAPI, projected }) => {
    const items = [
      ...(downwardAPI?.items ?? []),
      ...(projected?.sources ?? []).flatMap((source) => source.downwardAPI?.items ?? []),
    ];
    return items.flatMap(({ path, fieldRef }): Use[] =>
      fieldRef ? [[fieldRef.fieldPath, `file ${path} of volume ${name}`]] : [],
    );
  });
}

function quantities({ metadata }: PodTemplateSpec): Use[] {
  return Object.entries(metadata?.annotations ?? {}).flatMap(([annotation, key]): Use[] => {
    const use = parseResourceUse(annotation);
    if (!use) return [];
    const list = use.list === 'limits' ? 'limit' : 'request';
    return [[`hostValues['${key}']`, `${use.resource} ${list} of ${use.container}`]];
  });
}
