/** Problems of several coordinators and of etcd, and the objects that show them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { coordinatorObjects } from '../../../coordinator/decisions/cluster/coordinator-objects.js';
import {
  type ClusterObservation,
  clusterProblems,
  type ObservedMember,
} from '../../../coordinator/decisions/cluster/coordinator-problems.js';
import type { ObservedEndpoint } from '../../../coordinator/decisions/cluster/etcd-problems.js';
import { clockSkewMs } from '../../../coordinator/decisions/cluster/member-clock.js';

type Change = Partial<Omit<ObservedMember, 'member' | 'status'>> & {
  status?: Partial<NonNullable<ObservedMember['status']>> | null;
};

/** A member as its name; `a` leads. */
function member(name: string, { status, ...change }: Change = {}): ObservedMember {
  const state = name === 'a' ? ({ role: 'leader', term: 7 } as const) : ({ role: 'follower' } as const);
  const reported = { version: '1.0.0', logFormat: 1, appliedRecord: 90, state, ...status };
  return {
    member: { id: `id-${name}`, name, server: `https://${name}:7443`, joinedAt: name.charCodeAt(0) * 1_000 },
    ...(status !== null && { status: reported, lagRecords: 0 }),
    clockSkewMs: 0,
    ...change,
  };
}

function etcd(endpoint: string, change: Partial<ObservedEndpoint> = {}): ObservedEndpoint {
  return { endpoint, version: '3.5.9', isLeader: endpoint === 'e1', dbBytes: 1_000, alarms: [], ...change };
}

const down = (endpoint: string): ObservedEndpoint => ({ endpoint, error: 'connection refused' });
const foreign = (endpoint: string): ObservedEndpoint => ({ endpoint, error: 'another', isForeign: true });
const ETCD = [etcd('e1'), etcd('e2'), etcd('e3')];
const HEALTHY: ClusterObservation = {
  self: 'id-a',
  members: [member('a'), member('b'), member('c')],
  etcd: ETCD,
  staleMs: 0,
};
const impeded = (reason: string): Change => ({
  status: { state: { role: 'impeded', reason, message: 'Do something.' } },
});

describe('Problems of a cluster', () => {
  const two = [member('a'), member('b')];
  const members = (...others: ObservedMember[]) => ({ members: [member('a'), ...others] });
  /** Problems as `MEMBER REASON` or `REASON`, errors with `!`. */
  const cases: [string, Partial<ClusterObservation>, string[]][] = [
    ['three coordinators and three etcd members have none', {}, []],
    ['two coordinators have none: one can be lost', { members: two }, []],
    ['the only coordinator', { members: [member('a')] }, ['OneCoordinator']],
    ['one of three is down', members(member('b'), member('c', { status: null })), ['c Down!', 'OneStandby']],
    [
      'all others are down',
      members(member('b', { status: null }), member('c', { status: null })),
      ['b Down!', 'c Down!', 'NoStandby!'],
    ],
    [
      'an impeded member',
      members(member('b'), member('c', impeded('DiskFull'))),
      ['c DiskFull!', 'OneStandby'],
    ],
    [
      'a snapshot ends by itself',
      members(member('b'), member('c', impeded('SnapshotNeeded'))),
      ['c SnapshotNeeded', 'OneStandby'],
    ],
    ['a lag of 2,000 records is normal', members(member('b', { lagRecords: 2_000 })), []],
    ['a larger lag', members(member('b', { lagRecords: 2_001 })), ['b Lagging']],
    ['a clock that is 5 s off', members(member('b', { clockSkewMs: -5_000 })), []],
    ['a clock that is more than 5 s off', members(member('b', { clockSkewMs: 5_001 })), ['b ClockSkewed']],
    [
      'a follower that cannot connect to the leader',
      members(member('b', { status: { leaderTrouble: { server: 'https://a:7443', error: 'refused' } } })),
      ['b LeaderUnreachable!'],
    ],
    ['different versions', members(member('b', { status: { version: '1.1.0' } })), ['VersionsDiffer']],
    [
      'a version that cannot read the log',
      members(member('b', { status: { logFormat: 0 } })),
      ['b LogFormatTooOld!'],
    ],
    [
      'no leader, and a member that can lead',
      { self: undefined, members: [member('a', { status: null }), member('b')] },
      ['a Down!', 'NoLeader!'],
    ],
    [
      'no leader, and no member that can lead',
      { self: undefined, members: [member('a', { status: null }), member('b', impeded('DiskFull'))] },
      ['a Down!', 'b DiskFull!', 'NoLeader!'],
    ],
    ['the leader without a report of its own', { members: [member('a', { status: null }), member('b')] }, []],
    [
      'an etcd member of another cluster does not count for the majority',
      { etcd: [etcd('e1'), foreign('e2'), foreign('e3')] },
      ['EtcdNoQuorum!', 'EtcdForeignMember!', 'EtcdForeignMember!'],
    ],
    ['an etcd member is down', { etcd: [etcd('e1'), etcd('e2'), down('e3')] }, ['EtcdMemberDown']],
    ['etcd has no quorum', { etcd: [etcd('e1'), down('e2'), down('e3')] }, ['EtcdNoQuorum!']],
    ['etcd does not answer', { staleMs: 4_000 }, ['EtcdUnavailable!']],
    ['etcd never answered', { etcd: [], staleMs: 4_000 }, ['EtcdUnavailable!']],
    ['etcd has no health yet', { etcd: [] }, []],
    ['one etcd member', { etcd: [etcd('e1')] }, ['EtcdNotRedundant']],
    ['no space', { etcd: [etcd('e1', { alarms: ['NOSPACE'] }), etcd('e2'), etcd('e3')] }, ['EtcdNoSpace!']],
    [
      'another alarm',
      { etcd: [etcd('e1', { alarms: ['CORRUPT'] }), etcd('e2'), etcd('e3')] },
      ['EtcdAlarm!'],
    ],
    [
      'a large database',
      { etcd: [etcd('e1', { dbBytes: 1.8e9 }), etcd('e2'), etcd('e3')] },
      ['EtcdDatabaseLarge'],
    ],
    ['a database within the quota', { etcd: [etcd('e1', { dbBytes: 1.7e9 }), etcd('e2'), etcd('e3')] }, []],
    [
      'different etcd versions',
      { etcd: [etcd('e1', { version: '3.6.1' }), etcd('e2'), etcd('e3')] },
      ['EtcdVersionsDiffer'],
    ],
    [
      'an etcd that is too old',
      { etcd: ['e1', 'e2', 'e3'].map((name) => etcd(name, { version: '3.3.27' })) },
      ['EtcdTooOld!', 'EtcdTooOld!', 'EtcdTooOld!'],
    ],
  ];
  for (const [name, change, expected] of cases) {
    test(name, () => {
      const observation = { ...HEALTHY, ...change };
      const { ofMembers, ofCluster } = clusterProblems(observation);
      const text = (prefix: string) => (problem: { reason: string; severity: string }) =>
        `${prefix}${problem.reason}${problem.severity === 'error' ? '!' : ''}`;
      const found = [
        ...observation.members.flatMap(({ member: { id, name: host } }) =>
          (ofMembers.get(id) ?? []).map(text(`${host} `)),
        ),
        ...ofCluster.map(text('')),
      ];
      assert.deepEqual(found, expected);
    });
  }

  test('a lost quorum is named before a problem that is only a warning', () => {
    const { ofCluster } = clusterProblems({
      ...HEALTHY,
      members: [member('a')],
      etcd: [etcd('e1'), down('e2'), down('e3')],
    });
    assert.deepEqual(ofCluster[0], {
      severity: 'error',
      reason: 'EtcdNoQuorum',
      message: '1 of 3 members of etcd answer, and 2 must: writes are refused. Start the others.',
    });
  });
});

describe('Objects of coordinators', () => {
  const roles = (observation: ClusterObservation) =>
    coordinatorObjects(observation).map(({ metadata: { name }, status: { role } }) => `${name} ${role}`);

  test('the observer leads, and the others have the roles that they report', () => {
    const members = [
      member('d', { status: null }),
      member('c', impeded('DiskFull')),
      member('b'),
      member('a', { lagRecords: 12 }),
    ];
    const objects = coordinatorObjects({ ...HEALTHY, members, logRecords: 40 });
    assert.deepEqual(roles({ ...HEALTHY, members }), ['a Leader', 'b Follower', 'c Impeded', 'd Down']);
    const [leader, follower, third, fourth] = objects;
    assert.deepEqual(
      [leader?.status.term, leader?.status.lagRecords, leader?.status.logRecords, leader?.status.etcd],
      [7, 0, 40, ETCD],
    );
    assert.equal(follower?.status.etcd, undefined);
    const states = objects.map(({ status }) => status.conditions.map((each) => each.status).join());
    assert.deepEqual(states, ['True,True', 'True,False', 'False,True', 'Unknown,True']);
    assert.equal(third?.status.conditions[0]?.reason, 'DiskFull');
    assert.match(fourth?.status.conditions[1]?.message ?? '', /everynode coordinator remove d/);
  });

  test('a replaced leader whose last report has not expired is down', () => {
    const members = [member('a'), member('b', { status: { state: { role: 'leader', term: 6 } } })];
    assert.deepEqual(roles({ ...HEALTHY, members }), ['a Leader', 'b Down']);
  });

  test('names are unique, and a join renames no member', () => {
    const first = member('b');
    const twin = { ...first, member: { ...first.member, id: 'id-late', name: 'B', joinedAt: 1e12 } };
    const names = roles({ ...HEALTHY, members: [twin, first, member('a')] });
    assert.deepEqual(names, ['a Leader', 'b Follower', 'b-id-late Follower']);
  });
});

describe('The clock error of a report', () => {
  const cases: [string, Parameters<typeof clockSkewMs>[0], number][] = [
    ['a report from before its first read shows none', { clockMs: 90_000, seenAtMs: 100_000 }, 0],
    ['a report from the future is ahead', { clockMs: 112_000, seenAtMs: 100_000 }, 12_000],
    [
      'a report from before the read that lacked it is behind',
      { clockMs: 90_000, seenAtMs: 100_000, unseenAtMs: 98_000 },
      -8_000,
    ],
    ['a report that would have expired is behind', { clockMs: 70_000, seenAtMs: 100_000 }, -10_000],
    ['a report between two reads shows none', { clockMs: 99_000, seenAtMs: 100_000, unseenAtMs: 98_000 }, 0],
  ];
  for (const [name, report, expected] of cases) test(name, () => assert.equal(clockSkewMs(report), expected));
});
