/** The addresses that the leader sends to agents. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemberView } from '../../../coordinator/cluster/cluster-member.js';
import { MemberAddresses } from '../../../coordinator/cluster/member-addresses.js';
import { LogUnavailable } from '../../../coordinator/store/replica/replicated-log.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { until } from '../../harness/basics/wait-until.js';

const member = (id: string): MemberView => ({
  member: { id, name: id, server: `https://${id}.test:7443`, joinedAt: 0 },
});

const withNames = (view: MemberView, names: string[]): MemberView => ({
  ...view,
  status: {
    ...{ version: '1', logFormat: 1, appliedRecord: 0, clockMs: 0, state: { role: 'follower' } },
    names,
  },
});

function setUp(...ids: string[]) {
  const state = { ids, isAvailable: true, reads: 0, changes: 0 };
  const clock = new ManualClock(0);
  const view = {
    self: 'b',
    members: async () => {
      state.reads += 1;
      if (!state.isAvailable) throw new LogUnavailable('etcd does not answer');
      return state.ids.map(member);
    },
  };
  const addresses = new MemberAddresses({ view, clock, log: silentLogger });
  addresses.onChange(() => {
    state.changes += 1;
  });
  return { state, clock, addresses };
}

test('the leader is the first, and members that join or leave change the list', async () => {
  const { state, clock, addresses } = setUp('a', 'b', 'c');
  assert.deepEqual(addresses.list(), []);
  await addresses.start();
  assert.deepEqual(addresses.list(), ['https://b.test:7443', 'https://a.test:7443', 'https://c.test:7443']);
  state.ids = ['a', 'b'];
  clock.advance(5_000);
  await until(() => state.changes === 2);
  assert.deepEqual(addresses.list(), ['https://b.test:7443', 'https://a.test:7443']);
  addresses.stop();
  clock.advance(60_000);
  assert.equal(state.reads, 2);
});

test('an equal list is no change, and a failed read keeps the last list', async () => {
  const { state, addresses } = setUp('a', 'b');
  await addresses.refresh();
  await addresses.refresh();
  assert.equal(state.changes, 1);
  state.isAvailable = false;
  await addresses.refresh();
  assert.deepEqual(addresses.list(), ['https://b.test:7443', 'https://a.test:7443']);
  assert.equal(state.changes, 1);
});

test('names of machines include those that are not advertised, also while a member is down', async () => {
  let views = [withNames(member('a'), ['host-a', '10.1.0.1']), member('b')];
  const view = { self: 'b', members: async () => views };
  const addresses = new MemberAddresses({ view, clock: new ManualClock(0), log: silentLogger });
  await addresses.refresh();
  assert.deepEqual(addresses.machineNames(), ['host-a', '10.1.0.1', 'b']);
  views = [member('a'), member('b')];
  await addresses.refresh();
  assert.deepEqual(addresses.machineNames(), ['host-a', '10.1.0.1', 'b']);
  views = [member('b')];
  await addresses.refresh();
  assert.deepEqual(addresses.machineNames(), ['b']);
});
