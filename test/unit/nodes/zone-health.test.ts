/** The state of zones, and the eviction rate of their nodes (pkg/controller/nodelifecycle). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  afterTaking,
  atRate,
  fullBucket,
  msToToken,
} from '../../../coordinator/decisions/nodes/token-bucket.js';
import {
  DEFAULT_EVICTION_RATES,
  evictionRate,
  type ZoneState,
  zoneOf,
  zoneState,
} from '../../../coordinator/decisions/nodes/zone-health.js';

describe('a zone', () => {
  const cases: [ready: number, notReady: number, state: ZoneState, rate: number][] = [
    [0, 0, 'Normal', 0.1],
    [1, 0, 'Normal', 0.1],
    [0, 1, 'FullDisruption', 0.1],
    [0, 100, 'FullDisruption', 0.1],
    [1, 2, 'Normal', 0.1],
    [2, 3, 'PartialDisruption', 0],
    [9, 11, 'PartialDisruption', 0],
    [46, 54, 'Normal', 0.1],
    [45, 55, 'PartialDisruption', 0.01],
    [22, 28, 'PartialDisruption', 0],
    [22, 29, 'PartialDisruption', 0.01],
    [1, 99, 'PartialDisruption', 0.01],
  ];
  for (const [ready, notReady, state, rate] of cases) {
    test(`${ready} ready and ${notReady} not: ${state}, ${rate}/s`, () => {
      const counts = { ready, notReady };
      const actual = zoneState(counts, DEFAULT_EVICTION_RATES.unhealthyZoneThreshold);
      assert.deepEqual([actual, evictionRate(actual, counts, DEFAULT_EVICTION_RATES)], [state, rate]);
    });
  }

  const labelled: [Record<string, string>, string][] = [
    [{}, ''],
    [{ 'topology.kubernetes.io/zone': 'a' }, ':a'],
    [{ 'topology.kubernetes.io/region': 'eu', 'topology.kubernetes.io/zone': 'a' }, 'eu:a'],
    [{ 'failure-domain.beta.kubernetes.io/region': 'eu' }, 'eu:'],
    [{ 'failure-domain.beta.kubernetes.io/zone': 'old', 'topology.kubernetes.io/zone': 'new' }, ':new'],
  ];
  for (const [labels, zone] of labelled) {
    test(`labels ${JSON.stringify(labels)}`, () =>
      assert.equal(zoneOf({ metadata: { name: 'n', labels } }), zone));
  }
});

describe('a bucket', () => {
  test('gives its first token at once, the next after its interval, and never two at once', () => {
    const full = fullBucket(0.1, 0);
    assert.equal(msToToken(full, 0), 0);
    const empty = afterTaking(full, 1_000);
    assert.deepEqual(
      [1_000, 6_000, 11_000, 99_000].map((now) => msToToken(empty, now)),
      [10_000, 5_000, 0, 0],
    );
    assert.equal(msToToken(afterTaking(empty, 99_000), 99_000), 10_000);
  });

  test('at an unchanged rate it keeps the part of a token that it has earned', () => {
    const earning = afterTaking(fullBucket(0.1, 0), 0);
    assert.equal(msToToken(atRate(earning, 0.1, 9_000), 9_000), 1_000);
  });

  test('at another rate it gives at once only the tokens already earned', () => {
    const full = fullBucket(0.1, 0);
    assert.equal(msToToken(atRate(full, 0.01, 0), 0), 0);
    const halted = atRate(full, 0, 0);
    assert.equal(msToToken(halted, 1e9), Number.POSITIVE_INFINITY);
    assert.equal(msToToken(atRate(halted, 0.1, 1_000), 1_000), 10_000);
  });
});
