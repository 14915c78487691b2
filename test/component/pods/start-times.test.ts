/** Pods of DaemonJobs that a host received ahead of time: the real workers over the hollow engine, without a coordinator. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { afterAssign } from '../../../agent/decisions/pods/assigned-pod.js';
import type { ImageBehaviourRow } from '../../../agent/runtime/hollow/image-behaviours.js';
import { HostVolumes } from '../../../agent/volumes/host-volumes.js';
import { START_ANNOTATION, type StartRules } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { PodFixture } from '../../harness/pods/pod-fixture.js';
import { podOf, settle } from '../../harness/pods/pod-host-fixture.js';

const HOUR = 3_600_000;
/** Containers that do not end during a test. */
const LONG: ImageBehaviourRow = { pattern: '*', exit: { afterMs: 100 * HOUR, code: 0 } };
/** An image that is pulled for 5 min. */
const HEAVY: ImageBehaviourRow = { ...LONG, pattern: '*/heavy:1', pull: { afterMs: 300_000 } };
/** Containers that also need 5 s to stop. */
const STUBBORN: ImageBehaviourRow = { ...LONG, pattern: '*/stubborn:1', stop: { afterMs: 5_000 } };

let host: PodFixture;
beforeEach(() => {
  host = new PodFixture([STUBBORN, HEAVY, LONG]);
});
afterEach(() => host.close());

const inMs = (ms: number) => toTimestamp(host.clock.now() + ms);

function jobPod(name: string, rules: StartRules, image = 'app:1', changes: Partial<PodSpec> = {}): Pod {
  const owner = {
    apiVersion: 'fleet.everynode.dev/v1',
    kind: 'DaemonJob',
    name: 'job',
    uid: 'job',
    controller: true,
  };
  const spec = { restartPolicy: 'Never', containers: [{ name: 'app', image }], ...changes };
  return podOf(name, spec, {
    ownerReferences: [owner],
    annotations: { [START_ANNOTATION]: JSON.stringify(rules) },
  });
}

const phase = (name: string) => host.statuses.get(`uid-${name}`)?.phase;
const waiting = (name: string) =>
  host.statuses.get(`uid-${name}`)?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers')
    ?.message;

/** Lets an hour pass in steps in which the host checks its Pods. */
async function pass(ms: number): Promise<void> {
  for (let done = 0; done < ms; done += 30_000) await host.pass(30_000);
}

describe('a Pod with a start time', () => {
  test('gets its image at once, starts at its time, and uses nothing of the host before', async () => {
    const at = inMs(HOUR);
    host.assignPod(
      jobPod('tonight', { at }, 'app:1', {
        containers: [{ name: 'app', image: 'app:1', ports: [{ containerPort: 80, hostPort: 80 }] }],
      }),
    );
    await host.until('the image is pulled', () => host.events.some((event) => event.startsWith('Pulled')));
    await host.until('the reason is reported', () => waiting('tonight') === `starts at ${at}`);
    host.assignPod(
      podOf('now', {
        containers: [{ name: 'app', image: 'app:1', ports: [{ containerPort: 80, hostPort: 80 }] }],
      }),
    );
    await host.until('another Pod gets the port', () => host.state('now') === 'running');
    host.deletePod('uid-now');
    await pass(HOUR - 60_000);
    assert.equal(host.container('tonight')?.state?.running, undefined);
    await pass(90_000);
    await host.until('it runs', () => host.state('tonight') === 'running');
  });

  test('is missed if the host was off until its deadline, also after a restart of the agent', async () => {
    await host.restartAgent();
    host.assignPod(jobPod('late', { at: inMs(-2 * HOUR), before: inMs(-HOUR) }));
    await host.until('it is missed', () => phase('late') === 'Failed');
    assert.equal(host.statuses.get('uid-late')?.reason, 'MissSchedule');
    await host.restartAgent();
    await host.until('it is still missed', () => phase('late') === 'Failed');
    assert.deepEqual(await host.driver.list(), []);
  });

  test("follows steps of the host's clock", async () => {
    host.assignPod(jobPod('tonight', { at: inMs(HOUR) }));
    await host.until('it waits', () => waiting('tonight') !== undefined);
    host.stepWallClock(HOUR);
    await pass(30_000);
    await host.until('it runs', () => host.state('tonight') === 'running');
    host.stepWallClock(-2 * HOUR);
    await pass(60_000);
    assert.equal(host.state('tonight'), 'running');
  });

  test('with windows waits for the time of the coordinator', async () => {
    host.assignPod(jobPod('window', { windows: [{ from: inMs(60_000), until: inMs(HOUR) }] }));
    await pass(120_000);
    await host.until('it waits', () => /has not received the time/.test(waiting('window') ?? ''));
    host.coordinatorMs = host.clock.now();
    await pass(30_000);
    await host.until('it runs', () => host.state('window') === 'running');
  });
});

describe('a Pod whose start obeys an update lock', () => {
  const reason = (name: string) =>
    host.statuses.get(`uid-${name}`)?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers')
      ?.reason;

  test('starts when the lock is released', async () => {
    host.updateLock = 'drawer open';
    host.assignPod(jobPod('locked', { maxLockSeconds: 3600 }));
    await host.until('it waits', () => reason('locked') === 'UpdateLocked');
    assert.equal(waiting('locked'), 'drawer open');
    await pass(HOUR - 60_000);
    assert.equal(host.state('locked') === 'running', false);
    host.updateLock = undefined;
    await pass(30_000);
    await host.until('it runs', () => host.state('locked') === 'running');
    assert.deepEqual(
      host.events.filter((event) => event.startsWith('UpdateLock')),
      [],
    );
  });

  test('starts after maxSeconds, also if the agent is restarted meanwhile, and reports the override once', async () => {
    host.updateLock = 'drawer open';
    host.assignPod(jobPod('locked', { maxLockSeconds: 3600 }));
    await host.until('it waits', () => reason('locked') === 'UpdateLocked');
    await pass(HOUR - 120_000);
    await host.restartAgent();
    await host.until('it still waits', () => reason('locked') === 'UpdateLocked');
    await pass(180_000);
    await host.until('it runs', () => host.state('locked') === 'running');
    assert.deepEqual(
      host.events.filter((event) => event.startsWith('UpdateLock')),
      ['UpdateLockOverridden: drawer open; locked for longer than 3600 s'],
    );
  });

  test('asks for the lock again after its images are pulled', async () => {
    host.assignPod(jobPod('locked', { maxLockSeconds: 3600 }, 'example.com/heavy:1'));
    await pass(30_000);
    host.updateLock = 'drawer open';
    // On a loaded machine the agent may start to pull only at the end of the time that has passed.
    await host.until('it waits', async () => {
      await pass(60_000);
      return reason('locked') === 'UpdateLocked';
    });
    assert.ok(host.events.some((event) => event.startsWith('Pulled')));
    assert.equal(host.state('locked') === 'running', false);
  });

  test('asks last: the time of the lock does not run while the images are pulled', async () => {
    host.updateLock = 'drawer open';
    host.assignPod(jobPod('locked', { maxLockSeconds: 600 }, 'example.com/heavy:1'));
    await pass(240_000);
    assert.equal(host.assignedPods.get('uid-locked')?.lockedSince, undefined);
    await pass(480_000);
    await host.until('it waits', () => reason('locked') === 'UpdateLocked');
    // On a loaded machine the agent may ask for the lock only at the end of the time that has passed.
    await host.until('it runs', async () => {
      await pass(60_000);
      return host.state('locked') === 'running';
    });
  });

  test('asks last: a host without free resources does not use up the time of the lock', async () => {
    host.updateLock = 'drawer open';
    const resources = { requests: { cpu: '2' } };
    host.assignPod(podOf('first', { containers: [{ name: 'app', image: 'stubborn:1', resources }] }));
    await host.until('the first runs', () => host.state('first') === 'running');
    host.deletePod('uid-first');
    host.assignPod(
      jobPod('locked', { maxLockSeconds: 600 }, 'app:1', {
        containers: [{ name: 'app', image: 'app:1', resources }],
      }),
    );
    await host.pass(1_000);
    assert.equal(host.assignedPods.get('uid-locked')?.lockedSince, undefined);
    await host.until('it waits', async () => {
      await host.pass(1_000);
      return reason('locked') === 'UpdateLocked';
    });
  });

  test('is not refused while the lock is held: it could fit once the lock is released', async () => {
    host.updateLock = 'drawer open';
    const resources = { requests: { cpu: '2' } };
    host.assignPod(podOf('first', { containers: [{ name: 'app', image: 'app:1', resources }] }));
    await host.until('the first runs', () => host.state('first') === 'running');
    host.assignPod(
      jobPod('locked', { maxLockSeconds: 3600 }, 'app:1', {
        containers: [{ name: 'app', image: 'app:1', resources }],
      }),
    );
    await host.until('it waits', () => reason('locked') === 'UpdateLocked');
    host.deletePod('uid-first');
    await host.until('the first is gone', async () => (await host.driver.list()).length === 0);
    host.updateLock = undefined;
    await pass(30_000);
    await host.until('it runs', () => host.state('locked') === 'running');
  });
});

describe('a Pod of a job that loses its containers', () => {
  const SHORT: ImageBehaviourRow = { pattern: '*/short:1', exit: { afterMs: 1_000, code: 0 } };
  const prune = async (name: string) => {
    const own = (await host.driver.list()).filter(({ identity }) => identity.podUid === `uid-${name}`);
    for (const { id } of own) await host.driver.remove(id);
    return own.length;
  };
  const withDeletion = (pod: Pod): Pod => {
    const deletion = { deletionTimestamp: inMs(0), deletionGracePeriodSeconds: 30 };
    return { ...pod, metadata: { ...pod.metadata, ...deletion } };
  };
  /** Like a deletion that a restarted agent receives before its first inspection. */
  const markDeleted = (name: string) => {
    const assigned = host.assignedPods.get(`uid-${name}`);
    assert.ok(assigned);
    const { uid } = assigned;
    const given = { uid, digest: 'deleted', pod: withDeletion(assigned.pod) };
    host.assignedPods.set(uid, afterAssign(assigned, given, host.clock.now()));
  };
  beforeEach(async () => {
    await host.close();
    host = new PodFixture([SHORT, LONG]);
  });

  test('stays Succeeded if they are pruned after its end, also after a restart of the agent', async () => {
    host.assignPod(jobPod('done', {}, 'example.com/short:1'));
    await host.until('it has succeeded', async () => {
      await host.pass(5_000);
      return phase('done') === 'Succeeded';
    });
    assert.ok((await prune('done')) > 0);
    await host.restartAgent();
    await pass(60_000);
    await host.until('it is still Succeeded', () => phase('done') === 'Succeeded');
    assert.deepEqual(await host.driver.list(), []);
  });

  test('has failed if they are lost while it runs, and is not started again', async () => {
    host.assignPod(jobPod('lost', {}));
    await host.until('it runs', () => host.state('lost') === 'running');
    await host.restartAgent();
    assert.ok((await prune('lost')) > 0);
    await pass(60_000);
    await host.until('it has failed', () => phase('lost') === 'Failed');
    assert.deepEqual(await host.driver.list(), []);
    assert.equal(host.statuses.get('uid-lost')?.reason, 'ContainerStatusUnknown');
  });

  test('is not started again if its Node is deleted and the host registers again', async () => {
    host.assignPod(jobPod('back', {}));
    await host.until('it runs', () => host.state('back') === 'running');
    host.deletePod('uid-back');
    await pass(120_000);
    assert.deepEqual(await host.driver.list(), []);
    host.assignPod(jobPod('back', {}));
    await pass(60_000);
    await host.until('it has failed', () => phase('back') === 'Failed');
    assert.deepEqual(await host.driver.list(), []);
  });

  test('is reported if it is deleted before a restarted agent inspects it, and before it is removed', async () => {
    host.assignPod(jobPod('deleted', {}));
    await host.until('it runs', () => host.state('deleted') === 'running');
    await host.workers.stop();
    assert.ok((await prune('deleted')) > 0);
    markDeleted('deleted');
    let phaseAtRemoval: string | undefined;
    host.removed.push = (uid) => {
      phaseAtRemoval = phase('deleted');
      return Array.prototype.push.call(host.removed, uid);
    };
    await host.restartAgent();
    await host.until('it is removed', () => host.removed.includes('uid-deleted'));
    assert.equal(phaseAtRemoval, 'Failed');
  });

  test('is recorded if an older agent started it', async () => {
    host.assignPod(jobPod('old', {}));
    await host.until('it runs', () => host.state('old') === 'running');
    host.jobRuns.forget('uid-old');
    await host.restartAgent();
    await host.until('it is inspected', () => host.state('old') === 'running');
    assert.ok((await prune('old')) > 0);
    await pass(60_000);
    await host.until('it has failed', () => phase('old') === 'Failed');
    assert.deepEqual(await host.driver.list(), []);
  });

  test('starts if its container is created again because its mounts are lost before the start', async () => {
    let calls = 0;
    mock.method(HostVolumes.prototype, 'hasMounts', async () => {
      calls += 1;
      return calls > 1;
    });
    host.assignPod(jobPod('mounts', {}));
    await host.until('it runs', async () => {
      await host.pass(1_000);
      return host.state('mounts') === 'running' || phase('mounts') === 'Failed';
    });
    assert.equal(host.state('mounts'), 'running');
    mock.restoreAll();
  });

  test('is forgotten once it is deleted, because its uid is never used again', async () => {
    host.assignPod(jobPod('deleted', {}));
    await host.until('it runs', () => host.state('deleted') === 'running');
    const { pod } = host.assignedPods.get('uid-deleted') ?? {};
    assert.ok(pod);
    host.assignPod(withDeletion(pod));
    await host.until('it is removed', async () => {
      await host.pass(5_000);
      return host.removed.includes('uid-deleted');
    });
    assert.notEqual(host.jobRuns.get('uid-deleted'), undefined);
    host.deletePod('uid-deleted');
    await host.until('it is forgotten', () => host.jobRuns.get('uid-deleted') === undefined);
  });

  test('starts if no container of it was ever started', async () => {
    host.updateLock = 'drawer open';
    host.assignPod(jobPod('first', { maxLockSeconds: 3600 }));
    await pass(30_000);
    await host.restartAgent();
    host.updateLock = undefined;
    await pass(30_000);
    await host.until('it runs', () => host.state('first') === 'running');
  });
});

describe('two runs of one series', () => {
  const start = async (concurrency: 'Forbid' | 'Replace') => {
    const series = { uid: 'cron', concurrency };
    host.assignPod(jobPod('one', { at: inMs(0), series }));
    await host.until('the first runs', () => host.state('one') === 'running');
    host.assignPod(jobPod('two', { at: inMs(30_000), before: inMs(HOUR), series }));
    await pass(60_000);
  };

  test('with Replace: the second ends the first, and starts after its end', async () => {
    await start('Replace');
    await pass(60_000);
    await host.until('the second runs', () => host.state('two') === 'running');
    assert.equal(phase('one'), 'Failed');
    assert.equal(host.statuses.get('uid-one')?.reason, 'Replaced');
  });

  test('with Forbid: the second waits, and is missed at its deadline', async () => {
    await start('Forbid');
    assert.equal(waiting('two'), 'an earlier run has not ended');
    await pass(HOUR);
    await host.until('it is missed', () => phase('two') === 'Failed');
    assert.equal(host.statuses.get('uid-two')?.reason, 'MissSchedule');
    assert.equal(host.state('one'), 'running');
  });

  /** Delays the inspections of a Pod, so that the other Pods of a restarted agent are inspected first. */
  const inspectLate = (uid: string) => {
    const inspect = host.driver.inspectPod.bind(host.driver);
    host.driver.inspectPod = async (podUid) => {
      for (let turn = 0; podUid === uid && turn < 5; turn += 1) await settle();
      return inspect(podUid);
    };
  };
  /** Uids of the Pods whose container `app` runs. */
  const running = async () => {
    const copies = (await host.driver.list()).filter(({ state }) => state === 'running');
    return [...new Set(copies.map(({ identity }) => identity.podUid))];
  };

  test('with Forbid: the second still waits after a restart of the agent that inspects the first late', async () => {
    await start('Forbid');
    inspectLate('uid-one');
    await host.restartAgent();
    await pass(60_000);
    await host.until('the second waits', () => waiting('two') === 'an earlier run has not ended');
    assert.deepEqual(await running(), ['uid-one']);
  });

  test('with Replace: the second waits for an end that a restarted agent inspects late', async () => {
    const series = { uid: 'cron', concurrency: 'Replace' as const };
    host.assignPod(jobPod('one', { at: inMs(0), series }, 'stubborn:1'));
    await host.until('the first runs', () => host.state('one') === 'running');
    host.terminate('uid-one', { reason: 'Replaced', message: '', deadline: host.clock.now() + HOUR });
    host.assignPod(jobPod('two', { at: inMs(0), series }));
    inspectLate('uid-one');
    await host.restartAgent();
    await host.until('the second runs', async () => {
      await host.pass(1_000);
      return host.state('two') === 'running';
    });
    assert.deepEqual(await running(), ['uid-two']);
  });
});
