/** Thresholds of host pressure (pkg/kubelet/eviction/helpers.go, ParseThresholdConfig). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  DEFAULT_EVICTION_HARD,
  evictionGraceSeconds,
  parseMinimumReclaims,
  parseThresholds,
  thresholdsOf,
} from '../../../agent/decisions/eviction/eviction-thresholds.js';
import { goDurationText, parseGoDuration } from '../../../shared/kube/objects/go-duration.js';

const MIB = 1024 ** 2;
const NONE = { evictionHard: '', evictionSoft: '', evictionSoftGracePeriod: '', evictionMinimumReclaim: '' };

describe('eviction settings', () => {
  test('the default thresholds are upstream’s', () => {
    const thresholds = thresholdsOf({ ...NONE, evictionHard: DEFAULT_EVICTION_HARD });
    assert.deepEqual(
      thresholds.map(({ signal, value, graceMs }) => [signal, value, graceMs]),
      [
        ['memory.available', { kind: 'quantity', amount: 100 * MIB, text: '100Mi' }, 0],
        ['nodefs.available', { kind: 'share', share: 0.1 }, 0],
        ['nodefs.inodesFree', { kind: 'share', share: 0.05 }, 0],
        ['imagefs.available', { kind: 'share', share: 0.15 }, 0],
        ['imagefs.inodesFree', { kind: 'share', share: 0.05 }, 0],
      ],
    );
  });

  test('thresholds are read as a map of the settings file, and signals can be switched off', () => {
    const parsed = parseThresholds('memory.available=1Gi, nodefs.available=0%,pid.available<10%');
    assert.deepEqual([...parsed.keys()], ['memory.available', 'pid.available']);
  });

  test('soft thresholds have a grace period, and both kinds may have a minimum reclaim', () => {
    const [hard, soft] = thresholdsOf({
      evictionHard: 'nodefs.available<5%',
      evictionSoft: 'nodefs.available<10%',
      evictionSoftGracePeriod: 'nodefs.available=1m30s',
      evictionMinimumReclaim: 'nodefs.available=1%',
    });
    assert.deepEqual([hard?.graceMs, soft?.graceMs], [0, 90_000]);
    assert.deepEqual([hard?.minReclaim, soft?.minReclaim], Array(2).fill({ kind: 'share', share: 0.01 }));
    assert.throws(() => thresholdsOf({ ...NONE, evictionSoft: 'memory.available<1Gi' }), /grace period must/);
  });

  test('a minimum reclaim may be 0, as in upstream’s own example', () => {
    const parsed = parseMinimumReclaims('memory.available=0Mi,nodefs.available=500Mi,imagefs.available=2%');
    assert.deepEqual(
      [...parsed.values()].map((value) => (value.kind === 'quantity' ? value.amount : value.share)),
      [0, 500 * MIB, 0.02],
    );
    for (const text of ['memory.available=-1', 'memory.available=0%', 'memory.available=-1%', 'memory=1Gi'])
      assert.throws(() => parseMinimumReclaims(text), /must/, text);
  });

  const wrong: [text: string, error: RegExp][] = [
    ['memory<1Gi', /SIGNAL one of memory\.available/],
    ['memory.available', /SIGNAL<VALUE/],
    ['memory.available<-1', /above 0/],
    ['memory.available<0', /above 0/],
    ['memory.available<lots', /above 0/],
    ['nodefs.available<120%', /0% to 100%/],
    ['nodefs.available<%', /0% to 100%/],
  ];
  for (const [text, error] of wrong) {
    test(`"${text}" is refused`, () => assert.throws(() => parseThresholds(text), error));
  }

  const soft = 90_000;
  const graces: [rule: string, graceMs: number, own: number | undefined, most: number, seconds: number][] = [
    ['a hard threshold allows no grace period', 0, 60, 20, 1],
    ['a soft threshold caps the Pod’s own grace period', soft, 60, 20, 20],
    ['a soft threshold does not lengthen the Pod’s grace period', soft, 3, 20, 3],
    ['a Pod without a grace period has thirty seconds', soft, undefined, 60, 30],
    ['a cap of 0 allows no grace period', soft, 60, 0, 0],
    ['-1 is no cap', soft, 60, -1, 60],
  ];
  for (const [rule, graceMs, own, most, seconds] of graces) {
    test(`the grace period: ${rule}`, () => {
      const grace = own === undefined ? {} : { terminationGracePeriodSeconds: own };
      assert.equal(evictionGraceSeconds({ graceMs }, { containers: [], ...grace }, most), seconds);
    });
  }

  test('durations are formatted as in Go', () => {
    const cases: [string, number | undefined][] = [
      ['0', 0],
      ['40s', 40_000],
      ['1m30s', 90_000],
      ['36h', 129_600_000],
      ['1.5h', 5_400_000],
      ['250ms', 250],
      ['', undefined],
      ['40', undefined],
      ['1d', undefined],
      ['-1s', undefined],
      ['5m x', undefined],
    ];
    for (const [text, ms] of cases) assert.equal(parseGoDuration(text), ms, text);
    assert.deepEqual([0, 500, 40_000, 90_000, 129_600_000].map(goDurationText), [
      '0s',
      '500ms',
      '40s',
      '1m30s',
      '36h0m0s',
    ]);
  });
});
