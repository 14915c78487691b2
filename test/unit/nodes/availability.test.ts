/** The availability of hosts: outages, times without a coordinator, and shares. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  gapsUntil,
  MAX_GAPS,
  type ObservationGap,
  shareOf,
  withGap,
} from '../../../coordinator/decisions/nodes/availability-share.js';
import {
  decodeOutages,
  encodeOutages,
  MAX_OUTAGES,
  type Outage,
  observeReady,
  recordUntil,
  WEEK_SECONDS,
  withOutage,
} from '../../../coordinator/decisions/nodes/outage-history.js';

const NOW = 1_800_000_000;
const HOUR = 3600;

function outage(from: number, to: number, down = to - from): Outage {
  return { from, to, down };
}

describe('the outages of a host', () => {
  test('are kept in order for a week, and an empty one is left out', () => {
    const old = outage(NOW - WEEK_SECONDS - 100, NOW - WEEK_SECONDS);
    const long = outage(NOW - WEEK_SECONDS - 100, NOW - WEEK_SECONDS + 1);
    const last = outage(NOW - 50, NOW - 20);
    assert.deepEqual(withOutage([old, long], last, NOW), [long, last]);
    assert.deepEqual(withOutage([last], outage(NOW, NOW), NOW), [last]);
    assert.deepEqual(withOutage([last], outage(NOW - 90, NOW - 80), NOW), [outage(NOW - 90, NOW - 80), last]);
  });

  test('of a host that flaps are merged where they are closest, and their time stays exact', () => {
    let history: Outage[] = [];
    for (let count = 0; count < 200; count += 1) {
      const from = NOW - 100_000 + count * 400;
      history = withOutage(history, outage(from, from + 100 + (count % 7)), NOW);
    }
    const down = Array.from({ length: 200 }, (_, count) => 100 + (count % 7)).reduce((a, b) => a + b);
    assert.equal(history.length, MAX_OUTAGES);
    assert.equal(
      history.reduce((sum, each) => sum + each.down, 0),
      down,
    );
    assert.equal(history[0]?.from, NOW - 100_000);
    assert.ok(Buffer.byteLength(encodeOutages(history)) <= 400);
  });

  test('are the same after they were stored, and a damaged text costs only what it says', () => {
    const history = [outage(NOW - 500, NOW - 400, 30), outage(NOW - 20, NOW)];
    assert.deepEqual(decodeOutages(encodeOutages(history)), history);
    assert.deepEqual(decodeOutages(''), []);
    const text = encodeOutages(history);
    for (const damage of ['x', '1+2', '1+2+3', '1+0+0', '1+2+1+1', '-1+2+1'])
      assert.deepEqual(decodeOutages(`${damage} ${text}`), history, damage);
  });
});

describe('an observation of Ready', () => {
  const down = { past: '', downSince: NOW - 100 };
  const over = { past: encodeOutages([outage(NOW - 100, NOW - 40)]) };
  const cases: [what: string, ...Parameters<typeof observeReady>, after: ReturnType<typeof observeReady>][] =
    [
      ['a healthy host has no record', undefined, 'True', NOW - 50, NOW, undefined],
      ['a Node without a host has no record', undefined, undefined, Number.NaN, NOW, undefined],
      ['an outage begins', undefined, 'Unknown', NOW - 5, NOW, { past: '', downSince: NOW - 5 }],
      [
        'a host that is NotReady has an outage too',
        undefined,
        'False',
        NOW,
        NOW,
        { past: '', downSince: NOW },
      ],
      [
        'the beginning without a time is now',
        undefined,
        'False',
        Number.NaN,
        NOW,
        { past: '', downSince: NOW },
      ],
      ['the beginning is not in the future', undefined, 'False', NOW + 9, NOW, { past: '', downSince: NOW }],
      ['an outage continues', down, 'False', NOW - 30, NOW, down],
      ['an outage ends', down, 'True', NOW - 40, NOW, over],
      ['an outage that ended before it began has no time', down, 'True', NOW - 200, NOW, undefined],
      ['a second outage keeps the first one', over, 'Unknown', NOW - 7, NOW, { ...over, downSince: NOW - 7 }],
    ];
  for (const [what, record, status, at, now, after] of cases)
    test(what, () => assert.deepEqual(observeReady(record, status, at, now), after));

  test('without a change returns the same record, so that nothing is stored', () => {
    assert.equal(observeReady(down, 'Unknown', NOW, NOW), down);
    assert.equal(observeReady(over, 'True', NOW, NOW), over);
  });
});

describe('the share of time in which a host was Ready', () => {
  const day = NOW - 24 * HOUR;
  const cases: [what: string, begin: number, outages: Outage[], gaps: ObservationGap[], number, number][] = [
    ['is all without outages', 0, [], [], 24 * HOUR, 24 * HOUR],
    ['begins with the host', NOW - HOUR, [], [], HOUR, HOUR],
    ['is nothing for a host of the future', NOW + 5, [], [], 0, 0],
    ['lacks an outage', 0, [outage(NOW - HOUR, NOW)], [], 24 * HOUR, 23 * HOUR],
    [
      'lacks the part of an outage in the span',
      0,
      [outage(day - HOUR, day + HOUR)],
      [],
      24 * HOUR,
      23 * HOUR,
    ],
    ['ignores an outage from before', 0, [outage(day - HOUR, day)], [], 24 * HOUR, 24 * HOUR],
    ['counts a merged outage by its time', 0, [outage(day, day + 100, 40)], [], 24 * HOUR, 24 * HOUR - 40],
    [
      'counts a cut merged outage in proportion',
      ...([0, [outage(day - 100, day + 100, 40)], [], 24 * HOUR, 24 * HOUR - 20] as const),
    ] as never,
    [
      'ignores time without a coordinator',
      0,
      [],
      [{ from: day - HOUR, to: day + HOUR }],
      23 * HOUR,
      23 * HOUR,
    ],
    [
      'does not count an outage while there was no coordinator',
      ...([
        0,
        [outage(NOW - 4 * HOUR, NOW - HOUR)],
        [{ from: NOW - 3 * HOUR, to: NOW - 2 * HOUR }],
        23 * HOUR,
        21 * HOUR,
      ] as const),
    ] as never,
  ];
  for (const [what, begin, outages, gaps, observedSeconds, readySeconds] of cases)
    test(what, () =>
      assert.deepEqual(shareOf({ begin, outages }, gaps, day, NOW), { observedSeconds, readySeconds }),
    );
});

test('gaps that overlap or touch are merged, so that no time is subtracted twice', () => {
  const gap = (from: number, to: number) => ({ from: NOW + from, to: NOW + to });
  const gaps = withGap([gap(-100, -40), gap(-20, -10), gap(-90, -80)], gap(-60, -20), 0);
  assert.deepEqual(gaps, [gap(-100, -10)]);
  const share = shareOf({ begin: NOW - 100, outages: [] }, gaps, NOW - 200, NOW);
  assert.deepEqual(share, { observedSeconds: 10, readySeconds: 10 });
});

describe('what was recorded while the clock was ahead', () => {
  const later = NOW + 1_000;
  test('is cut from gaps that have begun', () => {
    const gaps = [
      { from: NOW - 9, to: NOW - 5 },
      { from: NOW - 3, to: later },
      { from: NOW + 1, to: later },
    ];
    assert.deepEqual(gapsUntil(gaps, NOW), [gaps[0], { from: NOW - 3, to: NOW }, gaps[2]]);
  });
  const past = encodeOutages([outage(NOW - 50, NOW - 40)]);
  const next = outage(NOW + 1, later);
  const cut = encodeOutages([outage(NOW - 50, NOW - 40), outage(NOW - 10, NOW), next]);
  const ahead = encodeOutages([outage(NOW - 50, NOW - 40), outage(NOW - 10, later), next]);
  for (const [what, record, expected] of [
    ['a past outage stays', { past }, { past }],
    ['an outage is cut, and one that begins later stays', { past: ahead }, { past: cut }],
    [
      'a clock that is behind deletes nothing',
      { past: encodeOutages([next]) },
      { past: encodeOutages([next]) },
    ],
    ['nor moves a present outage', { past: '', downSince: later }, { past: '', downSince: later }],
    ['a present outage stays', { past, downSince: NOW - 5 }, { past, downSince: NOW - 5 }],
  ] as const) {
    test(`of a host: ${what}`, () => assert.deepEqual(recordUntil(record, NOW), expected));
  }
});

test('times without a coordinator are kept for a week, and the closest ones are merged above the limit', () => {
  const gap = (from: number, to: number) => ({ from, to });
  assert.deepEqual(withGap([gap(1, 5)], gap(7, 7), 0), [gap(1, 5)]);
  assert.deepEqual(withGap([gap(1, 5), gap(6, 8)], gap(9, 12), 5), [gap(6, 8), gap(9, 12)]);
  let gaps: ObservationGap[] = [];
  for (let count = 0; count <= MAX_GAPS; count += 1)
    gaps = withGap(gaps, gap(count * 100, count * 100 + 10), -1);
  assert.equal(gaps.length, MAX_GAPS);
  assert.deepEqual(gaps[0], gap(0, 110));
});
