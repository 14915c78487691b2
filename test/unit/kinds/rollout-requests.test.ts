import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applySteeringAnnotations,
  validateNewRequests,
  validateNodeTargets,
} from '../../../coordinator/kinds/rollouts/rollout-requests.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import type { SteeringRequest } from '../../../shared/kube/rollouts/steering-requests.js';

const NOW = Date.parse('2026-03-01T10:00:00Z');
const CONTEXT = { now: NOW, user: 'ann' };
const WAVES = [{ name: 'canary' }, { name: 'rest' }];

function rollout(annotations: Record<string, string> = {}, spec?: Rollout['spec'], handled = 0): Rollout {
  const status = { revision: 'r2', waves: WAVES, steering: { handled } } as unknown as NonNullable<
    Rollout['status']
  >;
  const prefixed = Object.entries(annotations).map(([key, value]) => [`fleet.everynode.dev/${key}`, value]);
  return {
    apiVersion: 'fleet.everynode.dev/v1',
    kind: 'Rollout',
    metadata: { name: 'web', annotations: Object.fromEntries(prefixed) },
    ...(spec ? { spec } : {}),
    status,
  };
}

const standing = (id: number): SteeringRequest => ({ id, verb: 'pause', user: 'bob', time: 't' });

test('a steering annotation becomes a request with the name of its author, and is removed', () => {
  const next = rollout({ abort: 'now', reason: 'tills hang' });
  applySteeringAnnotations(next, rollout(), CONTEXT);
  assert.equal(next.metadata.annotations, undefined);
  assert.deepEqual(next.spec?.requests, [
    { id: 1, verb: 'abort', reason: 'tills hang', user: 'ann', time: '2026-03-01T10:00:00Z', revision: 'r2' },
  ]);
});

test('an unknown steering verb is rejected instead of being stored', () => {
  const next = rollout({ paus: '' });
  applySteeringAnnotations(next, rollout(), CONTEXT);
  const [mistake] = validateNewRequests(next, rollout());
  assert.equal(mistake?.field, 'metadata.annotations');
  assert.match(mistake?.message ?? '', /"fleet.everynode.dev\/pause"/);
  assert.deepEqual(validateNewRequests(next, next), [], 'one from before stays');
});

test('a finished rollout cannot be steered', () => {
  const labels = { 'fleet.everynode.dev/past-rollout-of': 'web' };
  const past = (annotations: Record<string, string>) => {
    const { metadata, ...others } = rollout(annotations);
    return { ...others, metadata: { ...metadata, name: 'web.r1', labels } };
  };
  const next = past({ abort: 'tills hang' });
  applySteeringAnnotations(next, past({}), CONTEXT);
  const [mistake] = validateNewRequests(next, past({}));
  assert.equal(mistake?.message, 'Forbidden: this rollout is finished: steer rollout web instead');
  assert.deepEqual(validateNewRequests(past({}), past({})), []);
});

test('a user cannot write a request directly', () => {
  const forged = { requests: [{ ...standing(1), user: 'the boss' }] };
  const next = rollout({}, forged);
  applySteeringAnnotations(next, rollout(), CONTEXT);
  assert.equal(next.spec, undefined);
});

test('accepted requests are removed with the next one, others are kept; ids keep increasing', () => {
  const current = rollout({}, { requests: [standing(4), standing(5)] }, 4);
  const next = { ...rollout({ skip: 'a, b,' }), spec: current.spec ?? {} };
  applySteeringAnnotations(next, current, CONTEXT);
  const found = next.spec.requests?.map(({ id, verb, targets }) => [id, verb, targets]);
  assert.deepEqual(found, [
    [5, 'pause', undefined],
    [6, 'skip', ['a', 'b']],
  ]);
});

test('an unknown host is rejected by name, also among others; a skip of a removed host can be withdrawn', () => {
  const strangers = (annotations: Record<string, string>, skipped: string[] = []) => {
    const current = rollout({}, { requests: [{ ...standing(4), verb: 'skip', targets: ['older'] }] }, 3);
    if (current.status?.steering) current.status.steering.skipped = skipped;
    const next = { ...rollout(annotations), spec: current.spec ?? {} };
    applySteeringAnnotations(next, current, CONTEXT);
    return validateNodeTargets(next, current, (name) => name === 'a').map(({ field, message }) => [
      field.replace(/.*\//, ''),
      message,
    ]);
  };
  assert.deepEqual(strangers({ skip: 'a,nosuch' }), [['skip]', 'Not found: "nosuch"']]);
  assert.deepEqual(strangers({ skip: '*' }), []);
  assert.deepEqual(strangers({ 'override-locks': 'b', reason: 'x' }), [
    ['override-locks]', 'Not found: "b"'],
  ]);
  assert.deepEqual(strangers({ unskip: 'b' }), [['unskip]', 'Not found: "b"']]);
  assert.deepEqual(strangers({ unskip: 'b' }, ['b']), []);
  assert.deepEqual(strangers({ unskip: 'older' }), [], 'its skip waits for the controller');
  assert.deepEqual(strangers({ approve: 'b', pause: '' }), [], 'no nodes');
});

test('where a verb takes no target its value is the reason', () => {
  const reasonOf = (value: string) => {
    const next = rollout({ abort: value });
    applySteeringAnnotations(next, rollout(), CONTEXT);
    return next.spec?.requests?.[0]?.reason;
  };
  assert.equal(reasonOf('tills hang'), 'tills hang');
  assert.equal(reasonOf('true'), undefined);
});

const MISTAKES: [Record<string, string>, string | undefined][] = [
  [{ approve: 'rest' }, undefined],
  [{ promote: '*' }, undefined],
  [{ approve: 'lab' }, 'metadata.annotations[fleet.everynode.dev/approve]'],
  [{ approve: '' }, 'metadata.annotations[fleet.everynode.dev/approve]'],
  [{ skip: ' , ' }, 'metadata.annotations[fleet.everynode.dev/skip]'],
  [{ pause: '' }, undefined],
  [{ abort: '' }, 'metadata.annotations[fleet.everynode.dev/reason]'],
  [{ 'override-windows': '*' }, 'metadata.annotations[fleet.everynode.dev/reason]'],
  [{ 'override-windows': '*', reason: 'a hole in the lock' }, undefined],
  [{ pause: '', reason: 'x'.repeat(1025) }, 'metadata.annotations[fleet.everynode.dev/reason]'],
];

for (const [annotations, field] of MISTAKES) {
  test(`a request ${JSON.stringify(annotations).slice(0, 60)} is ${field ? 'refused' : 'taken'}`, () => {
    const next = rollout(annotations);
    applySteeringAnnotations(next, rollout(), CONTEXT);
    const errors = validateNewRequests(next, rollout());
    assert.deepEqual(
      errors.map((error) => error.field),
      field ? [field] : [],
    );
  });
}
