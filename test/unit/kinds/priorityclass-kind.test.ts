/** The cases of pkg/apis/scheduling/validation/validation_test.go, with upstream's texts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { priorityClassKind } from '../../../coordinator/kinds/index.js';
import { validateObjectMeta } from '../../../coordinator/kinds/validation/object-meta-validation.js';
import type { PriorityClass } from '../../../shared/kube/pods/priority-class.js';

function priorityClass(
  name: string,
  fields: Partial<PriorityClass> = {},
  metadata: object = {},
): PriorityClass {
  const made: PriorityClass = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name, ...metadata },
    value: 100,
    ...fields,
  };
  priorityClassKind.setDefaults(made);
  return made;
}

function errorsOf(made: PriorityClass): string[] {
  return [...validateObjectMeta(made.metadata, priorityClassKind), ...priorityClassKind.validate(made)].map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

const RESERVED =
  "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";

describe('a PriorityClass', () => {
  const VALID: [string, PriorityClass][] = [
    ['without a description', priorityClass('tier1')],
    [
      'with a description',
      priorityClass('tier1', { value: 200, globalDefault: false, description: 'Used.' }),
    ],
    ['of the system', priorityClass('system-node-critical', { value: 2_000_001_000 })],
    ['with the highest value', priorityClass('tier1', { value: 1_000_000_000 })],
    ['with a negative value', priorityClass('tier1', { value: -5 })],
  ];
  for (const [rule, made] of VALID) test(`${rule} is valid`, () => assert.deepEqual(errorsOf(made), []));

  const INVALID: [string, PriorityClass, RegExp | string][] = [
    ['in a namespace', priorityClass('tier1', {}, { namespace: 'foo' }), /^metadata\.namespace: /],
    ['with an invalid name', priorityClass('tier&1'), /^metadata\.name: Invalid value: "tier&1"/],
    [
      'of the system with another value',
      priorityClass('system-node-critical', { value: 0 }),
      `${RESERVED}value of system-node-critical PriorityClass must be 2000001000`,
    ],
    [
      'of the system as the default',
      priorityClass('system-cluster-critical', { value: 2_000_000_000, globalDefault: true }),
      `${RESERVED}globalDefault of system-cluster-critical PriorityClass must be false`,
    ],
    [
      'with a reserved name',
      priorityClass('system-something', { value: 2_000_001_000 }),
      `${RESERVED}system-something is not a known system priority class`,
    ],
    [
      'above the highest value',
      priorityClass('tier1', { value: 1_000_000_001 }),
      'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
    ],
    [
      'with an unknown policy',
      priorityClass('tier1', { preemptionPolicy: 'Sometimes' }),
      'preemptionPolicy: Unsupported value: "Sometimes": supported values: "Never", "PreemptLowerPriority"',
    ],
  ];
  for (const [rule, made, expected] of INVALID) {
    test(`${rule} is invalid`, () => {
      const [first = '', ...others] = errorsOf(made);
      assert.deepEqual(others, []);
      if (typeof expected === 'string') assert.equal(first, expected);
      else assert.match(first, expected);
    });
  }

  test('has its defaults and columns', () => {
    const made = priorityClass('tier1', { value: 7 });
    const cells = priorityClassKind.columns.map((column) => [column.name, column.type, column.cell(made, 0)]);
    assert.equal(made.preemptionPolicy, 'PreemptLowerPriority');
    assert.deepEqual(
      cells.filter(([name]) => name !== 'Age'),
      [
        ['Name', 'string', 'tier1'],
        ['Value', 'integer', 7],
        ['Global-Default', 'boolean', false],
        ['PreemptionPolicy', 'string', 'PreemptLowerPriority'],
      ],
    );
  });
});

describe('a changed PriorityClass', () => {
  const old = priorityClass('tier1');
  const CASES: [string, Partial<PriorityClass>, string[]][] = [
    ['no change', { description: 'x' }, []],
    ['another default', { globalDefault: true }, []],
    ['no value', { value: 0 }, ['value: Forbidden: may not be changed in an update.']],
    ['another value', { value: 101 }, ['value: Forbidden: may not be changed in an update.']],
    [
      'another policy',
      { preemptionPolicy: 'Never' },
      ['preemptionPolicy: Invalid value: "Never": field is immutable'],
    ],
  ];
  for (const [rule, change, expected] of CASES) {
    test(rule, () => {
      const errors = priorityClassKind.validateUpdate({ ...old, ...change }, old);
      assert.deepEqual(
        errors.map(({ field, message }) => `${field}: ${message}`),
        expected,
      );
    });
  }
});
