/** The checker of rounds with several coordinators finds each violation. A checker that found nothing would pass every run. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import {
  differentDatabases,
  disagreements,
  lostWrites,
  unsettledContainers,
  WatchChecker,
  wrongContainers,
} from '../../chaos/coordinators/cluster-check.js';
import type { RecordedContainer } from '../../chaos/coordinators/container-recorder.js';
import { COORDINATOR_FAULTS, coordinatorPlan } from '../../chaos/coordinators/coordinator-plan.js';
import type { Seen } from '../../chaos/coordinators/turn-watch.js';
import type { Acknowledged } from '../../chaos/coordinators/turn-writer.js';

const acknowledged = (): Acknowledged[] => [
  { name: 'writer-1', turn: 3, created: new Set(['writer-1-10']), deleted: new Set(['writer-1-5']) },
];
const STORED: [string, number][] = [
  ['writer-1', 3],
  ['writer-1-10', 0],
];

describe('acknowledged writes', () => {
  test('stored writes are no violation', () => {
    assert.deepEqual(lostWrites(acknowledged(), new Map(STORED)), []);
  });
  for (const [what, change, violation] of [
    ['an older turn', (stored) => stored.set('writer-1', 2), /writer-1 is at turn 2, and 3 was/],
    ['a later turn than any request', (stored) => stored.set('writer-1', 4), /at turn 4, and 3 was/],
    ['a missing object', (stored) => stored.delete('writer-1'), /at turn undefined/],
    ['a lost creation', (stored) => stored.delete('writer-1-10'), /the creation of writer-1-10 is lost/],
    ['a lost deletion', (stored) => stored.set('writer-1-5', 0), /the deletion of writer-1-5 is lost/],
  ] satisfies [string, (stored: Map<string, number>) => unknown, RegExp][])
    test(`${what} is a violation`, () => {
      const stored = new Map(STORED);
      change(stored);
      const found = lostWrites(acknowledged(), stored);
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', violation);
    });
});

const change = (
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  name: string,
  turn: number,
  version: number,
): Seen => ({
  ...{ type, name, turn, version },
});
/** A complete watch of `acknowledged`. */
const watched = (): Seen[] => [
  { type: 'LIST', version: 10, turns: new Map([['writer-1', 0]]) },
  change('MODIFIED', 'writer-1', 1, 11),
  change('ADDED', 'writer-1-5', 0, 12),
  change('MODIFIED', 'writer-1', 2, 13),
  change('ADDED', 'writer-1-10', 0, 14),
  change('DELETED', 'writer-1-5', 0, 15),
  change('MODIFIED', 'writer-1', 3, 16),
];

function check(seen: readonly Seen[]): string[] {
  const checker = new WatchChecker((name) => name === 'writer-1');
  checker.add(seen);
  return [...checker.violations, ...checker.missing(acknowledged())];
}

describe('watch', () => {
  test('each change once, in order, is no violation', () => {
    assert.deepEqual(check(watched()), []);
  });
  test('a list after 410 replaces the changes before it', () => {
    const list: Seen = { type: 'LIST', version: 15, turns: new Map([...STORED, ['writer-1', 2]]) };
    const seen = [...watched().slice(0, 3), list, ...watched().slice(6)];
    assert.deepEqual(check(seen), []);
  });
  for (const [what, sabotage, violation] of [
    [
      'a missing turn',
      (seen) => seen.filter((_, index) => index !== 3),
      /saw turn 3 of writer-1 after turn 1/,
    ],
    ['a missing last turn', (seen) => seen.slice(0, -1), /saw turn 2 of writer-1, and 3 was acknowledged/],
    [
      'a repeated change',
      (seen) => [...seen, change('MODIFIED', 'writer-1', 3, 16)],
      /at version 16 after 16/,
    ],
    [
      'a turn twice',
      (seen) => [...seen, change('MODIFIED', 'writer-1', 3, 17)],
      /turn 3 of writer-1 after turn 3/,
    ],
    [
      'a creation twice',
      (seen) => [...seen, change('ADDED', 'writer-1-10', 0, 17)],
      /ADDED writer-1-10 twice/,
    ],
    ['a missing creation', (seen) => seen.filter((_, index) => index !== 4), /creation of writer-1-10/],
    ['a missing deletion', (seen) => seen.filter((_, index) => index !== 5), /deletion of writer-1-5/],
    [
      'an older version',
      (seen) => seen.toSpliced(2, 1, change('ADDED', 'writer-1-5', 0, 9)),
      /version 9 after 11/,
    ],
    [
      'an older list',
      (seen) => [...seen, { type: 'LIST', version: 12, turns: new Map(STORED) }],
      /a list has version 12, and the watch had seen 16/,
    ],
  ] satisfies [string, (seen: Seen[]) => Seen[], RegExp][])
    test(`${what} is a violation`, () => {
      assert.match(check(sabotage(watched())).join('\n'), violation);
    });
});

const container = (
  name: string,
  image: string,
  more: Partial<RecordedContainer> = {},
): RecordedContainer => ({
  ...{ id: `${name} ${image}`, host: 'host-1', name, image, podUid: `${name} ${image}`, attempt: 0 },
  ...{ starts: [1], state: 'running' },
  ...more,
});
const EXPECTED = {
  hosts: ['host-1'],
  steady: 'steady',
  released: 'app',
  releases: ['app:1', 'app:2', 'app:3'],
};
const whole = (): RecordedContainer[] => [
  container('steady', 'docker.io/library/steady:1'),
  container('app', 'docker.io/library/app:2', { state: 'removed' }),
  container('app', 'docker.io/library/app:3'),
];

describe('containers', () => {
  test('one container for each release is no violation', () => {
    assert.deepEqual(wrongContainers(whole(), EXPECTED), []);
    assert.deepEqual(unsettledContainers(whole(), EXPECTED), []);
  });
  for (const [what, sabotage, violation] of [
    [
      'a restart',
      () => container('app', 'app:3', { attempt: 1, id: 'x' }),
      /app with app:3 on host-1 was restarted/,
    ],
    ['a second start', () => container('app', 'app:3', { starts: [1, 2], id: 'x' }), /was restarted/],
    [
      'a replacement',
      () => container('steady', 'steady:1', { id: 'x' }),
      /steady has had 2 containers on host-1/,
    ],
    ['a release twice', () => container('app', 'app:3', { id: 'x' }), /ran release 2 after release 2/],
    ['an old release', () => container('app', 'app:2', { id: 'x' }), /ran release 1 after release 2/],
  ] satisfies [string, () => RecordedContainer, RegExp][])
    test(`${what} is a violation`, () => {
      assert.match(wrongContainers([...whole(), sabotage()], EXPECTED).join('\n'), violation);
    });
  test('a skipped release and a stopped container are violations', () => {
    const [steady, old] = whole();
    assert.ok(steady && old);
    const releases = [...EXPECTED.releases, 'app:4'];
    const skipping = [steady, old, container('app', 'app:4')];
    assert.match(
      wrongContainers(skipping, { ...EXPECTED, releases }).join('\n'),
      /release 3 after release 1/,
    );
    assert.match(wrongContainers([{ ...steady, state: 'exited' }], EXPECTED).join('\n'), /steady is exited/);
  });
  test('an old release, no container and two running ones are not settled', () => {
    const [steady, old, present] = whole();
    assert.ok(steady && old && present);
    const cases = [[steady, { ...old, state: 'running' }], [steady], [...whole(), { ...present, id: 'x' }]];
    for (const containers of cases) assert.equal(unsettledContainers(containers, EXPECTED).length, 1);
  });
});

const coordinator = (memberId: string, role: Coordinator['status']['role'], lagRecords = 0): Coordinator => ({
  ...{ apiVersion: 'v1', kind: 'Coordinator', metadata: { name: memberId } },
  spec: { server: `https://${memberId}`, memberId },
  status: { role, lagRecords, problems: [], conditions: [] },
});
const members = (): Coordinator[] => [
  coordinator('a', 'Leader'),
  coordinator('b', 'Follower'),
  coordinator('c', 'Follower'),
];

describe('members', () => {
  const reports = (coordinators: Coordinator[] | undefined) => [{ address: 'https://a', coordinators }];
  test('one leader and followers without a lag agree', () => {
    assert.deepEqual(disagreements(reports(members()), 'a', 3), []);
  });
  for (const [what, coordinators, leader, violation] of [
    ['an address that does not serve', undefined, 'a', /does not serve/],
    ['another leader in etcd', members(), 'b', /reports the leader a, and etcd has b/],
    ['a second leader', [...members().slice(0, 2), coordinator('c', 'Leader')], 'a', /reports the roles/],
    ['a missing member', members().slice(0, 2), 'a', /reports the roles Follower, Leader/],
    [
      'a member that is down',
      [...members().slice(0, 2), coordinator('c', 'Down')],
      'a',
      /reports the roles Down/,
    ],
    [
      'a lag',
      [...members().slice(0, 2), coordinator('c', 'Follower', 4)],
      'a',
      /https:\/\/c lags by 4 records/,
    ],
  ] satisfies [string, Coordinator[] | undefined, string, RegExp][])
    test(`${what} is a disagreement`, () => {
      assert.match(disagreements(reports(coordinators), leader, 3).join('\n'), violation);
    });
  test('a database that differs is named', () => {
    assert.deepEqual(
      differentDatabases(
        new Map([
          ['a', '1'],
          ['b', '1'],
        ]),
      ),
      [],
    );
    assert.match(
      differentDatabases(
        new Map([
          ['a', '1'],
          ['b', '2'],
        ]),
      ).join(),
      /the database of b differs/,
    );
  });
});

describe('plan', () => {
  test('the plan of a seed is always the same, and every kind of fault is drawn', () => {
    assert.deepEqual(coordinatorPlan('seed', 7), coordinatorPlan('seed', 7));
    const plans = Array.from({ length: 300 }, (_, index) => coordinatorPlan('seed', index));
    const drawn = new Set(plans.flat().map(({ kind }) => kind));
    assert.deepEqual([...drawn].sort(), COORDINATOR_FAULTS.toSorted());
    assert.ok(plans.some((plan) => plan.length === 2));
  });
  test('a kind that this machine cannot inject is not drawn', () => {
    const plans = Array.from({ length: 300 }, (_, index) => coordinatorPlan('seed', index, ['step clock']));
    assert.ok(plans.flat().every(({ kind }) => kind !== 'step clock'));
  });
});
