/** Incremental counts equal a full count. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DaemonSetTally } from '../../../coordinator/controllers/daemonsets/daemonset-tally.js';
import { type NodeRecord, recordNode } from '../../../coordinator/decisions/daemonsets/node-record.js';
import { daemonNodeView, daemonPodView } from '../../harness/objects/daemon-builders.js';

const SUBJECT = { uid: 'u', generation: 1, current: { hash: 'new', templateGeneration: 1 } };
const HASHES = ['new', 'old'];

const POD = fc.record({
  ready: fc.boolean(),
  terminating: fc.boolean(),
  scheduled: fc.boolean(),
  updated: fc.boolean(),
  hash: fc.constantFrom(...HASHES),
  phase: fc.constantFrom('Running' as const, 'Failed' as const),
});

const RECORD: fc.Arbitrary<NodeRecord> = fc
  .record({ exists: fc.boolean(), shouldRun: fc.boolean(), pods: fc.array(POD, { maxLength: 3 }) })
  .map(({ exists, shouldRun, pods }) => {
    const views = pods.map((pod, index) => daemonPodView(`p${index}`, pod));
    return recordNode(daemonNodeView(views, { exists, shouldRun: exists && shouldRun }), 0, 1_000);
  });

const STEP = fc.record({ node: fc.constantFrom('a', 'b', 'c'), record: fc.option(RECORD) });

function sums(tally: DaemonSetTally) {
  const { counts, covered, nodes } = tally;
  const sets = Object.fromEntries(Object.entries(nodes).map(([key, names]) => [key, [...names].sort()]));
  return { counts, covered, sets, hashes: HASHES.map((hash) => tally.carriedHashes.has(hash)) };
}

test('after any changes the counts equal those of a full count', () => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 20 }), (steps) => {
      const kept = new DaemonSetTally(SUBJECT);
      const last = new Map<string, NodeRecord>();
      const underWay = new Set<string>();
      for (const { node, record } of steps) {
        if (record) {
          kept.record(node, record);
          last.set(node, record);
          underWay.delete(node);
        } else {
          kept.markInProgress(node);
          underWay.add(node);
        }
      }
      const fresh = new DaemonSetTally(SUBJECT);
      for (const [node, record] of last) fresh.record(node, record);
      for (const node of underWay) fresh.markInProgress(node);
      assert.deepEqual(sums(kept), sums(fresh));
    }),
  );
});

test('a node in progress is no candidate and covers nothing until it is observed again', () => {
  const tally = new DaemonSetTally(SUBJECT);
  const old = daemonNodeView([daemonPodView('p', { updated: false, hash: 'old' })]);
  tally.record('n', recordNode(old, 0, 1_000));
  assert.deepEqual([...tally.nodes.oldAvailable], ['n']);
  tally.orderAction('n', 'replace');
  assert.deepEqual([tally.nodes.oldAvailable.size, tally.nodes.inProgress.size, tally.covered], [0, 1, 0]);
  assert.equal(tally.takeAction('n')?.action, 'replace');
  assert.equal(tally.takeAction('n'), undefined);
  assert.equal(tally.record('n', recordNode(old, 0, 1_000)), true);
  assert.deepEqual([...tally.nodes.oldAvailable], ['n']);
});

test('an unchanged record is not reported as a change', () => {
  const tally = new DaemonSetTally(SUBJECT);
  const record = recordNode(daemonNodeView([daemonPodView('p')]), 0, 1_000);
  assert.equal(tally.record('n', record), true);
  assert.equal(tally.record('n', structuredClone(record)), false);
});
