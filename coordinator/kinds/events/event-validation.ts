/** Validation of Events (`pkg/apis/core/validation/events.go`). */
import type { KubeEvent } from '../../../shared/kube/objects/event-types.js';
import type { FieldError } from '../kind.js';
import { invalidValue, required } from '../validation/field-error.js';
import { qualifiedNameProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';

const MAX_NAME = 128;
const MAX_NOTE = 1024;

/** An Event is in the namespace of its object, or in `default` for cluster-scoped objects. */
function validateNamespace(event: KubeEvent): FieldError[] {
  const own = event.metadata.namespace ?? '';
  const involved = event.involvedObject?.namespace ?? '';
  const fits = involved === '' ? own === '' || own === 'default' : own === involved;
  return fits ? [] : [invalidValue('involvedObject.namespace', involved, 'does not match event.namespace')];
}

function validateRequiredText(text: string | undefined, field: string, max: number): FieldError[] {
  if (!text) return [required(field)];
  return text.length <= max ? [] : [invalidValue(field, '', `can have at most ${max} characters`)];
}

/** Clients that set `eventTime` must also set the newer fields. */
function validateNewer(event: KubeEvent): FieldError[] {
  if (!event.eventTime) return [];
  const reporter = event.reportingComponent ?? '';
  return [
    ...(reporter === ''
      ? [required('reportingComponent')]
      : invalidFor('reportingComponent', reporter, qualifiedNameProblems(reporter))),
    ...validateRequiredText(event.reportingInstance, 'reportingInstance', MAX_NAME),
    ...validateRequiredText(event.action, 'action', MAX_NAME),
    ...validateRequiredText(event.reason, 'reason', MAX_NAME),
    ...((event.message ?? '').length > MAX_NOTE
      ? [invalidValue('message', '', `can have at most ${MAX_NOTE} characters`)]
      : []),
  ];
}

/** Returns all errors of an Event. */
export function validateEvent(event: KubeEvent): FieldError[] {
  return [...validateNamespace(event), ...validateNewer(event)];
}
