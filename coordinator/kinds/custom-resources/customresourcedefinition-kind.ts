/** apiextensions.k8s.io/v1 CustomResourceDefinition. */
import {
  CLEANUP_FINALIZER,
  type CustomResourceDefinition,
  EXTENSIONS_GROUP,
} from '../../../shared/kube/objects/custom-resource-definition.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { column, NAME_COLUMN } from '../table-column.js';
import { validateNames } from './definition-names-validation.js';
import {
  validateDefinition,
  validateDefinitionUpdate,
  validateNewDefinition,
} from './definition-validation.js';
import { sameValue } from './schemas/json-values.js';

/** Adds the storage version to the versions in which objects may be stored (pkg/registry/customresourcedefinition). */
function rememberStorageVersion({ spec, status = {} }: CustomResourceDefinition): void {
  const storage = spec.versions.find((version) => version.storage)?.name;
  const stored = status.storedVersions ?? [];
  if (storage !== undefined && !stored.includes(storage)) status.storedVersions = [...stored, storage];
}

/** pkg/apis/apiextensions/v1/defaults.go */
function setDefaults(definition: CustomResourceDefinition): void {
  definition.spec ??= { group: '', names: { plural: '', kind: '' }, scope: '', versions: [] };
  const { spec } = definition;
  spec.versions ??= [];
  spec.names ??= { plural: '', kind: '' };
  const { names } = spec;
  if (!names.singular && names.kind) names.singular = names.kind.toLowerCase();
  if (!names.listKind && names.kind) names.listKind = `${names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service) service.port ??= 443;
  definition.status ??= {};
  const { status } = definition;
  if (!status.storedVersions?.length) rememberStorageVersion(definition);
}

/** A new definition is cleaned up before it is removed, so it has the finalizer from the start. */
function prepareForCreate(definition: CustomResourceDefinition): void {
  const { metadata } = definition;
  metadata.generation = 1;
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(CLEANUP_FINALIZER)) metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
  definition.status = {};
  rememberStorageVersion(definition);
}

function prepareForUpdate(next: CustomResourceDefinition, current: CustomResourceDefinition): void {
  next.status = structuredClone(current.status ?? {});
  if (!sameValue(next.spec, current.spec)) {
    next.metadata.generation = (current.metadata.generation ?? 0) + 1;
  }
  rememberStorageVersion(next);
}

function prepareForStatusUpdate(next: CustomResourceDefinition, current: CustomResourceDefinition): void {
  next.spec = structuredClone(current.spec);
  const { managedFields } = next.metadata;
  next.metadata = { ...structuredClone(current.metadata), ...(managedFields ? { managedFields } : {}) };
}

export const customResourceDefinitionKind: Kind<CustomResourceDefinition> = {
  ...{ group: EXTENSIONS_GROUP, version: 'v1', kind: 'CustomResourceDefinition', namespaced: false },
  ...{ resource: 'customresourcedefinitions', singular: 'customresourcedefinition' },
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
  subresources: {
    status: {
      ...{ group: EXTENSIONS_GROUP, version: 'v1', kind: 'CustomResourceDefinition' },
      verbs: STATUS_VERBS,
    },
  },
  columns: [
    NAME_COLUMN,
    column(
      'Created At',
      'date',
      'Time at which the server stored the object first.',
      ({ metadata }) => metadata.creationTimestamp ?? null,
    ),
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  hasPlainFinalizers: true,
  setDefaults,
  prepareForCreate,
  prepareForUpdate,
  prepareForStatusUpdate,
  validate: validateDefinition,
  validateCreate: validateNewDefinition,
  validateUpdate: validateDefinitionUpdate,
  validateStatusUpdate: ({ status }) => validateNames(status?.acceptedNames ?? {}, 'status.acceptedNames'),
  warnings: () => [],
};
