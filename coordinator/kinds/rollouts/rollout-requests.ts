/** Steering annotations on a Rollout become requests in its spec, which carry the name of whoever wrote them. */
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

/** Who an own controller's write is put down to. */
const OURSELVES = 'everynode';
/** The controller takes them in at once; so many stand only where none runs. */
const MAX_WAITING = 100;
const MAX_REASON_LENGTH = 1024;

const NAMES_WAVES: ReadonlySet<SteeringVerb> = new Set(['approve', 'promote']);
const NAMES_NODES: ReadonlySet<SteeringVerb> = new Set([
  'skip',
  'unskip',
  'override-windows',
  'override-locks',
]);
/** Values that say no more than the annotation's being there. */
const EMPTY_VALUES: ReadonlySet<string> = new Set(['', 'true', 'yes', 'now']);

function annotationField(verb: SteeringVerb): string {
  return `metadata.annotations[${steeringAnnotation(verb)}]`;
}

/** What a value says: targets where the verb has some, else, without a reason beside it, the reason. */
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
 * In place: steering annotations of `next` leave it and stand at the end of `spec.requests`, in the order of
 * `STEERING_VERBS`; all else in spec is as it was, save requests that the controller has taken in.
 */
export function applySteeringAnnotations(next: Rollout, current: Rollout, { now, user }: WriteContext): void {
  const annotations = next.metadata.annotations ?? {};
  const reason = annotations[REASON_ANNOTATION]?.trim() || undefined;
  const standing = current.spec?.requests ?? [];
  const handled = current.status?.steering?.handled ?? 0;
  const waiting = standing.filter(({ id }) => id > handled);
  const revision = current.status?.revision;
  const given = STEERING_VERBS.filter((verb) => annotations[steeringAnnotation(verb)] !== undefined);
  const first = Math.max(handled, standing.at(-1)?.id ?? 0) + 1;
  const made = given.map((verb, index) => ({
    id: first + index,
    verb,
    ...meaningOf(verb, annotations[steeringAnnotation(verb)] ?? '', reason),
    user: user ?? OURSELVES,
    time: toTimestamp(now),
    ...(revision === undefined ? {} : { revision }),
  }));
  for (const verb of given) delete annotations[steeringAnnotation(verb)];
  delete annotations[REASON_ANNOTATION];
  if (next.metadata.annotations && Object.keys(annotations).length === 0) delete next.metadata.annotations;
  const requests = made.length > 0 ? [...waiting, ...made] : standing;
  if (requests.length > 0) next.spec = { requests };
  else delete next.spec;
}

function validateRequest({ verb, targets, reason }: SteeringRequest, waves: readonly string[]): FieldError[] {
  const field = annotationField(verb);
  const hasTargets = NAMES_WAVES.has(verb) || NAMES_NODES.has(verb);
  const strangers =
    NAMES_WAVES.has(verb) && waves.length > 0
      ? (targets ?? []).filter((name) => name !== ALL_TARGETS && !waves.includes(name))
      : [];
  const names = NAMES_WAVES.has(verb) ? 'waves' : 'nodes';
  return [
    ...(hasTargets && targets?.length === 0
      ? [required(field, `must name ${names}, parted by commas, or ${ALL_TARGETS} for all`)]
      : []),
    ...strangers.map((name) => notSupported(field, name, [...waves, ALL_TARGETS])),
    ...(NEEDS_REASON.has(verb) && !reason
      ? [required(`metadata.annotations[${REASON_ANNOTATION}]`, `${verb} is recorded with a reason`)]
      : []),
    ...((reason?.length ?? 0) > MAX_REASON_LENGTH
      ? [
          invalidValue(
            `metadata.annotations[${REASON_ANNOTATION}]`,
            reason?.slice(0, 40),
            `must be no longer than ${MAX_REASON_LENGTH} characters`,
          ),
        ]
      : []),
  ];
}

/** A word that is mistyped would be kept as an annotation like any other, and whoever pauses would believe that it is paused. */
function unknownWords({ metadata }: Rollout, current: Rollout): FieldError[] {
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

/** Nobody looks at it any more. */
function refusalOfPast({ metadata }: Rollout): FieldError[] {
  const daemonSet = metadata.labels?.[PAST_ROLLOUT_LABEL];
  if (daemonSet === undefined) return [];
  return [forbidden('metadata.annotations', `this rollout is over: steer rollout ${daemonSet}`)];
}

/**
 * Hosts that the requests of this write name and that are no Nodes; [] = fine. Who mistypes one would believe that it keeps what
 * it has. One that was skipped and is no Node any more may be taken in again, also before the
 * controller has taken the skip in.
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

/** Mistakes of the requests that this write made, as far as the Rollout alone shows them; [] = fine. */
export function validateNewRequests(next: Rollout, current: Rollout): FieldError[] {
  const requests = next.spec?.requests ?? [];
  const waves = (current.status?.waves ?? []).map(({ name }) => name);
  const tooMany = `${MAX_WAITING} requests wait for the controller`;
  const made = newRequests(next, current);
  return [
    ...unknownWords(next, current),
    ...(made.length > 0 ? refusalOfPast(current) : []),
    ...made.flatMap((request) => validateRequest(request, waves)),
    ...(requests.length > MAX_WAITING ? [forbidden('metadata.annotations', tooMany)] : []),
  ];
}
