/**
 * Renders the fields of a Pod that only the coordinator can render: images and resources. The host renders environment
 * and files from the annotation.
 */
import type { HostValue } from '../../../shared/kube/host-values/host-values-types.js';
import { HOST_VALUES_ANNOTATION, isSecretValue } from '../../../shared/kube/host-values/rendered-values.js';
import { containersOf } from '../../../shared/kube/host-values/resource-values.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { parseQuantity } from '../../../shared/kube/objects/quantity.js';
import { imageNameError } from '../../../shared/kube/pods/image-syntax.js';
import type { Container, Pod, PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import type { NodeValues } from './value-resolution.js';
import type { ValueUses } from './value-uses.js';

/** Returns the Pod with this annotation. */
export function withValuesText<T extends Pod>(pod: T, text: string): T {
  const annotations = { ...pod.metadata.annotations, [HOST_VALUES_ANNOTATION]: text };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/** Returns true if Pods of the template differ in more than their annotation. */
export function rendersSpec({ rendered }: ValueUses): boolean {
  return rendered.length > 0;
}

/**
 * Annotations of an object hold at most 256 KiB together, and a handover holds a second copy of the Pod. Above this
 * limit the Pod would be stored and could not be changed any more.
 */
const MAX_TEXT_BYTES = 100 * 1024;

/** Returns why these values cannot be rendered in Pods of the template, or undefined. */
export function refusalOfValues(uses: ValueUses, values: NodeValues): string | undefined {
  if (values.kind === 'refused') return values.message;
  const bytes = Buffer.byteLength(values.text);
  if (bytes > MAX_TEXT_BYTES)
    return `the values of this Pod have ${bytes} bytes, and at most ${MAX_TEXT_BYTES} are allowed: use shorter values, or a ConfigMap`;
  const byPath = pathsOf(values);
  for (const { container, list, resource, path } of uses.resources) {
    const value = byPath.get(path);
    if (typeof value === 'string' && (parseQuantity(value) ?? -1) >= 0) continue;
    const shown = typeof value === 'string' ? `"${value}"` : 'in a Secret';
    return `${path} is ${shown}, and ${list}.${resource} of container ${container} needs a quantity such as 256Mi`;
  }
  for (const container of uses.rendered) {
    const refusal = refusalOfContainer(renderContainer(container, uses, byPath));
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/**
 * Returns why a rendered container cannot run, or undefined. The old Pod is deleted before the new one is created, so a
 * Pod that is rejected or that cannot be pulled by any registry would leave the host without a Pod.
 */
function refusalOfContainer({ name, image = '', resources }: Container): string | undefined {
  const left = /\$\([^)]*\)/.exec(image)?.[0];
  if (left !== undefined)
    return `the image of container ${name} is "${image}", and ${left} names no variable from a value outside of a Secret`;
  const invalid = imageNameError(image);
  if (invalid !== undefined) return `the image of container ${name} is "${image}": ${invalid}`;
  for (const [resource, request] of Object.entries(resources?.requests ?? {})) {
    const limit = ownValue(resources?.limits, resource);
    if (limit === undefined || (parseQuantity(request) ?? 0) <= (parseQuantity(limit) ?? 0)) continue;
    return `requests.${resource} of container ${name} is ${request}, and must be less than or equal to its limit ${limit}`;
  }
  return undefined;
}

function renderContainer(
  container: Container,
  uses: ValueUses,
  byPath: ReadonlyMap<string, HostValue>,
): Container {
  return withResources(withImage(container, byPath), uses, byPath);
}

function pathsOf(values: NodeValues): ReadonlyMap<string, HostValue> {
  return new Map(values.kind === 'resolved' ? values.values.map(({ path, value }) => [path, value]) : []);
}

/** Returns the node's Pod. `values` must not be refused. */
export function renderPod<T extends Pod>(pod: T, uses: ValueUses, values: NodeValues): T {
  if (values.kind === 'refused') return pod;
  const annotated = withValuesText(pod, values.text);
  if (!rendersSpec(uses)) return annotated;
  const byPath = pathsOf(values);
  const render = (container: Container) => renderContainer(container, uses, byPath);
  const { containers, initContainers } = annotated.spec;
  return {
    ...annotated,
    spec: {
      ...annotated.spec,
      containers: containers.map(render),
      ...(initContainers && { initContainers: initContainers.map(render) }),
    },
  };
}

/** Returns the containers and init containers of the template, as they would be rendered in a Pod. */
export function renderedContainers(
  template: PodTemplateSpec,
  uses: ValueUses,
  values: NodeValues,
): Container[] {
  const byPath = pathsOf(values);
  return containersOf(template).map((each) => renderContainer(each, uses, byPath));
}

/** Replaces `$(NAME)` if the container has a variable of this name from a value. Others stay as they are. */
function withImage(container: Container, byPath: ReadonlyMap<string, HostValue>): Container {
  const { image } = container;
  if (!image?.includes('$(')) return container;
  const texts = new Map(
    (container.env ?? []).flatMap(({ name, valueFrom }) => {
      const value = byPath.get(valueFrom?.fieldRef?.fieldPath ?? '');
      return value === undefined || isSecretValue(value) ? [] : [[name, value] as const];
    }),
  );
  return { ...container, image: image.replace(/\$\(([^)]+)\)/g, (whole, name) => texts.get(name) ?? whole) };
}

function withResources(
  container: Container,
  { resources }: ValueUses,
  byPath: ReadonlyMap<string, HostValue>,
): Container {
  let changed = container.resources ?? {};
  for (const use of resources) {
    const value = byPath.get(use.path);
    if (use.container !== container.name || typeof value !== 'string') continue;
    changed = { ...changed, [use.list]: { ...changed[use.list], [use.resource]: value } };
  }
  return changed === container.resources || Object.keys(changed).length === 0
    ? container
    : { ...container, resources: changed };
}
