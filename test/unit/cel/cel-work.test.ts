/** Work that expressions cause: it stays in proportion to their costs, so that no request blocks the coordinator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CpuAllowance } from '../../../coordinator/cel/language/cel-cost.js';
import { isEqual } from '../../../coordinator/cel/language/cel-equality.js';
import { CostExceeded } from '../../../coordinator/cel/language/cel-error.js';
import { type CelValue, LiteralMap } from '../../../coordinator/cel/language/cel-value.js';
import { compileExpression, type Evaluation } from '../../../coordinator/cel/language/compile-expression.js';
import { KUBERNETES_FUNCTIONS } from '../../../coordinator/cel/libraries/kubernetes-functions.js';
import { jsonValue, schemaValue } from '../../../coordinator/cel/schemas/schema-value.js';
import type { StructuralSchema } from '../../../coordinator/cel/schemas/structural-schema.js';
import type { AdmissionRequest } from '../../../coordinator/registry/admission/admission-matching.js';
import { requestScope } from '../../../coordinator/registry/admission/policy-request.js';
import { startCpuTimer } from '../../harness/basics/cpu-time.js';
import { listOf, mapOf, objectOf, TEXT } from './schema-of-values.js';

const SIZE = 200;
const MANY = Array.from({ length: SIZE }, (_, at) => `item-${at}`);
const BY_KEY = Object.fromEntries(MANY.map((key) => [key, key]));

/** Counts how often anything reads the members of `target`. */
function counted<T extends object>(target: T): { value: T; reads(): number } {
  let reads = 0;
  const value = new Proxy(target, {
    get: (...args) => {
      reads += 1;
      return Reflect.get(...args) as unknown;
    },
  });
  return { value, reads: () => reads };
}

/** The type of `self` and `object` is not declared. */
const DYN = { kind: 'dyn' } as const;

function evaluate(expression: string, self: CelValue): Evaluation {
  const context = { variables: new Map([['self', DYN]]), functions: KUBERNETES_FUNCTIONS };
  return compileExpression(expression, context).evaluate((name) => (name === 'self' ? self : undefined));
}

const ITEMS: StructuralSchema = objectOf({ items: listOf(TEXT) });
const DATA: StructuralSchema = objectOf({ data: mapOf(TEXT) });

test('a list of a declared field is converted once', () => {
  const { value, reads } = counted(MANY);
  const expression = 'self.items.all(x, self.items.size() == 200)';
  assert.deepEqual(evaluate(expression, schemaValue({ items: value }, ITEMS)).outcome, {
    value: true,
  });
  assert.ok(reads() < 5 * SIZE, `${reads()} reads`);
});

test('a map of a declared field is converted once', () => {
  const { value, reads } = counted({ ...BY_KEY });
  const expression = 'self.data.all(k, self.data[k] == k)';
  assert.deepEqual(evaluate(expression, schemaValue({ data: value }, DATA)).outcome, { value: true });
  assert.ok(reads() < 5 * SIZE, `${reads()} reads`);
});

test('a list and a map without a schema are converted once', () => {
  const [items, data] = [counted(MANY), counted({ ...BY_KEY })];
  const self = jsonValue({ items: items.value, data: data.value });
  const expression = 'self.items.all(x, self.items.size() == 200) && self.data.all(k, self.data[k] == k)';
  assert.deepEqual(evaluate(expression, self).outcome, { value: true });
  assert.ok(items.reads() + data.reads() < 10 * SIZE, `${items.reads()} and ${data.reads()} reads`);
});

test('the object of a request is converted once', () => {
  const { value, reads } = counted({ ...BY_KEY });
  const request = { kind: {}, sentAs: {}, object: value } as unknown as AdmissionRequest;
  const scope = requestScope(request, { ask: () => assert.fail('asks for access'), param: null });
  const context = { variables: new Map([['object', DYN]]), functions: KUBERNETES_FUNCTIONS };
  const program = compileExpression('object.all(k, object[k] == k)', context);
  assert.deepEqual(program.evaluate(scope).outcome, { value: true });
  assert.ok(reads() < 5 * SIZE, `${reads()} reads`);
});

test('a time zone is loaded once, not for each timestamp', (context) => {
  const original = Intl.DateTimeFormat;
  context.after(() => Reflect.set(Intl, 'DateTimeFormat', original));
  let made = 0;
  const construct = (target: typeof Intl.DateTimeFormat, args: unknown[]): object => {
    made += 1;
    return Reflect.construct(target, args) as object;
  };
  Reflect.set(Intl, 'DateTimeFormat', new Proxy(original, { construct }));
  const expression = "self.all(x, timestamp(x).getHours('Asia/Tokyo') == 9)";
  const { outcome } = evaluate(expression, Array<CelValue>(50).fill('2026-01-01T00:00:00Z'));
  assert.deepEqual(outcome, { value: true });
  assert.equal(made, 1);
});

test('the expressions of one request share an allowance of CPU time', () => {
  let micros = 0;
  // Each reading is 0.3 s after the last one.
  const cpu = new CpuAllowance(() => (micros += 300_000));
  const context = { variables: new Map([['self', DYN]]), functions: KUBERNETES_FUNCTIONS };
  const program = compileExpression('self.all(x, x + 1 > x)', context);
  const numbers = Array.from({ length: 100 }, (_, at) => BigInt(at));
  const scope = () => numbers;
  const outcomes = Array.from({ length: 20 }, () => program.evaluate(scope, cpu).outcome);
  assert.deepEqual(outcomes[0], { value: true });
  const last = outcomes.at(-1);
  assert.ok(last && 'error' in last && last.error instanceof CostExceeded);
  assert.deepEqual(program.evaluate(scope, new CpuAllowance(() => 0)).outcome, { value: true });
});

/** Texts that almost match a pattern. */
const ALMOST: readonly string[] = [
  'duration(self)',
  'double(self)',
  'quantity(self)',
  'timestamp(self)',
  'semver(self)',
];

for (const expression of ALMOST) {
  test(`${expression} refuses a long text of digits at once`, () => {
    const cpuMs = startCpuTimer();
    const { outcome } = evaluate(expression, `${'1'.repeat(150_000)}!`);
    const ms = cpuMs();
    assert.ok('error' in outcome);
    assert.ok(ms < 3000, `${ms} ms`);
  });
}

/** Calls that are too expensive to run, with two lists of 2,000 texts. */
const EXPENSIVE: readonly string[] = [
  'sets.contains(self.a, self.b)',
  'sets.equivalent(self.a, self.b)',
  'sets.intersects(self.a, self.b)',
];

for (const expression of EXPENSIVE) {
  test(`${expression} is charged before it runs`, () => {
    const { value, reads } = counted(Array.from({ length: 2000 }, (_, at) => `a-${at}`));
    const b = Array.from({ length: 2000 }, (_, at) => `b-${at}`);
    const lists = new LiteralMap(
      new Map<string, CelValue>([
        ['a', value],
        ['b', b],
      ]),
    );
    const { outcome } = evaluate(expression, lists);
    assert.ok('error' in outcome && outcome.error instanceof CostExceeded);
    assert.ok(reads() < 100, `${reads()} reads`);
  });
}

test('joining a long list of texts is charged before it runs', () => {
  const { value, reads } = counted(Array.from({ length: 2000 }, () => 'x'.repeat(5000)));
  const { outcome } = evaluate('self.join(",")', value);
  assert.ok('error' in outcome && outcome.error instanceof CostExceeded);
  // The cost reads each text once.
  assert.ok(reads() < 2 * 2000 + 100, `${reads()} reads`);
});

test('a replacement that squares the size is charged before it runs', () => {
  const { outcome } = evaluate("self.replace('x', self)", 'x'.repeat(60_000));
  assert.ok('error' in outcome && outcome.error instanceof CostExceeded, String(outcome));
});

/** Steps after which a text or its work is too large for the memory. `X` is the result of the step before. */
const GROWING: Record<string, string> = {
  'a text that formats itself twice': "'%s%s'.format([X, X])",
  'a list that doubles itself': '[1] + X + X',
};

for (const [title, step] of Object.entries(GROWING)) {
  test(`${title} reaches the cost limit before the memory`, () => {
    const names = Array.from({ length: 24 }, (_, at) => `a${at + 1}`);
    const body = names.reduceRight(
      (inner, name, at) => `cel.bind(${name}, ${step.replaceAll('X', `a${at}`)}, ${inner})`,
      'a24.size() > 0',
    );
    const first = step.startsWith('[') ? '[1]' : "'xxxxxxxxxx'";
    const { outcome } = evaluate(`cel.bind(a0, ${first}, ${body})`, null);
    assert.ok('error' in outcome && outcome.error instanceof CostExceeded, JSON.stringify(outcome, String));
  });
}

test('lists that contain one list many times are compared in the time of their distinct parts', () => {
  /** A list of two equal lists, 200 levels deep: 2^200 paths, 200 distinct lists. */
  const nested = (): CelValue => {
    let list: CelValue = [1n];
    for (let level = 0; level < SIZE; level += 1) list = [list, list];
    return list;
  };
  assert.equal(isEqual(nested(), nested()), true);
  assert.equal(isEqual([nested(), 1n], [nested(), 2n]), false);
});
