/** Builds the descriptor of a custom kind from its stored definition. */

import type {
  CustomResourceDefinition,
  CustomResourceVersion,
  JsonSchema,
} from '../../../shared/kube/objects/custom-resource-definition.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { compileSchemaRules } from '../../cel/schemas/schema-rules.js';
import type { ConversionWebhook, Kind, Subresource } from '../kind.js';
import { STATUS_VERBS } from '../kind.js';
import {
  type ValidatedVersion,
  validateCustomObject,
  validateCustomStatus,
} from './custom-object-validation.js';
import { parseJsonPath } from './json-path.js';
import { decodeCustomObject } from './object-decoding.js';
import { printerColumns } from './printer-columns.js';
import { ownershipSchema } from './published-schema.js';
import { setSchemaDefaults } from './schemas/default-fields.js';
import { copyValue, type JsonObject, sameValue } from './schemas/json-values.js';
import { pruneFields } from './schemas/prune-fields.js';

/** A custom resource of any kind. */
type CustomObject = KubeObject & { status?: unknown };

/** In upstream's order (pkg/apiserver/customresource_discovery_controller.go). */
const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/** Finalizers of upstream without a domain. */
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** Returns the schema of a version. Without one, every field is kept. */
export function schemaOfVersion({ schema }: CustomResourceVersion): JsonSchema {
  return schema?.openAPIV3Schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
}

/** Returns the name of a definition in OpenAPI documents, for example `com.example.stable.v1.CronTab`. */
function schemaName({ group, names }: CustomResourceDefinition['spec'], version: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${names.kind}`;
}

function once<T>(compute: () => T): () => T {
  let known: { value: T } | undefined;
  return () => {
    known ??= { value: compute() };
    return known.value;
  };
}

function subresourcesOf(kind: Subresource, version: CustomResourceVersion): Kind['subresources'] {
  const { status, scale } = version.subresources ?? {};
  return {
    ...(status ? { status: kind } : {}),
    ...(scale ? { scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: STATUS_VERBS } } : {}),
  };
}

function finalizerWarnings({ metadata }: KubeObject): string[] {
  return (metadata.finalizers ?? []).flatMap((name) => {
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) return [];
    const path = name.includes('.') ? ' including a path (/)' : '';
    const advice = `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
    return [`metadata.finalizers: ${JSON.stringify(name)}: ${advice}`];
  });
}

function selectableFields({ selectableFields: fields = [] }: CustomResourceVersion): Kind['fields'] {
  return Object.fromEntries(
    fields.map(({ jsonPath }) => {
      const find = parseJsonPath(jsonPath);
      return [jsonPath.replace(/^\./, ''), (object: KubeObject) => String(find?.(object)[0] ?? '')];
    }),
  );
}

function withoutMetadata({ metadata: _, ...rest }: KubeObject): JsonObject {
  return rest;
}

/** Upstream counts every change outside of the metadata (`PrepareForUpdate`). */
function countGeneration(next: CustomObject, current: CustomObject): void {
  if (sameValue(withoutMetadata(next), withoutMetadata(current))) return;
  next.metadata.generation = (current.metadata.generation ?? 0) + 1;
}

function setStatus(object: CustomObject, status: unknown): void {
  if (status === undefined) delete object.status;
  else object.status = status;
}

/** A write to `/status` changes nothing else but the managers of its fields. */
function keepAllButStatus(next: CustomObject, current: CustomObject): void {
  const { status } = next;
  const { managedFields } = next.metadata;
  for (const key of Object.keys(next)) delete (next as unknown as JsonObject)[key];
  Object.assign(next, copyValue(current));
  if (managedFields) next.metadata.managedFields = managedFields;
  setStatus(next, status);
}

function statusVerbs(hasStatus: boolean): Partial<Kind<CustomObject>> {
  return hasStatus ? { prepareForStatusUpdate: keepAllButStatus } : {};
}

/** The functions of the descriptor. */
function behaviour(
  validated: ValidatedVersion,
  { schema, subresources }: { schema: JsonSchema; subresources: CustomResourceVersion['subresources'] },
): Pick<
  Kind<CustomObject>,
  | 'setDefaults'
  | 'decode'
  | 'prepareForCreate'
  | 'prepareForUpdate'
  | 'validate'
  | 'validateCreate'
  | 'validateUpdate'
  | 'validateStatusUpdate'
  | 'warnings'
> &
  Partial<Kind<CustomObject>> {
  const hasStatus = subresources?.status !== undefined;
  return {
    setDefaults: (object) => setSchemaDefaults(object, schema),
    decode: (object, repeated) => decodeCustomObject(object, schema, repeated),
    prepareForCreate: (object) => {
      if (hasStatus) delete object.status;
      object.metadata.generation = 1;
    },
    prepareForUpdate: (next, current) => {
      if (hasStatus) setStatus(next, current.status);
      countGeneration(next, current);
    },
    ...statusVerbs(hasStatus),
    validate: () => [],
    validateCreate: (object) => validateCustomObject(validated, object, undefined),
    validateUpdate: (next, current) => validateCustomObject(validated, next, current),
    validateStatusUpdate: (next, current) => validateCustomStatus(validated, next, current),
    warnings: finalizerWarnings,
  };
}

/** Returns the webhook that converts between the versions, or undefined: then only apiVersion changes. */
function conversionOf(
  { conversion }: CustomResourceDefinition['spec'],
  versions: Pick<ConversionWebhook, 'ownVersion' | 'storedVersion'>,
): ConversionWebhook | undefined {
  if (conversion?.strategy !== 'Webhook') return undefined;
  const { clientConfig: client = {}, conversionReviewVersions: reviewVersions = [] } =
    conversion.webhook ?? {};
  return { ...versions, client, reviewVersions };
}

/** Objects are stored in one version. Every read converts, prunes and sets the defaults of today's schema. */
function viewOf(
  { spec }: CustomResourceDefinition,
  version: CustomResourceVersion,
): NonNullable<Kind<CustomObject>['view']> {
  const storage = spec.versions.find((each) => each.storage)?.name ?? version.name;
  const schema = schemaOfVersion(version);
  const [ownVersion, storedVersion] = [`${spec.group}/${version.name}`, `${spec.group}/${storage}`];
  const conversion = conversionOf(spec, { ownVersion, storedVersion });
  return {
    storedAs: { group: spec.group, resource: spec.names.plural, namespaced: spec.scope === 'Namespaced' },
    toStored: (object) => (conversion ? object : { ...object, apiVersion: storedVersion }),
    fromStored: (stored) => {
      const object = { ...stored, apiVersion: ownVersion };
      pruneFields(object, schema);
      setSchemaDefaults(object, schema);
      return object;
    },
    ...(conversion ? { conversion } : {}),
  };
}

/** Returns the descriptor of one version. The names are the accepted ones if there are any. */
export function kindOf(
  definition: CustomResourceDefinition,
  version: CustomResourceVersion,
): Kind<CustomObject> {
  const { spec, status } = definition;
  const accepted = status?.acceptedNames;
  const names = accepted?.plural ? accepted : spec.names;
  const schema = schemaOfVersion(version);
  const rules = once(() => compileSchemaRules(schema));
  const { subresources } = version;
  const identity = { group: spec.group, version: version.name, kind: names.kind };
  return {
    ...identity,
    resource: spec.names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    verbs: VERBS,
    schema: schemaName(spec, version.name),
    definition: ownershipSchema(schema, true),
    subresources: subresourcesOf({ ...identity, verbs: STATUS_VERBS }, version),
    columns: printerColumns(version),
    fields: selectableFields(version),
    hasGeneration: true,
    nameRule: 'dnsSubdomain',
    hasPlainFinalizers: true,
    view: viewOf(definition, version),
    ...behaviour({ schema, rules, ...(subresources ? { subresources } : {}) }, { schema, subresources }),
  };
}
