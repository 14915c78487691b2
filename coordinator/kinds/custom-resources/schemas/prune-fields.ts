/** Removes fields that a schema does not declare (apiextensions-apiserver pkg/apiserver/schema/pruning). */
import type { JsonSchema } from '../../../../shared/kube/objects/custom-resource-definition.js';
import { isMap, memberOf } from './json-values.js';

const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Returns the paths of the unknown fields, sorted, and removes them in place. `object` is a whole custom resource. */
export function pruneFields(object: unknown, schema: JsonSchema): string[] {
  const unknown: string[] = [];
  prune(object, { ...schema, 'x-kubernetes-embedded-resource': true }, '', unknown);
  return unknown.sort();
}

function prune(value: unknown, schema: JsonSchema | undefined, path: string, unknown: string[]): void {
  const preserves = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  if (Array.isArray(value)) {
    if (preserves && !schema?.items) return;
    for (const [index, item] of value.entries()) prune(item, schema?.items, `${path}[${index}]`, unknown);
    return;
  }
  if (!isMap(value)) return;
  for (const [key, child] of Object.entries(value)) {
    if (schema?.['x-kubernetes-embedded-resource'] && META_FIELDS.has(key)) continue;
    const at = path === '' ? key : `${path}.${key}`;
    const field = childSchema(schema, key);
    // Like upstream: values of a map without a schema cannot be objects with fields.
    if (field === 'anything') prune(child, undefined, at, unknown);
    else if (field) prune(child, field, at, unknown);
    else if (!preserves) {
      unknown.push(at);
      delete value[key];
    }
  }
}

/** Returns `anything` for a map without a schema of its values. */
export function childSchema(
  schema: JsonSchema | undefined,
  key: string,
): JsonSchema | 'anything' | undefined {
  const property = memberOf(schema?.properties, key);
  if (property) return property;
  const others = schema?.additionalProperties;
  return others === true ? 'anything' : others || undefined;
}
