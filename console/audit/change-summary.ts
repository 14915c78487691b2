/** The recorded change of a write in a few words. Pure. */
import {
  type AuditEvent,
  CHANGES_ANNOTATION,
  type FieldChange,
  type RecordedChanges,
} from '../../shared/kube/access/audit-types.js';
import { STEERING_VERBS, type SteeringRequest } from '../../shared/kube/rollouts/steering-requests.js';
import { shortImage } from '../layout/text/image-text.js';

/** Returns what the write changed, or undefined if the log has no change, or the reader may not see it. */
export function recordedChangesOf({ annotations }: AuditEvent): RecordedChanges | undefined {
  const text = annotations?.[CHANGES_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const changes: unknown = JSON.parse(text);
    return isRecordedChanges(changes) ? changes : undefined;
  } catch {
    // A webhook may set any annotation.
    return undefined;
  }
}

function isRecordedChanges(value: unknown): value is RecordedChanges {
  const { fields, omitted } = (value ?? {}) as Partial<RecordedChanges>;
  return (
    Array.isArray(fields) &&
    fields.every((field: unknown) => typeof (field as FieldChange | null)?.path === 'string') &&
    typeof omitted === 'number'
  );
}

/**
 * Returns for example `image of main till:1.4.0 → till:1.5.0, and 2 more fields`. Images come first, because they are
 * what a release changes. Empty for a creation: all of its fields are new.
 */
export function changeSummary(
  { verb, objectRef }: Pick<AuditEvent, 'verb' | 'objectRef'>,
  changes: RecordedChanges | undefined,
): string {
  const { fields = [], omitted = 0 } = changes ?? {};
  if (verb === 'create' || fields.length === 0) return '';
  const requests = objectRef?.resource === 'rollouts' ? fields.flatMap(requestText) : [];
  if (requests.length > 0) return requests.join(', ');
  const images = fields.filter(isImage);
  const shown = images.length > 0 ? images : fields.slice(0, 1);
  const others = fields.length + omitted - shown.length;
  const more = others > 0 ? [`and ${others} more ${others === 1 ? 'field' : 'fields'}`] : [];
  return [...shown.map(fieldText), ...more].join(', ');
}

/** True if both values fit in a line. */
export function isShort({ before, after }: FieldChange): boolean {
  return [before, after].every((value) => typeof value !== 'object' && !String(value).includes('\n'));
}

function isImage(change: FieldChange): boolean {
  return change.path.endsWith('.image') && isShort(change);
}

/** The request of an operator to a rollout, such as `approve tenth “looks good”`. */
function requestText({ path, before, after }: FieldChange): string[] {
  if (!path.startsWith('spec.requests[') || before !== undefined || !isRequest(after)) return [];
  const { verb, targets = [], reason } = after;
  return [[verb, targets.join(' and '), reason ? `“${reason}”` : ''].filter(Boolean).join(' ')];
}

/** False for the fields of other kinds with the same names: Argo's Rollouts, for example, are custom resources. */
function isRequest(value: unknown): value is SteeringRequest {
  const { verb, targets = [], reason = '' } = (value ?? {}) as Partial<SteeringRequest>;
  return STEERING_VERBS.some((each) => each === verb) && Array.isArray(targets) && typeof reason === 'string';
}

function fieldText(change: FieldChange): string {
  const { path, before, after } = change;
  const name = fieldName(path);
  if (after === undefined) return `${name} removed`;
  if (!isShort(change)) return `${name} ${before === undefined ? 'added' : 'changed'}`;
  const text = (value: unknown) => (isImage(change) ? shortImage(String(value)) : String(value));
  return before === undefined ? `${name} set to ${text(after)}` : `${name} ${text(before)} → ${text(after)}`;
}

/** Returns `image of main` for a container's field, and the path without its common start otherwise. */
function fieldName(path: string): string {
  const [, container, rest] = /ontainers\[([^\]]+)\]\.(.+)$/.exec(path) ?? [];
  if (container && rest) return `${rest} of ${container}`;
  const [, key] = /^metadata\.(?:labels|annotations)(?:\.|\[)(.+?)\]?$/.exec(path) ?? [];
  if (key) return `${path.startsWith('metadata.labels') ? 'label' : 'annotation'} ${key}`;
  return path.replace(/^spec\.template\.spec\./, '');
}
