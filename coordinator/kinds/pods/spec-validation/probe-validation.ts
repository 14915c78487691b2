/** Validation of probes and lifecycle hooks. */
import type { IntOrString } from '../../../../shared/kube/objects/meta.js';
import type { Handler, HTTPGetAction, Lifecycle, Probe } from '../../../../shared/kube/pods/probe-types.js';
import type { FieldError } from '../../kind.js';
import { forbidden, invalidValue, notSupported, required } from '../../validation/field-error.js';
import { portNameProblems, portNumberProblems } from '../../validation/name-rules.js';
import { invalidFor } from '../../validation/object-meta-validation.js';
import { validateNonNegative } from './value-validation.js';

const SCHEMES = ['HTTP', 'HTTPS'];
const HEADER_NAME = /^[-A-Za-z0-9]+$/;
const HEADER_ERROR =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

function validatePort(port: IntOrString | undefined, field: string): FieldError[] {
  if (typeof port === 'string') return invalidFor(field, port, portNameProblems(port));
  return invalidFor(field, port ?? 0, portNumberProblems(port ?? 0));
}

function validateHttpGet(action: HTTPGetAction, field: string): FieldError[] {
  const headers = (action.httpHeaders ?? []).filter(({ name }) => !HEADER_NAME.test(name ?? ''));
  return [
    ...(action.path ? [] : [required(`${field}.path`)]),
    ...validatePort(action.port, `${field}.port`),
    ...(SCHEMES.includes(action.scheme ?? '')
      ? []
      : [notSupported(`${field}.scheme`, action.scheme ?? '', SCHEMES)]),
    ...headers.map(({ name }) => invalidValue(`${field}.httpHeaders`, name ?? '', HEADER_ERROR)),
  ];
}

function validateSleep(seconds: number, graceSeconds: number, field: string): FieldError[] {
  if (seconds >= 0 && seconds <= graceSeconds) return [];
  const detail = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
  return [invalidValue(field, seconds, detail)];
}

/** Checks by kind of handler, in upstream's order. */
const HANDLERS: Readonly<
  Record<keyof Handler, (handler: Handler, field: string, graceSeconds: number) => FieldError[]>
> = {
  exec: ({ exec }, field) => (exec?.command?.length ? [] : [required(`${field}.command`)]),
  httpGet: ({ httpGet }, field) => (httpGet ? validateHttpGet(httpGet, field) : []),
  tcpSocket: ({ tcpSocket }, field) => validatePort(tcpSocket?.port, `${field}.port`),
  grpc: ({ grpc }, field) => validatePort(grpc?.port, `${field}.port`),
  sleep: ({ sleep }, field, graceSeconds) => validateSleep(sleep?.seconds ?? 0, graceSeconds, field),
};

function validateHandler(handler: Handler, field: string, graceSeconds: number): FieldError[] {
  const kinds = (Object.keys(HANDLERS) as (keyof Handler)[]).filter((kind) => handler[kind]);
  if (kinds.length === 0) return [required(field, 'must specify a handler type')];
  return kinds.flatMap((kind, index) =>
    index === 0
      ? HANDLERS[kind](handler, `${field}.${kind}`, graceSeconds)
      : [forbidden(`${field}.${kind}`, 'may not specify more than 1 handler type')],
  );
}

const PROBE_NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function validateProbe(probe: Probe, field: string, graceSeconds: number): FieldError[] {
  const grace = probe.terminationGracePeriodSeconds;
  return [
    ...validateHandler(probe, field, graceSeconds),
    ...PROBE_NUMBERS.flatMap((key) => validateNonNegative(probe[key], `${field}.${key}`)),
    ...(grace !== undefined && grace <= 0
      ? [invalidValue(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
      : []),
  ];
}

/** Validates liveness and startup probes. Their successThreshold must be 1. */
export function validateDecidingProbe(
  probe: Probe | undefined,
  field: string,
  graceSeconds: number,
): FieldError[] {
  if (!probe) return [];
  const errors = validateProbe(probe, field, graceSeconds);
  if (probe.successThreshold === 1) return errors;
  return [...errors, invalidValue(`${field}.successThreshold`, probe.successThreshold ?? 0, 'must be 1')];
}

/** A readiness probe stops nothing, so it has no grace period. */
export function validateReadinessProbe(
  probe: Probe | undefined,
  field: string,
  graceSeconds: number,
): FieldError[] {
  if (!probe) return [];
  const errors = validateProbe(probe, field, graceSeconds);
  const grace = probe.terminationGracePeriodSeconds;
  if (grace === undefined) return errors;
  const path = `${field}.terminationGracePeriodSeconds`;
  return [...errors, invalidValue(path, grace, 'must not be set for readinessProbes')];
}

/** Validates hooks after a container's start and before its stop. */
export function validateLifecycle(
  lifecycle: Lifecycle | undefined,
  field: string,
  graceSeconds: number,
): FieldError[] {
  return (['postStart', 'preStop'] as const).flatMap((hook) => {
    const handler = lifecycle?.[hook];
    return handler ? validateHandler(handler, `${field}.${hook}`, graceSeconds) : [];
  });
}
