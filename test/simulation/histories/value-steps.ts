/** Users who give hosts values, and DaemonSets whose Pods use them. */
import { daemonSetKind, hostValuesKind } from '../../../coordinator/kinds/index.js';
import type { DaemonSetSpec } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { HostValuesSpec } from '../../../shared/kube/host-values/host-values-types.js';
import { isNotFound } from '../../../shared/kube/objects/api-status.js';
import { changed, created, deleted, type Request, refOf, type UserDeps } from './api-request-steps.js';
import type { ValueStep, ValueUse } from './history.js';
import { setVersion } from './history-manifests.js';

/** The paths of the values that histories use. */
export const VALUE_PATHS: Readonly<Record<ValueUse, string>> = {
  store: "hostValues['store']",
  zone: "node.metadata.labels['zone']",
};

export function valueRequests(step: ValueStep, parts: UserDeps): Request[] {
  switch (step.kind) {
    case 'use values':
      return [
        (registry) =>
          changed(registry, daemonSetKind, refOf(step.name), ({ spec }) => useValues(spec, step.uses)),
      ];
    case 'set values':
      return [putValues(step.object, specOf(step))];
    case 'delete values':
      return [(registry) => deleted(registry, hostValuesKind, refOf(step.object), parts, {})];
  }
}

export function useValues(spec: DaemonSetSpec, uses: readonly ValueUse[]): void {
  const [container] = spec.template.spec.containers;
  if (!container) return;
  const env = uses.map((use) => ({
    name: use.toUpperCase(),
    valueFrom: { fieldRef: { fieldPath: VALUE_PATHS[use] } },
  }));
  spec.template.spec.containers = [{ ...container, env }];
  setVersion(spec);
}

/** Each value names the host or the zone for which it is, so that a wrong one shows. */
function specOf({ priority, zone, nodes, key, value }: Extract<ValueStep, { kind: 'set values' }>) {
  const hosts = nodes.map((node) => [node, { [key]: `${value} of ${node}` }]);
  const spec: HostValuesSpec = {
    priority,
    ...(nodes.length > 0
      ? { hosts: Object.fromEntries(hosts) }
      : { values: { [key]: `${value} of ${zone ? `zone ${zone}` : 'all'}` } }),
    ...(zone && { nodeSelector: { matchLabels: { zone } } }),
  };
  return spec;
}

/** As `kubectl apply`. */
function putValues(name: string, spec: HostValuesSpec): Request {
  return async (registry) => {
    try {
      return await changed(registry, hostValuesKind, refOf(name), (present) => {
        present.spec = spec;
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return created(registry, hostValuesKind, { metadata: { name }, spec });
    }
  };
}

/** Gives every host every value, once. A wave waits for hosts that lack one. */
export function repairValues({ stored: truth }: UserDeps): Request[] {
  const objects = [...truth.hostValues.values()].filter(({ metadata }) => metadata.name !== 'spare');
  const ranks = objects.map(
    ({ metadata }, rank): Request =>
      (registry) =>
        changed(registry, hostValuesKind, refOf(metadata.name), ({ spec }) => {
          spec.priority = rank;
        }),
  );
  return [...ranks, putValues('fallback', { priority: -100, values: { store: 'last of all' } })];
}
