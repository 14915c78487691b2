/**
 * Annotations of a Pod template that replace a quantity by a host value:
 * `resources.fleet.everynode.dev/CONTAINER.limits.memory: KEY`.
 */
import type { Container, PodTemplateSpec } from '../pods/pod-types.js';

export const RESOURCE_PREFIX = 'resources.fleet.everynode.dev/';

/** A quantity of a container that a host value replaces. */
export interface ResourceUse {
  container: string;
  list: 'limits' | 'requests';
  resource: string;
  /** The `fieldPath` of the value. */
  path: string;
}

export function containersOf({ spec }: Pick<PodTemplateSpec, 'spec'>): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

/** Returns the resource that an annotation of a template names, or undefined if its name has another form. */
export function parseResourceUse(annotation: string): Omit<ResourceUse, 'path'> | undefined {
  const match = /^(.+)\.(limits|requests)\.([a-z-]+)$/.exec(
    annotation.startsWith(RESOURCE_PREFIX) ? annotation.slice(RESOURCE_PREFIX.length) : '',
  );
  if (!match) return undefined;
  const [, container = '', list, resource = ''] = match;
  return { container, list: list as ResourceUse['list'], resource };
}
