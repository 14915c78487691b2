/** Sets defaults of Pods and Pod templates in place (`pkg/apis/core/v1/defaults.go`). Idempotent. */

import type { Container, Pod, PodSpec, PodTemplateSpec } from './pod-types.js';
import type { Handler, Probe } from './probe-types.js';
import { setVolumeDefaults } from './volume-defaults.js';

/** Termination grace period of a Pod that names none. */
export const DEFAULT_GRACE_SECONDS = 30;

/** Regular, init and ephemeral containers. */
function everyContainer(spec: PodSpec): Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

function setHandlerDefaults(handler: Handler | undefined): void {
  if (handler?.httpGet) {
    handler.httpGet.path ||= '/';
    handler.httpGet.scheme ||= 'HTTP';
  }
  if (handler?.grpc) handler.grpc.service ??= '';
}

function setProbeDefaults(probe: Probe | undefined): void {
  if (!probe) return;
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  setHandlerDefaults(probe);
}

function setContainerDefaults(container: Container): void {
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  container.imagePullPolicy ||= defaultPullPolicy(container.image ?? '');
  container.resources ??= {};
  for (const port of container.ports ?? []) port.protocol ||= 'TCP';
  for (const variable of container.env ?? []) {
    if (variable.valueFrom?.fieldRef) variable.valueFrom.fieldRef.apiVersion ||= 'v1';
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    setProbeDefaults(probe);
  }
  setHandlerDefaults(container.lifecycle?.postStart);
  setHandlerDefaults(container.lifecycle?.preStop);
}

/** `serviceAccount` is the deprecated name of `serviceAccountName`. Either may be set; both get the same value. */
function matchServiceAccounts(spec: PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

function setPodSpecDefaults(spec: PodSpec): void {
  spec.containers ??= [];
  spec.restartPolicy ||= 'Always';
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.schedulerName ||= 'default-scheduler';
  spec.terminationGracePeriodSeconds ??= DEFAULT_GRACE_SECONDS;
  spec.securityContext ??= {};
  matchServiceAccounts(spec);
  for (const volume of spec.volumes ?? []) setVolumeDefaults(volume);
  for (const container of everyContainer(spec)) setContainerDefaults(container);
}

/** Templates only get the defaults of the spec. Resource requests and host ports are only set on Pods. */
export function setPodTemplateDefaults(template: PodTemplateSpec): void {
  template.spec ??= { containers: [] };
  setPodSpecDefaults(template.spec);
}

/** In the host's network namespace every container port is a host port. */
function setHostPorts(spec: PodSpec): void {
  for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
    for (const port of container.ports ?? []) port.hostPort ||= port.containerPort;
  }
}

/** A limit without a request implies a request of the same amount. */
function setRequestsFromLimits(container: Container): void {
  const { limits, requests } = container.resources ?? {};
  if (!limits) return;
  container.resources = { ...container.resources, requests: { ...limits, ...requests } };
}

/** Sets all defaults of a Pod: spec, requests from limits, host ports and service links. */
export function setPodDefaults(pod: Pod): void {
  pod.spec ??= { containers: [] };
  setPodSpecDefaults(pod.spec);
  pod.spec.enableServiceLinks ??= true;
  if (pod.spec.hostNetwork) setHostPorts(pod.spec);
  for (const container of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
    setRequestsFromLimits(container);
  }
}

/** Default of `imagePullPolicy` (`pkg/util/parsers`). */

const REPOSITORY =
  /^(?:[a-zA-Z0-9._-]+(?::\d+)?\/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/;

/** Returns the tag, or `latest` without tag and digest. Undefined for a digest alone or an invalid name. */
function tagOf(image: string): string | undefined {
  const [name = '', digest] = image.split('@');
  const colon = name.lastIndexOf(':');
  const tagged = colon > name.lastIndexOf('/');
  if (!REPOSITORY.test(tagged ? name.slice(0, colon) : name)) return undefined;
  if (tagged) return name.slice(colon + 1);
  return digest === undefined ? 'latest' : undefined;
}

/** Returns the default of `imagePullPolicy` (`pkg/util/parsers`). */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return tagOf(image) === 'latest' ? 'Always' : 'IfNotPresent';
}
