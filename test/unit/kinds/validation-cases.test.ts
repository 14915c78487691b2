/**
 * The cases of validation.json that need no server: schema, defaults, preparation and validation of the kinds, in the
 * order in which the registry applies them. The conformance runner sends the whole table through the API.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ALL_KINDS } from '../../../coordinator/kinds/index.js';
import type { FieldError, Kind } from '../../../coordinator/kinds/kind.js';
import { checkFields } from '../../../coordinator/kinds/schema/check-fields.js';
import { dropUnknownFields } from '../../../coordinator/kinds/schema/drop-unknown-fields.js';
import {
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../../../coordinator/kinds/validation/object-meta-validation.js';
import { TEMPLATE_GENERATION_ANNOTATION } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';

interface Case {
  name: string;
  operation: string;
  object: KubeObject;
  oldObject?: KubeObject;
  expected: {
    accepted: boolean;
    code?: number;
    errors?: { field: string; reason: string }[];
    generationDelta?: number;
    templateGenerationDelta?: number;
  };
}

interface Outcome {
  object: KubeObject;
  errors: FieldError[];
}

const CONTEXT = { now: 0 };
const CASES: Case[] = JSON.parse(
  readFileSync(new URL('../../conformance/cases/validation.json', import.meta.url), 'utf8'),
);
/** Cases that a server answers from its store, or rejects before validation. */
const NEEDS_SERVER = new Set(['createTwice', 'updateMissing', 'updateStale', 'createStrict']);

function kindOf(object: KubeObject): Kind {
  const kind = ALL_KINDS.find((candidate) => candidate.kind === object.kind);
  assert.ok(kind, `no kind ${object.kind}`);
  return kind;
}

function read(kind: Kind, body: KubeObject): KubeObject {
  const object = structuredClone(body);
  const { typeErrors } = checkFields(kind.schema, object);
  assert.deepEqual(typeErrors, []);
  dropUnknownFields(kind.schema, object);
  if (kind.namespaced) object.metadata.namespace = 'default';
  kind.setDefaults(object);
  return object;
}

function create(body: KubeObject): Outcome {
  const kind = kindOf(body);
  const object = read(kind, body);
  kind.prepareForCreate(object, CONTEXT);
  const created = kind.validateCreate?.(object) ?? [];
  const errors = [...validateObjectMeta(object.metadata, kind), ...created, ...kind.validate(object)];
  return { object, errors };
}

function update(body: KubeObject, current: KubeObject): Outcome {
  const kind = kindOf(body);
  const object = read(kind, body);
  kind.prepareForUpdate(object, current, CONTEXT);
  const metadata = validateObjectMetaUpdate(object.metadata, current.metadata);
  return { object, errors: [...metadata, ...kind.validate(object), ...kind.validateUpdate(object, current)] };
}

function updateStatus(body: KubeObject, current: KubeObject): Outcome {
  const kind = kindOf(body);
  const object = read(kind, body);
  kind.prepareForStatusUpdate?.(object, current, CONTEXT);
  return { object, errors: kind.validateStatusUpdate?.(object, current) ?? [] };
}

function withStatus(object: KubeObject, source: KubeObject): KubeObject {
  return Object.assign(object, { status: (source as { status?: unknown }).status });
}

function run({ operation, object, oldObject = object }: Case): Outcome & { before: KubeObject } {
  if (operation === 'create' || operation === 'createIgnore') return { ...create(object), before: object };
  const before = create(oldObject).object;
  if (operation === 'update') return { ...update(object, before), before };
  return { ...updateStatus(object, withStatus(before, oldObject)), before };
}

function templateGeneration(object: KubeObject): number {
  return Number(object.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION] ?? 0);
}

function distinct(errors: readonly { field?: string; reason?: string }[]): string[] {
  return [...new Set(errors.map((error) => `${error.reason} ${error.field}`))].sort();
}

function check(testCase: Case): void {
  const { expected } = testCase;
  if (expected.code === 400) {
    const { typeErrors } = checkFields(kindOf(testCase.object).schema, testCase.object);
    assert.notDeepEqual(typeErrors, []);
    return;
  }
  const { object, errors, before } = run(testCase);
  assert.deepEqual(distinct(errors), distinct(expected.errors ?? []));
  if (expected.generationDelta !== undefined) {
    const delta = (object.metadata.generation ?? 0) - (before.metadata.generation ?? 0);
    assert.equal(delta, expected.generationDelta);
  }
  if (expected.templateGenerationDelta !== undefined) {
    assert.equal(templateGeneration(object) - templateGeneration(before), expected.templateGenerationDelta);
  }
}

for (const testCase of CASES.filter(({ operation }) => !NEEDS_SERVER.has(operation))) {
  test(testCase.name, () => check(testCase));
}
