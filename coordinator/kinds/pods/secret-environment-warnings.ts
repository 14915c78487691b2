/** Secrets as environment variables work, but no longer stay secret on the host: said whenever a spec is applied. */
import type { Container, PodSpec } from '../../../shared/kube/pods/pod-types.js';

const WARNING =
  "the container engine writes the Secret's value to the host's disk in plain text with the container's settings; mounted as a file it stays in memory";

/** One warning for each place of the spec (at this path) that puts a Secret into an environment. */
export function secretEnvironmentWarnings(spec: PodSpec, field: string): string[] {
  const lists = { initContainers: spec.initContainers ?? [], containers: spec.containers };
  return Object.entries(lists).flatMap(([list, containers]) =>
    containers.flatMap((container, index) => places(container, `${field}.${list}[${index}]`)),
  );
}

function places({ env = [], envFrom = [] }: Container, field: string): string[] {
  const variables = env.flatMap(({ valueFrom }, index) =>
    valueFrom?.secretKeyRef ? [`${field}.env[${index}].valueFrom.secretKeyRef`] : [],
  );
  const sources = envFrom.flatMap(({ secretRef }, index) =>
    secretRef ? [`${field}.envFrom[${index}].secretRef`] : [],
  );
  return [...variables, ...sources].map((place) => `${place}: ${WARNING}`);
}
