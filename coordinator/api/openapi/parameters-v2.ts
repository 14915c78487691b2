/** Query, path and body parameters of the operations in the OpenAPI v2 document. */
import { definitionRef, type SchemaV2 } from './schema-v2.js';

export interface NonBodyParameter {
  in: 'query' | 'path';
  name: string;
  type: 'string' | 'integer' | 'boolean';
  description: string;
  required?: boolean;
  uniqueItems?: boolean;
}

interface BodyParameter {
  in: 'body';
  name: 'body';
  required?: boolean;
  schema: SchemaV2;
}

interface SharedParameter {
  $ref: string;
}

export type ParameterV2 = NonBodyParameter | BodyParameter | SharedParameter;

function query(name: string, type: NonBodyParameter['type'], description: string): NonBodyParameter {
  return { in: 'query', name, type, description, uniqueItems: true };
}

/** Parameters of many operations, in the document's `parameters`. */
export const SHARED_PARAMETERS = {
  allowWatchBookmarks: query('allowWatchBookmarks', 'boolean', 'Send BOOKMARK events during a watch.'),
  continue: query('continue', 'string', 'Token of the previous page, for the next page.'),
  fieldManager: query('fieldManager', 'string', 'Name under which managedFields records this change.'),
  fieldSelector: query('fieldSelector', 'string', 'Restricts the list by values of fields.'),
  fieldValidation: query(
    'fieldValidation',
    'string',
    'How to handle unknown and repeated fields: Ignore, Warn or Strict.',
  ),
  force: query('force', 'boolean', 'Take over fields of other managers. Only for apply patches.'),
  gracePeriodSeconds: query('gracePeriodSeconds', 'integer', 'Seconds until the object is removed.'),
  labelSelector: query('labelSelector', 'string', 'Restricts the list by labels.'),
  limit: query('limit', 'integer', 'Maximum number of objects in the response.'),
  orphanDependents: query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  propagationPolicy: query(
    'propagationPolicy',
    'string',
    'What happens to dependent objects: Orphan, Background or Foreground.',
  ),
  resourceVersion: query('resourceVersion', 'string', 'Resource version from which a list or watch starts.'),
  resourceVersionMatch: query('resourceVersionMatch', 'string', 'How resourceVersion applies to a list.'),
  sendInitialEvents: query('sendInitialEvents', 'boolean', 'Begin a watch with the present objects.'),
  timeoutSeconds: query('timeoutSeconds', 'integer', 'Maximum duration of a watch.'),
  watch: query('watch', 'boolean', 'Send changes as they happen instead of a list.'),
} as const;

type SharedName = keyof typeof SHARED_PARAMETERS;

export function shared(...names: readonly SharedName[]): SharedParameter[] {
  return names.map((name) => ({ $ref: `#/parameters/${name}` }));
}

/**
 * Stands in every operation instead of behind a `$ref`: kubectl up to 1.26 reads only such parameters when it checks
 * that the server supports dry runs, and `kubectl diff` fails without it (kube-openapi `pkg/builder/parameters.go`).
 */
export const DRY_RUN = query('dryRun', 'string', 'With the value All, no change is stored.');

export const LIST_PARAMETERS = shared(
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
);

export function pathParameter(name: 'name' | 'namespace', description: string): NonBodyParameter {
  return { in: 'path', name, type: 'string', description, required: true, uniqueItems: true };
}

/** `definition`: name of the body's definition, if it has one. */
export function bodyParameter(definition: string | undefined, required: boolean): BodyParameter {
  const schema: SchemaV2 = definition === undefined ? { type: 'object' } : definitionRef(definition);
  return { in: 'body', name: 'body', ...(required ? { required } : {}), schema };
}
