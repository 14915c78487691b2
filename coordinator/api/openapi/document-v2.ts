/** The Swagger 2.0 document of `/openapi/v2`, from the same schemas as OpenAPI v3. */
import type { DescribedSchema } from '../../kinds/schema/described-definitions.js';
import { type NonBodyParameter, SHARED_PARAMETERS } from './parameters-v2.js';
import { type DocumentedResource, PATCH_DEFINITION, type PathItemV2, resourcePaths } from './paths-v2.js';
import { definitionRef, definitionsV2, type SchemaV2 } from './schema-v2.js';

export interface DocumentV2 {
  swagger: '2.0';
  info: { title: string; version: string };
  paths: Readonly<Record<string, PathItemV2>>;
  definitions: Readonly<Record<string, SchemaV2>>;
  parameters: Readonly<Record<string, NonBodyParameter>>;
  securityDefinitions: Readonly<
    Record<string, { type: 'apiKey'; name: string; in: 'header'; description: string }>
  >;
  security: readonly Readonly<Record<string, readonly string[]>>[];
}

const LIST_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';

/** Returns the definition of a kind's list. */
function listDefinition({ group, version, kind }: DocumentedResource, schema: string): SchemaV2 {
  return {
    description: `${kind}List is a list of ${kind} objects.`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      items: { type: 'array', items: definitionRef(schema) },
      kind: { type: 'string' },
      metadata: definitionRef(LIST_META),
    },
    'x-kubernetes-group-version-kind': [{ group, kind: `${kind}List`, version }],
  };
}

function sorted<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the document of these resources. `schemas` and `custom` are all definitions by name. */
export function documentV2(
  resources: readonly DocumentedResource[],
  schemas: Readonly<Record<string, DescribedSchema>>,
  custom: Readonly<Record<string, SchemaV2>> = {},
): DocumentV2 {
  const lists = resources.flatMap((resource): [string, SchemaV2][] => {
    const { schema, verbs } = resource;
    return schema && verbs.includes('list') ? [[`${schema}List`, listDefinition(resource, schema)]] : [];
  });
  const isCustom = ({ schema }: DocumentedResource) => schema !== undefined && Object.hasOwn(custom, schema);
  const patch: SchemaV2 = {
    description: 'The body of a PATCH. Its Content-Type selects the type.',
    type: 'object',
  };
  return {
    swagger: '2.0',
    info: { title: 'Everynode', version: 'v1' },
    paths: sorted(resources.flatMap((resource) => resourcePaths(resource, isCustom(resource)))),
    definitions: sorted([
      ...Object.entries({ ...definitionsV2(schemas), ...custom }),
      ...lists,
      [PATCH_DEFINITION, patch],
    ]),
    parameters: SHARED_PARAMETERS,
    securityDefinitions: {
      BearerToken: {
        ...{ type: 'apiKey', name: 'authorization', in: 'header' },
        description: 'Bearer token of a user or ServiceAccount.',
      },
    },
    security: [{ BearerToken: [] }],
  };
}
