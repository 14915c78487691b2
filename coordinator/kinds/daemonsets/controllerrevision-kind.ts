/** apps/v1 ControllerRevision: a past or present template of a DaemonSet. */

import type { ControllerRevision } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { validateNonNegative } from '../pods/spec-validation/value-validation.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE } from '../table-column.js';
import { FIELD_IMMUTABLE, invalidValue, required } from '../validation/field-error.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';

/** Returns `daemonset.apps/NAME`. */
function controllerText(revision: ControllerRevision): string {
  const owner = controllerOf(revision.metadata);
  if (!owner) return NONE;
  const [group, version] = owner.apiVersion.split('/');
  return `${owner.kind.toLowerCase()}${version === undefined ? '' : `.${group}`}/${owner.name}`;
}

function validate(object: ControllerRevision): FieldError[] {
  const data = object.data === undefined || object.data === null;
  return [
    ...(data ? [required('data', 'data is mandatory')] : []),
    ...validateNonNegative(object.revision, 'revision'),
  ];
}

/** The revision number may change (a rollback raises it), but not the data. */
function validateUpdate(next: ControllerRevision, current: ControllerRevision): FieldError[] {
  return semanticallyEqual(next.data, current.data) ? [] : [invalidValue('data', next.data, FIELD_IMMUTABLE)];
}

export const controllerRevisionKind: Kind<ControllerRevision> = {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  resource: 'controllerrevisions',
  singular: 'controllerrevision',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.apps.v1.ControllerRevision',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('Controller', 'string', 'The workload whose template it keeps.', controllerText),
    column(
      'Revision',
      'string',
      'Number of the revision; the newest has the highest.',
      (object) => object.revision ?? 0,
    ),
    AGE_COLUMN,
  ],
  fields: {},
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  prepareForCreate: () => undefined,
  prepareForUpdate: () => undefined,
  validate,
  validateUpdate,
  warnings: () => [],
};
