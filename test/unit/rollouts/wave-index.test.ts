/** The nodes of a rollout's waves, kept up to date between steps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaveIndex, type WaveIndexOptions } from '../../../coordinator/controllers/rollouts/wave-index.js';
import type { NodeRecord } from '../../../coordinator/decisions/daemonsets/node-record.js';
import type { NodeUpdateState } from '../../../coordinator/decisions/daemonsets/rolling-update.js';
import type { NodeContact } from '../../../coordinator/decisions/nodes/node-contact.js';
import { stateText } from '../../harness/controllers/node-states.js';

const NOW = Date.parse('2026-01-05T12:00:00Z');
const SHARE = {
  ...{ desired: true, current: true, misscheduled: false },
  ...{ ready: false, available: false, updated: false },
};
const record = (situation: NodeUpdateState, change: Partial<NodeRecord> = {}): NodeRecord => ({
  ...{ share: SHARE, updateStatus: { state: situation, covered: false }, hashes: [] },
  ...change,
});

/** Two waves, `lab` first. */
function wavesOf(change: Partial<WaveIndexOptions> = {}): WaveIndex {
  return new WaveIndex({
    ...{ plan: new Map([['lab', 0]]), waves: 2, times: {}, rules: { deadlineMs: 600_000 } },
    connectivity: () => ({ contact: 'here' }),
    now: () => NOW,
    ...change,
  });
}

test('a Pod that waits for an unknown predecessor has its deadline from when that was first seen', () => {
  let now = NOW;
  const waves = wavesOf({ now: () => now });
  const put = (newPod: NodeRecord['newPod'] & object) =>
    waves.update('lab', 'newUnavailable', record('newUnavailable', { newPod }));
  const laneAfter = (ms: number) => {
    now += ms;
    waves.advanceTime();
    return stateText(waves.stateOf('lab'));
  };
  const made = { createdAt: NOW - 3_600_000, awaitsPredecessor: true };
  put({ ...made, predecessorEndsBy: NOW - 300_000 });
  assert.equal(laneAfter(0), 'newUnavailable');
  put(made);
  assert.equal(laneAfter(299_000), 'newUnavailable', 'it should have ended five minutes ago');
  assert.equal(laneAfter(1_000), 'failed');
  const next = { createdAt: now, awaitsPredecessor: true };
  put(next);
  assert.equal(laneAfter(599_000), 'newUnavailable', 'of another Pod nothing was known before');
  put(next);
  assert.equal(laneAfter(1_000), 'failed');
});

test('hosts outside their windows are counted by zone, as they join and leave', () => {
  let labels: Record<string, string> = { tz: 'Europe.Berlin' };
  const windows = [{ schedule: '0 3 * * *', durationSeconds: 3600, timeZoneLabel: 'tz', timeZone: 'UTC' }];
  const waves = wavesOf({ times: { windows }, connectivity: () => ({ contact: 'here', labels }) });
  const put = (name: string, situation: NodeUpdateState) => waves.update(name, situation, record(situation));
  put('a', 'oldAvailable');
  put('b', 'oldUnavailable');
  labels = {};
  put('c', 'oldAvailable');
  put('lab', 'newAvailable');
  const berlin = Date.parse('2026-01-06T02:00:00Z');
  const utc = Date.parse('2026-01-06T03:00:00Z');
  assert.deepEqual(waves.windowOpenings(1), [
    { at: berlin, hosts: 2 },
    { at: utc, hosts: 1 },
  ]);
  assert.deepEqual(waves.windowOpenings(0), [], 'it is updated');
  assert.equal(waves.nextWindowOpening, berlin);
  put('a', 'newAvailable');
  waves.update('c', undefined, undefined);
  waves.updateConnectivity('b');
  assert.deepEqual(waves.windowOpenings(1), [{ at: utc, hosts: 1 }], 'b has moved');
});

test('a handover of a skipped host is revoked, also while the host is offline', () => {
  const contacts = new Map<string, NodeContact>([['dark', 'away']]);
  const waves = wavesOf({ connectivity: (name) => ({ contact: contacts.get(name) ?? 'here' }) });
  for (const name of ['dark', 'here', 'other']) {
    waves.update(name, 'handedOver', record('handedOver', { handover: { forced: false } }));
  }
  waves.applyMemory({
    revision: 'r',
    wave: 1,
    startedAt: NOW,
    steering: { handled: 1, skipped: ['dark', 'here'] },
  });
  assert.deepEqual(waves.handoversToWithdraw(1), ['dark', 'here']);
  waves.update(
    'dark',
    'handedOver',
    record('handedOver', { handover: { forced: false, withdrawn: 'Unacknowledged' } }),
  );
  assert.deepEqual(waves.handoversToWithdraw(1), ['here'], 'once');
});

test('a host reverts from the revision that failed before, not from the one that is stable since', () => {
  const waves = wavesOf({ isBarred: () => true });
  for (const [name, oldHash] of [
    ['stray', 'bad'],
    ['well', 'kept'],
  ] as const) {
    waves.update(name, 'oldAvailable', record('oldAvailable', { oldHash }));
  }
  waves.applyMemory({ revision: 'r', wave: 0, startedAt: NOW, stable: 'kept' });
  assert.deepEqual(waves.staleFailed(1), [], 'nothing goes back yet');
  waves.applyMemory({ revision: 'r', wave: 0, startedAt: NOW, stable: 'kept', failure: 'x' });
  assert.deepEqual(waves.staleFailed(1), ['stray']);
});

test('an open window closes when the clock is set back to before it, and opens again at its time', () => {
  let now = Date.parse('2026-01-06T03:30:00Z');
  const windows = [{ schedule: '0 3 * * *', durationSeconds: 3600 }];
  const waves = wavesOf({ times: { windows }, now: () => now });
  waves.update('a', 'oldAvailable', record('oldAvailable'));
  const laneAt = (time: string) => {
    now = Date.parse(time);
    waves.advanceTime();
    return stateText(waves.stateOf('a'));
  };
  assert.equal(laneAt('2026-01-06T03:31:00Z'), 'oldAvailable');
  assert.equal(laneAt('2025-01-06T02:00:00Z'), 'outOfWindow/oldAvailable');
  assert.equal(laneAt('2025-01-06T03:00:00Z'), 'oldAvailable');
});

/** The host `lab` with an unavailable Pod of this age. `tell` reports the Pod, and `pass` advances the waves' clock. */
function withSlowPod(ageMs: number) {
  let now = NOW;
  const waves = wavesOf({ now: () => now });
  const newPod = { createdAt: NOW - ageMs };
  const tell = () => waves.update('lab', 'newUnavailable', record('newUnavailable', { newPod }));
  const pass = (ms: number) => {
    now += ms;
    return waves.advanceTime();
  };
  tell();
  return { waves, tell, pass };
}

test('a skipped host is not requeued for a deadline', () => {
  const { waves, pass } = withSlowPod(0);
  waves.applyMemory({ revision: 'r', wave: 0, startedAt: NOW, steering: { handled: 1, skipped: ['lab'] } });
  assert.equal(pass(0), NOW + 600_000);
  assert.equal(pass(600_000), undefined);
  assert.equal(stateText(waves.stateOf('lab')), 'skipped');
});

test('a Pod that was not available at a retry has its deadline, and is then replaced', () => {
  const { waves, tell, pass } = withSlowPod(60_000);
  waves.applyMemory({ revision: 'r', wave: 0, startedAt: NOW - 60_000, retriedAt: NOW });
  tell();
  assert.equal(pass(539_000), NOW + 540_000);
  assert.equal(stateText(waves.stateOf('lab')), 'newUnavailable');
  assert.equal(pass(1_000), undefined);
  assert.equal(stateText(waves.stateOf('lab')), 'retryPending');
});
