import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DescribedSchema,
  describedDefinitions,
  orphanedDescriptions,
} from '../../../coordinator/kinds/schema/described-definitions.js';

const DEFINITIONS = describedDefinitions();

/** Types for which `kubectl explain` describes every field. */
const WHOLE = [
  'dev.everynode.fleet.v1.CatchUp',
  'dev.everynode.fleet.v1.Confirm',
  'dev.everynode.fleet.v1.FailureBudget',
  'dev.everynode.fleet.v1.FreezePeriod',
  'dev.everynode.fleet.v1.HostValues',
  'dev.everynode.fleet.v1.HostValuesSpec',
  'dev.everynode.fleet.v1.HostValueSecret',
  'dev.everynode.fleet.v1.UpdateLock',
  'dev.everynode.fleet.v1.MaintenanceWindow',
  'dev.everynode.fleet.v1.PrePull',
  'dev.everynode.fleet.v1.Rollout',
  'dev.everynode.fleet.v1.RolloutPolicy',
  'dev.everynode.fleet.v1.RolloutPolicySpec',
  'dev.everynode.fleet.v1.RolloutSpec',
  'dev.everynode.fleet.v1.RolloutStatus',
  'dev.everynode.fleet.v1.RolloutWave',
  'dev.everynode.fleet.v1.RolloutWaveStatus',
  'dev.everynode.fleet.v1.SteeringRequest',
  'dev.everynode.fleet.v1.SteeringStatus',
  'io.k8s.api.apps.v1.DaemonSet',
  'io.k8s.api.apps.v1.DaemonSetSpec',
  'io.k8s.api.apps.v1.DaemonSetStatus',
  'io.k8s.api.apps.v1.DaemonSetUpdateStrategy',
  'io.k8s.api.apps.v1.RollingUpdateDaemonSet',
  'io.k8s.api.core.v1.Node',
  'io.k8s.api.core.v1.NodeSpec',
  'io.k8s.api.core.v1.NodeStatus',
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
];

for (const name of WHOLE) {
  test(`${name} and all of its fields are described`, () => {
    const { description, properties = {} } = DEFINITIONS[name] ?? {};
    assert.ok(description);
    const silent = Object.keys(properties).filter((field) => !properties[field]?.description);
    assert.deepEqual(silent, []);
  });
}

/** Words with meaning, without articles. */
function wordsOf(text: string): Set<string> {
  return new Set(
    (text.toLowerCase().match(/[a-z]+/g) ?? []).filter((word) => !['a', 'an', 'the'].includes(word)),
  );
}

/** Returns true if most words of the shorter text are in the other one too. */
function saysTheSame(one: string, other: string): boolean {
  const [shorter, longer] = [wordsOf(one), wordsOf(other)].sort((a, b) => a.size - b.size);
  if (!shorter || !longer) return false;
  return [...shorter].filter((word) => longer.has(word)).length > 0.6 * shorter.size;
}

/** Returns the types that kubectl describes below the field. */
function typesOf({ $ref, allOf = [], items }: DescribedSchema): string[] {
  const references = [$ref, ...allOf.map((part) => part.$ref), items?.$ref];
  return references.flatMap((reference) => reference?.split('/').at(-1) ?? []);
}

test('a field and its type are described by different texts: kubectl explain prints both', () => {
  const repeated = Object.entries(DEFINITIONS).flatMap(([name, { properties = {} }]) =>
    Object.entries(properties).flatMap(([field, schema]) =>
      typesOf(schema)
        .filter((type) => saysTheSame(schema.description ?? '', DEFINITIONS[type]?.description ?? ''))
        .map(() => `${name}.${field}`),
    ),
  );
  assert.deepEqual(repeated, []);
});

test('only existing fields are described', () => {
  assert.deepEqual(orphanedDescriptions(), []);
});

test('a described reference is in allOf, as clients read it', () => {
  const strategy = DEFINITIONS['io.k8s.api.apps.v1.DaemonSetSpec']?.properties?.updateStrategy;
  assert.equal(strategy?.$ref, undefined);
  assert.deepEqual(strategy?.allOf, [
    { $ref: '#/components/schemas/io.k8s.api.apps.v1.DaemonSetUpdateStrategy' },
  ]);
});
