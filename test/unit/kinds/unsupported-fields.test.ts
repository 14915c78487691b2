/** Every field of a PodSpec in the schema is either supported or listed as without effect. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POD_SPEC, type Support } from '../../../coordinator/kinds/pods/pod-spec-warnings.js';
import { definitionOf, resolved, type Schema } from '../../../coordinator/kinds/schema/schema-definitions.js';

interface Difference {
  undecided: string[];
  unknown: string[];
}

/** Finds fields that only the table or only the schema has, to the depth at which the table distinguishes fields. */
function compare(schema: Schema, support: Support, path: string, found: Difference): number {
  if (typeof support === 'string' || Array.isArray(support)) return 1;
  const { items } = schema;
  if (items) return compare(resolved(items), support, path, found);
  // Keys of a map, such as resource names, are not fields.
  if (schema.additionalProperties) return 1;
  const fields = schema.properties ?? {};
  const named = support as Readonly<Record<string, Support>>;
  for (const name of Object.keys(named)) {
    if (!Object.hasOwn(fields, name)) found.unknown.push(`${path}.${name}`);
  }
  let compared = 0;
  for (const [name, field] of Object.entries(fields)) {
    const known = named[name];
    if (known === undefined) found.undecided.push(`${path}.${name}`);
    else compared += compare(resolved(field), known, `${path}.${name}`, found);
  }
  return compared;
}

test('the table lists exactly the fields of the schema', () => {
  const found: Difference = { undecided: [], unknown: [] };
  const compared = compare(definitionOf('io.k8s.api.core.v1.PodSpec'), POD_SPEC, 'spec', found);
  assert.deepEqual(found, { undecided: [], unknown: [] });
  assert.ok(compared > 100, `only ${compared} fields were compared`);
});

test('a field that is missing on one side is found', () => {
  const found: Difference = { undecided: [], unknown: [] };
  const schema = definitionOf('io.k8s.api.core.v1.HostAlias');
  compare(schema, { ip: 'all', address: [] }, 'alias', found);
  assert.deepEqual(found, { undecided: ['alias.hostnames'], unknown: ['alias.address'] });
});
