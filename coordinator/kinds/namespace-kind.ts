/** v1 Namespace. The namespace controller creates the four built-in ones and empties deleted ones. */
import type { Namespace } from '../../shared/kube/objects/config-types.js';
import type { FieldError, Kind } from './kind.js';
import { STATUS_VERBS } from './kind.js';
import { validateLevelLabels } from './pods/security-standards/security-levels.js';
import { AGE_COLUMN, column, NAME_COLUMN } from './table-column.js';
import { invalidValue } from './validation/field-error.js';
import { validateFinalizerNames } from './validation/object-meta-validation.js';

/** The label with the namespace's own name (upstream's NamespaceDefaultLabelName). */
const NAME_LABEL = 'kubernetes.io/metadata.name';
const FINALIZER = 'kubernetes';

function setDefaults(namespace: Namespace): void {
  if (!namespace.metadata.name) return;
  namespace.metadata.labels = { ...namespace.metadata.labels, [NAME_LABEL]: namespace.metadata.name };
}

/** The finalizer keeps a deleted namespace until its content is deleted. */
function prepareForCreate(namespace: Namespace): void {
  const finalizers = namespace.spec?.finalizers ?? [];
  namespace.spec = {
    ...namespace.spec,
    finalizers: finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER],
  };
  namespace.status = { phase: 'Active' };
}

/** `spec.finalizers` can change only through `/finalize`. */
function prepareForUpdate(next: Namespace, current: Namespace): void {
  next.spec = { ...next.spec, finalizers: current.spec?.finalizers ?? [] };
  next.status = current.status ?? {};
}

function prepareForStatusUpdate(next: Namespace, current: Namespace): void {
  if (current.spec) next.spec = current.spec;
}

/** Upstream's error names the list instead of the finalizer. */
function validate(namespace: Namespace): FieldError[] {
  const errors = validateFinalizerNames(namespace.spec?.finalizers ?? [], 'spec.finalizers');
  return [
    ...errors.map((error) => ({ ...error, field: 'spec.finalizers' })),
    ...validateLevelLabels(namespace.metadata.labels),
  ];
}

/** The phase must agree with the deletion timestamp. */
function validateStatusUpdate(next: Namespace): FieldError[] {
  const phase = next.status?.phase ?? '';
  if (next.metadata.deletionTimestamp) {
    if (phase === 'Terminating') return [];
    return [
      invalidValue('status.Phase', phase, "may only be 'Terminating' if `deletionTimestamp` is not empty"),
    ];
  }
  if (phase === 'Active') return [];
  return [invalidValue('status.Phase', phase, "may only be 'Active' if `deletionTimestamp` is empty")];
}

export const namespaceKind: Kind<Namespace> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  resource: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  categories: [],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  schema: 'io.k8s.api.core.v1.Namespace',
  subresources: {
    finalize: { group: '', version: 'v1', kind: 'Namespace', verbs: ['update'] },
    status: { group: '', version: 'v1', kind: 'Namespace', verbs: STATUS_VERBS },
  },
  columns: [
    NAME_COLUMN,
    column(
      'Status',
      'string',
      'Active, or Terminating once deleted.',
      (object) => object.status?.phase ?? '',
    ),
    AGE_COLUMN,
  ],
  fields: { 'status.phase': (object) => object.status?.phase ?? '' },
  hasGeneration: false,
  nameRule: 'dnsLabel',
  setDefaults,
  prepareForCreate,
  prepareForUpdate,
  prepareForStatusUpdate,
  validate,
  validateUpdate: () => [],
  validateStatusUpdate,
  warnings: () => [],
};
