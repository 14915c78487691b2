/** Histories of all mixes, the determinism of the simulation, and faults in the product that it must find. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../harness/processes/low-priority.js';
import { CoordinatorTime } from '../../agent/handovers/coordinator-time.js';
import { LatestValues } from '../../agent/link/latest-values.js';
import { PodWorkers } from '../../agent/pods/pod-workers.js';
import { DaemonSetTallies } from '../../coordinator/controllers/daemonsets/daemonset-tallies.js';
import { DaemonSetTally } from '../../coordinator/controllers/daemonsets/daemonset-tally.js';
import { WorkQueue } from '../../coordinator/controllers/queue/work-queue.js';
import type { CoordinatorCore } from '../../coordinator/coordinator-core.js';
import { generateHistory } from './histories/draw-history.js';
import type { History } from './histories/history.js';
import { MIXES, type MixName } from './histories/history-mixes.js';
import { SimulatedProcess } from './machines/simulated-process.js';
import type { Sabotage } from './machines/simulated-world.js';
import { Timeline } from './machines/timeline.js';
import { HistoryThread } from './runs/history-thread.js';
import { runHistory } from './runs/run-history.js';
import { historiesOfMixes } from './runs/short-mixes.js';
import { breakDuring } from './sabotage/break-during.js';

/** Runs the histories of a mix until one breaks a rule. Returns the violation. */
async function firstBroken(mix: MixName, count: number, sabotage?: Sabotage): Promise<string | undefined> {
  for (let number = 1; number <= count; number++) {
    const { violation } = await runHistory(generateHistory(`${mix}-${number}`, MIXES[mix]), sabotage);
    if (violation) return violation;
  }
  return undefined;
}

historiesOfMixes('histories of all mixes', 'short');

test('the same seed gives the same run while the process is busy with other work', async () => {
  const history = generateHistory('all-3', MIXES.all);
  const alone = await runHistory(history);
  const busy = setInterval(() => JSON.stringify(history), 1);
  const [again, other] = await Promise.all([
    runHistory(history),
    runHistory(generateHistory('all-4', MIXES.all)),
  ]);
  clearInterval(busy);
  assert.ok(alone.lines.length > 100);
  assert.deepEqual(again.lines, alone.lines);
  assert.equal(again.digest, alone.digest);
  assert.notEqual(other.digest, alone.digest);
});

test('a worker thread runs histories one after another with the same results as the main thread', async () => {
  const thread = new HistoryThread('calm');
  try {
    for (const seed of ['calm-1', 'calm-2']) {
      const { lines: _, ...alone } = await runHistory(generateHistory(seed, MIXES.calm));
      assert.deepEqual(await thread.run(seed), { seed, ...alone });
    }
  } finally {
    await thread.end();
  }
});

test('a history that does not end is named, and its thread is stopped', async () => {
  const thread = new HistoryThread('calm', 1);
  await assert.rejects(thread.run('calm-1'), /calm-1 gives no result/);
});

test('a controller that requeues a key at once and without end is stopped, and does not hang the simulation', async () => {
  const timeline = new Timeline();
  const { clock } = new SimulatedProcess(timeline, { offsetMs: 0 });
  const queue = new WorkQueue(clock);
  const reconcileForever = async (): Promise<void> => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      queue.add(key);
      queue.done(key);
    }
  };
  let stopped: Promise<void> | undefined;
  timeline.after(5, () => {
    queue.add('key');
    stopped = assert.rejects(reconcileForever, /works without end and without a pause/);
  });
  timeline.after(6, () => assert.fail('time passes although the controller never pauses'));
  await timeline.until(10);
  await stopped;
  assert.deepEqual([timeline.isBusy, timeline.now], [true, 5]);
});

describe('the simulation finds a fault in the product', () => {
  test('a rollout that does not count nodes with a terminating Pod exceeds its budget', async () => {
    const { record } = DaemonSetTally.prototype;
    const forgetful: DaemonSetTally['record'] = function (this: DaemonSetTally, name, found) {
      const isNews = record.call(this, name, found);
      this.nodes.empty.delete(name);
      return isNews;
    };
    await breakDuring(DaemonSetTally.prototype, { record: forgetful }, async () => {
      assert.match((await firstBroken('rollouts', 20)) ?? '', /while the budget is used up/);
    });
  });

  test('a DaemonSet that keeps its counts when the template changes shows a wrong status', async () => {
    const { getOrStart: begin } = DaemonSetTallies.prototype;
    const kept = new Map<string, DaemonSetTally>();
    const lazy: DaemonSetTallies['getOrStart'] = function (this: DaemonSetTallies, ref, subject) {
      const before = kept.get(subject.uid);
      const counted = begin.call(this, ref, subject);
      const { tally } = counted;
      kept.set(subject.uid, tally);
      if (!before || before === tally) return counted;
      Object.assign(tally.counts, before.counts);
      tally.isComplete = true;
      return counted;
    };
    await breakDuring(DaemonSetTallies.prototype, { getOrStart: lazy }, async () => {
      assert.match((await firstBroken('rollouts', 20)) ?? '', /never tells a lie/);
    });
  });

  test('a coordinator that deletes Pods before their hosts stopped them breaks a rule', async () => {
    const impatient = (core: CoordinatorCore): CoordinatorCore => {
      const { delete: right } = core.registry;
      core.registry.delete = (kind, ref, options) => right(kind, ref, { ...options, gracePeriodSeconds: 0 });
      return core;
    };
    const violation = await firstBroken('deletions', 20, { wrapCore: impatient });
    assert.match(violation ?? '', /has stopped when its Pod leaves the store/);
  });

  test('an agent that does not report orphaned containers breaks a rule', async () => {
    await breakDuring(PodWorkers.prototype, { orphanedUids: () => [] }, async () => {
      assert.match((await firstBroken('restores', 40)) ?? '', /never run on a node at once|no rest/);
    });
  });

  test('an agent that does not resend unacknowledged reports never settles', async () => {
    await breakDuring(LatestValues.prototype, { resendAll: () => undefined }, async () => {
      assert.match((await firstBroken('all', 40)) ?? '', /no rest when faults have ended/);
    });
  });

  test('a host with a wrong coordinator time starts handovers outside the windows', async () => {
    const { now } = CoordinatorTime.prototype;
    const early: CoordinatorTime['now'] = function (this: CoordinatorTime) {
      const heard = now.call(this);
      return heard === undefined ? undefined : heard + 90_000;
    };
    await breakDuring(CoordinatorTime.prototype, { now: early }, async () => {
      assert.match((await firstBroken('turns', 20)) ?? '', /only in the hours that the policy had then/);
    });
  });
});

/** A failure report prints the history as JSON. */
test('the same seed gives the same history, and a history survives JSON', () => {
  const history: History = generateHistory('all-1', MIXES.all);
  assert.deepEqual(JSON.parse(JSON.stringify(history)), history);
  assert.deepEqual(generateHistory('all-1', MIXES.all), history);
});
