/**
 * Merges overrides into a Pod template: containers, variables and volumes by name, requests and limits by resource. A
 * variable and a volume are replaced as a whole, because a merge of two sources would be invalid.
 */
import { createHash } from 'node:crypto';
import { OVERRIDES_ANNOTATION } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import {
  containersOf,
  parseResourceUse,
  RESOURCE_PREFIX,
} from '../../../shared/kube/host-values/resource-values.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { Container, PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import { isSameValue, type OverrideField } from './override-fields.js';
import type { OverriddenField } from './override-resolution.js';

/** `applied`: the fields that change the template. `text`: the Pod's annotation, or '' if none does. */
export type OverriddenTemplate =
  | { kind: 'merged'; template: PodTemplateSpec; applied: readonly OverriddenField[]; text: string }
  | { kind: 'refused'; message: string };

/** Returns the template itself if no field changes it. */
export function overriddenTemplate(
  template: PodTemplateSpec,
  fields: readonly OverriddenField[],
): OverriddenTemplate {
  const stray = fields.find((field) => !isKnown(template, field));
  if (stray) {
    const what = stray.kind === 'volume' ? `volume "${stray.value.name}"` : `container "${stray.container}"`;
    return {
      kind: 'refused',
      message: `DaemonSetOverride ${stray.from} changes ${what}, which the DaemonSet does not have`,
    };
  }
  const applied = fields.filter((field) => isChange(template, field));
  if (applied.length === 0) return { kind: 'merged', template, applied, text: '' };
  const text = digestOf(applied);
  const merged = applied.reduce(withField, withoutReplacedValues(template, applied));
  const annotations = { ...merged.metadata?.annotations, [OVERRIDES_ANNOTATION]: text };
  return {
    kind: 'merged',
    template: { ...merged, metadata: { ...merged.metadata, annotations } },
    applied,
    text,
  };
}

/** A misspelt name would silently have no effect. */
function isKnown(template: PodTemplateSpec, field: OverrideField): boolean {
  if (field.kind !== 'volume') return containerNamed(template, field.container) !== undefined;
  return template.spec.volumes?.some(({ name }) => name === field.value.name) === true;
}

function containerNamed(template: PodTemplateSpec, name: string): Container | undefined {
  return containersOf(template).find((container) => container.name === name);
}

function presentValue(template: PodTemplateSpec, field: OverrideField): unknown {
  if (field.kind === 'volume') return template.spec.volumes?.find(({ name }) => name === field.value.name);
  const container = containerNamed(template, field.container);
  if (field.kind === 'image') return container?.image;
  if (field.kind === 'resource') return ownValue(container?.resources?.[field.list], field.resource);
  // Of variables with one name, the last one counts.
  return container?.env?.filter(({ name }) => name === field.value.name).at(-1);
}

function isChange(template: PodTemplateSpec, field: OverrideField): boolean {
  if (field.kind === 'resource' && replacedValue(template, field) !== undefined) return true;
  return !isSameValue(field.kind, presentValue(template, field), field.value);
}

/** Returns the annotation by which a host value would replace the quantity after the override. */
function replacedValue({ metadata }: PodTemplateSpec, field: OverrideField): string | undefined {
  if (field.kind !== 'resource') return undefined;
  return Object.keys(metadata?.annotations ?? {}).find((annotation) => {
    if (!annotation.startsWith(RESOURCE_PREFIX)) return false;
    const use = parseResourceUse(annotation);
    return use?.container === field.container && use.list === field.list && use.resource === field.resource;
  });
}

/** An override wins over a host value. */
function withoutReplacedValues(template: PodTemplateSpec, fields: readonly OverrideField[]): PodTemplateSpec {
  const replaced = new Set(fields.map((field) => replacedValue(template, field)));
  const kept = Object.entries(template.metadata?.annotations ?? {}).filter(([name]) => !replaced.has(name));
  return { ...template, metadata: { ...template.metadata, annotations: Object.fromEntries(kept) } };
}

function withField(template: PodTemplateSpec, field: OverrideField): PodTemplateSpec {
  const { spec } = template;
  if (field.kind === 'volume') {
    const volumes = (spec.volumes ?? []).map((each) => (each.name === field.value.name ? field.value : each));
    return { ...template, spec: { ...spec, volumes } };
  }
  const change = (each: Container) =>
    each.name === field.container ? withContainerField(each, field) : each;
  return {
    ...template,
    spec: {
      ...spec,
      containers: spec.containers.map(change),
      ...(spec.initContainers && { initContainers: spec.initContainers.map(change) }),
    },
  };
}

function withContainerField(
  container: Container,
  field: Exclude<OverrideField, { kind: 'volume' }>,
): Container {
  switch (field.kind) {
    case 'image':
      return { ...container, image: field.value };
    case 'resource': {
      const { resources = {} } = container;
      const list = { ...resources[field.list], [field.resource]: field.value };
      return { ...container, resources: { ...resources, [field.list]: list } };
    }
    case 'env': {
      const { env = [] } = container;
      const at = env.findLastIndex(({ name }) => name === field.value.name);
      // Later variables may refer to earlier ones, so the variable keeps its place.
      const changed = at < 0 ? [...env, field.value] : env.with(at, field.value);
      return { ...container, env: changed };
    }
  }
}

const DIGEST_CHARACTERS = 16;

/** Equal for equal changes, whichever overrides make them: a renamed override replaces no Pod. */
function digestOf(fields: readonly OverriddenField[]): string {
  const changes = fields.map(({ path, value }) => [path, value]);
  const text = JSON.stringify(changes, sortedKeys);
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_CHARACTERS);
}

/** The order of keys in a manifest must not replace Pods. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
