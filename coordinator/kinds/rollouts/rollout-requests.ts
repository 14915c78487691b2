/** Turns steering annotations on a Rollout into requests in its spec, with the name of the user. */
import { FLEET_GROUP, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { PAST_ROLLOUT_LABEL, type Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import {
  ALL_TARGETS,
  NEEDS_REASON,
  REASON_ANNOTATION,
  STEERING_VERBS,
  type SteeringRequest,
  type SteeringVerb,
  steeringAnnotation,
} from '../../../shared/kube/rollouts/steering-requests.js';
import type { FieldError, WriteContext } from '../kind.js';
import { forbidden, invalidValue, missing, notSupported, required } from '../validation/field-error.js';

/** The user name in requests of the coordinator itself. */
export const CONTROLLER_USER = 'everynode';
/** The controller applies requests at once, so this many are only stored while no controller runs. */
const MAX_WAITING = 100;
const MAX_REASON_LENGTH = 1024;

const NAMES_WAVES: ReadonlySet<SteeringVerb> = new Set(['approve', 'promote']);
const NAMES_NODES: ReadonlySet<SteeringVerb> = new Set([
  'skip',
  'unskip',
  'override-windows',
  'override-locks',
]);
/** Values that are not a reason. */
const EMPTY_VALUES: ReadonlySet<string> = new Set(['', 'true', 'yes', 'now']);

function annotationField(verb: SteeringVerb): string {
  return `metadata.annotations[${steeringAnnotation(verb)}]`;
}

/** Returns the targets in the value, or the reason for verbs without targets. */
function meaningOf(
  verb: SteeringVerb,
  value: string,
  reason: string | undefined,
): Pick<SteeringRequest, 'targets' | 'reason'> {
  if (NAMES_WAVES.has(verb) || NAMES_NODES.has(verb)) {
    const targets = value
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
    return { targets, ...(reason === undefined ? {} : { reason }) };
  }
  const why = reason ?? (EMPTY_VALUES.has(value) ? undefined : value);
  return why === undefined ? {} : { reason: why };
}

/**
 * Moves steering annotations of `next` to the end of `spec.requests`, in place and in the order of `STEERING_VERBS`.
 * Handled requests are removed. Other changes of spec are reverted.
 */
export function applySteeringAnnotations(next: Rollout, current: Rollout, { now, user }: WriteContext): void {
  const annotations = next.metadata.annotations ?? {};
  const reason = annotations[REASON_ANNOTATION]?.trim() || undefined;
  const stored = current.spec?.requests ?? [];
  const handled = current.status?.steering?.handled ?? 0;
  const waiting = stored.filter(({ id }) => id > handled);
  const revision = current.status?.revision;
  const verbs = STEERING_VERBS.filter((verb) => annotations[steeringAnnotation(verb)] !== undefined);
  const first = Math.max(handled, stored.at(-1)?.id ?? 0) + 1;
  const added = verbs.map((verb, index) => ({
    id: first + index,
    verb,
    ...meaningOf(verb, annotations[steeringAnnotation(verb)] ?? '', reason),
    user: user ?? CONTROLLER_USER,
    time: toTimestamp(now),
    ...(revision === undefined ? {} : { revision }),
  }));
  for (const verb of verbs) delete annotations[steeringAnnotation(verb)];
  delete annotations[REASON_ANNOTATION];
  if (next.metadata.annotations && Object.keys(annotations).length === 0) delete next.metadata.annotations;
  const requests = added.length > 0 ? [...waiting, ...added] : stored;
  if (requests.length > 0) next.spec = { requests };
  else delete next.spec;
}

function validateRequest({ verb, targets, reason }: SteeringRequest, waves: readonly string[]): FieldError[] {
  const field = annotationField(verb);
  const hasTargets = NAMES_WAVES.has(verb) || NAMES_NODES.has(verb);
  const unknownWaves =
    NAMES_WAVES.has(verb) && waves.length > 0
      ? (targets ?? []).filter((name) => name !== ALL_TARGETS && !waves.includes(name))
      : [];
  const names = NAMES_WAVES.has(verb) ? 'waves' : 'nodes';
  return [
    ...(hasTargets && targets?.length === 0
      ? [required(field, `must be a comma-separated list of ${names}, or ${ALL_TARGETS} for all`)]
      : []),
    ...unknownWaves.map((name) => notSupported(field, name, [...waves, ALL_TARGETS])),
    ...(NEEDS_REASON.has(verb) && !reason
      ? [required(`metadata.annotations[${REASON_ANNOTATION}]`, `${verb} requires a reason`)]
      : []),
    ...validateReason(reason),
  ];
}

/** A reason is stored and sent to hosts. */
export function validateReason(reason: string | undefined): FieldError[] {
  if ((reason?.length ?? 0) <= MAX_REASON_LENGTH) return [];
  const problem = `must be no longer than ${MAX_REASON_LENGTH} characters`;
  return [invalidValue(`metadata.annotations[${REASON_ANNOTATION}]`, reason?.slice(0, 40), problem)];
}

/** Refuse a mistyped annotation: the user would believe, for example, that the rollout is paused. */
function unknownAnnotations({ metadata }: Rollout, current: Rollout): FieldError[] {
  const known = current.metadata.annotations ?? {};
  return Object.keys(metadata.annotations ?? {})
    .filter((key) => key.startsWith(`${FLEET_GROUP}/`) && known[key] === undefined)
    .map((key) =>
      notSupported('metadata.annotations', key, [
        ...STEERING_VERBS.map(steeringAnnotation),
        REASON_ANNOTATION,
      ]),
    );
}

/** The controller ignores requests on a past Rollout. */
function pastRolloutError({ metadata }: Rollout): FieldError[] {
  const daemonSet = metadata.labels?.[PAST_ROLLOUT_LABEL];
  if (daemonSet === undefined) return [];
  return [forbidden('metadata.annotations', `this rollout is finished: steer rollout ${daemonSet} instead`)];
}

/**
 * Returns errors for targets that are not Nodes. Without this check, a user who mistypes a name would believe that the
 * host is skipped. A skipped host whose Node was deleted may be named in `unskip`, even before the controller has
 * applied the skip.
 */
export function validateNodeTargets(
  next: Rollout,
  current: Rollout,
  isNode: (name: string) => boolean,
): FieldError[] {
  const { skipped = [] } = current.status?.steering ?? {};
  const waiting = (current.spec?.requests ?? []).filter(({ verb }) => verb === 'skip');
  const isSkipped = (name: string) =>
    skipped.includes(name) || waiting.some(({ targets = [] }) => targets.includes(name));
  const isKnown = (name: string) => name === ALL_TARGETS || isNode(name) || isSkipped(name);
  return newRequests(next, current)
    .filter(({ verb }) => NAMES_NODES.has(verb))
    .flatMap(({ verb, targets = [] }) =>
      targets.filter((name) => !isKnown(name)).map((name) => missing(annotationField(verb), name)),
    );
}

function newRequests(next: Rollout, current: Rollout): SteeringRequest[] {
  const last = current.spec?.requests?.at(-1)?.id ?? 0;
  return (next.spec?.requests ?? []).filter(({ id }) => id > last);
}

/** Returns the errors of the requests in this write that can be found without other objects. */
export function validateNewRequests(next: Rollout, current: Rollout): FieldError[] {
  const requests = next.spec?.requests ?? [];
  const waves = (current.status?.waves ?? []).map(({ name }) => name);
  const tooMany = `${MAX_WAITING} requests are already waiting for the controller`;
  const added = newRequests(next, current);
  return [
    ...unknownAnnotations(next, current),
    ...(added.length > 0 ? pastRolloutError(current) : []),
    ...added.flatMap((request) => validateRequest(request, waves)),
    ...(requests.length > MAX_WAITING ? [forbidden('metadata.annotations', tooMany)] : []),
  ];
}
