/** What is refused of a DaemonJob's start, and for which run an operator's approval counts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isSteered } from '../../../coordinator/kinds/daemonjobs/daemonjob-steering.js';
import { daemonJobKind } from '../../../coordinator/kinds/index.js';
import type { DaemonJob, DaemonJobSpec } from '../../../shared/kube/daemonjobs/daemonjob-types.js';

const APPROVE = 'fleet.everynode.dev/approve';
const PROMOTE = 'fleet.everynode.dev/promote';

function job(spec: Partial<DaemonJobSpec> = {}, annotations?: Record<string, string>): DaemonJob {
  const made: DaemonJob = {
    apiVersion: 'fleet.everynode.dev/v1',
    kind: 'DaemonJob',
    metadata: { name: 'work', namespace: 'default', ...(annotations && { annotations }) },
    spec: { template: { spec: { containers: [{ name: 'work', image: 'work:1' }] } }, ...spec },
  };
  daemonJobKind.setDefaults(made);
  return made;
}

const AT = '2026-12-24T03:00:00';
const STARTS: [what: string, spec: Partial<DaemonJobSpec>, problem: string | undefined][] = [
  ['the longest deadline', { startAt: AT, startingDeadlineSeconds: 2_147_483_647 }, undefined],
  [
    'a deadline that no date can express',
    { startAt: AT, startingDeadlineSeconds: 9e15 },
    'spec.startingDeadlineSeconds: Invalid value: 9000000000000000: must be less than or equal to 2147483647',
  ],
  ['an offset of a time zone', { startAt: `${AT}+14:00` }, undefined],
  [
    'an offset of more than a day',
    { startAt: `${AT}+99:00` },
    `spec.startAt: Invalid value: "${AT}+99:00": must be a time like 2026-12-24T03:00:00 (local to each host) or 2026-12-24T03:00:00Z (the same moment everywhere)`,
  ],
];
for (const [what, spec, problem] of STARTS) {
  test(`${what} is ${problem ? 'refused' : 'valid'}`, () => {
    const errors = daemonJobKind.validate(job(spec)).map(({ field, message }) => `${field}: ${message}`);
    assert.deepEqual(errors, problem ? [problem] : []);
  });
}

describe('an approval of a wave', () => {
  for (const key of [APPROVE, PROMOTE]) {
    test(`of a job that does not exist yet is refused: ${key}`, () => {
      const [error, ...others] = daemonJobKind.validateCreate?.(job({}, { [key]: '*' })) ?? [];
      assert.deepEqual(others, []);
      assert.equal(error?.field, `metadata.annotations[${key}]`);
      assert.match(error?.message ?? '', /^Forbidden: annotate the DaemonJob after it is created$/);
    });
  }

  type Annotations = Record<string, string> | undefined;
  const rows: [what: string, run: number, before: Annotations, sent: Annotations, stored: Annotations][] = [
    ['stays within its run', 1, { [APPROVE]: 'rest' }, { [APPROVE]: 'rest' }, { [APPROVE]: 'rest' }],
    ['is removed with the next run', 2, { [APPROVE]: 'rest' }, { [APPROVE]: 'rest' }, undefined],
    [
      'leaves other annotations',
      2,
      { [APPROVE]: 'rest', [PROMOTE]: '*', note: 'x' },
      { [APPROVE]: 'rest', [PROMOTE]: '*', note: 'x' },
      { note: 'x' },
    ],
    [
      'that comes with the next run counts for it',
      2,
      { [APPROVE]: 'half' },
      { [APPROVE]: 'half,rest' },
      { [APPROVE]: 'half,rest' },
    ],
    ['is absent', 2, undefined, undefined, undefined],
  ];
  for (const [what, run, before, sent, stored] of rows) {
    test(what, () => {
      const next = job({ run }, sent);
      daemonJobKind.prepareForUpdate(next, job({}, before), { now: 0 });
      assert.deepEqual(next.metadata.annotations, stored);
    });
  }
});

describe('an override of update locks', () => {
  const OVERRIDE = 'fleet.everynode.dev/override-locks';
  const REASON = 'fleet.everynode.dev/reason';
  const BY = 'fleet.everynode.dev/override-locks-by';
  type Annotations = Record<string, string> | undefined;
  const rows: [what: string, before: Annotations, sent: Annotations, stored: Annotations][] = [
    [
      'is recorded with its user and reason',
      undefined,
      { [OVERRIDE]: 'a', [REASON]: 'recall' },
      { [OVERRIDE]: 'a', [BY]: 'ann: recall' },
    ],
    [
      'cannot be recorded for another user',
      undefined,
      { [OVERRIDE]: 'a', [REASON]: 'recall', [BY]: 'bob: recall' },
      { [OVERRIDE]: 'a', [BY]: 'ann: recall' },
    ],
    [
      'keeps its user when another field changes',
      { [OVERRIDE]: 'a', [BY]: 'ann: recall' },
      { [OVERRIDE]: 'a', [BY]: 'bob' },
      { [OVERRIDE]: 'a', [BY]: 'ann: recall' },
    ],
    [
      'of the same hosts replaces the reason',
      { [OVERRIDE]: 'a', [BY]: 'bob: recall' },
      { [OVERRIDE]: 'a', [BY]: 'bob: recall', [REASON]: 'fire' },
      { [OVERRIDE]: 'a', [BY]: 'ann: fire' },
    ],
    [
      'keeps its reason when a wave is approved with another one',
      { [OVERRIDE]: 'a', [BY]: 'bob: recall' },
      { [OVERRIDE]: 'a', [BY]: 'bob: recall', [APPROVE]: 'half', [REASON]: 'fine' },
      { [OVERRIDE]: 'a', [BY]: 'bob: recall', [APPROVE]: 'half' },
    ],
    [
      'is removed with its user',
      { [OVERRIDE]: 'a', [BY]: 'ann: recall' },
      { [BY]: 'ann: recall' },
      undefined,
    ],
  ];
  const write = (before: Annotations, sent: Annotations) => {
    const [next, current] = [job({}, sent), job({}, before)];
    daemonJobKind.prepareForUpdate(next, current, { now: 0, user: 'ann' });
    return { next, errors: daemonJobKind.validateUpdate?.(next, current) ?? [] };
  };
  for (const [what, before, sent, stored] of rows) {
    test(what, () => {
      const { next, errors } = write(before, sent);
      assert.deepEqual([next.metadata.annotations, errors], [stored, []]);
    });
  }

  test('is not changed by a write of the status', () => {
    const stored = { [OVERRIDE]: 'a', [BY]: 'bob: recall', [APPROVE]: 'half' };
    const forged = { [OVERRIDE]: '*', [BY]: 'ann: x', [REASON]: 'x', [PROMOTE]: '*' };
    const rows: [before: Annotations, sent: Annotations, after: Annotations][] = [
      [stored, { ...forged, note: '1' }, { ...stored, note: '1' }],
      [stored, undefined, stored],
      [undefined, forged, undefined],
    ];
    for (const [before, sent, after] of rows) {
      const next = job({}, sent);
      daemonJobKind.prepareForStatusUpdate?.(next, job({}, before), { now: 0, user: 'ann' });
      assert.deepEqual(next.metadata.annotations, after);
    }
  });

  test('of the same hosts with another reason needs the right to steer', () => {
    const before = { [OVERRIDE]: 'a', [BY]: 'ann: recall' };
    assert.equal(isSteered(job({}, { ...before, [BY]: 'ann: fire' }), job({}, before)), true);
    assert.equal(isSteered(job({}, { ...before, note: 'x' }), job({}, before)), false);
  });

  test('requires a reason', () => {
    const { errors } = write(undefined, { [OVERRIDE]: 'a' });
    assert.deepEqual(
      errors.map(({ field, message }) => `${field}: ${message}`),
      [`metadata.annotations[${REASON}]: Required value: override-locks requires a reason`],
    );
  });
});
