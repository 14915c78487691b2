/** Termination of a Pod's containers: hooks, order, deadlines, reasons. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podStatus } from '../../../agent/decisions/pods/agent-pod-status.js';
import { DEADLINE_EXCEEDED } from '../../../agent/decisions/pods/pod-completion.js';
import { nextAction } from '../../../agent/decisions/pods/pod-next-action.js';
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import { attempt, sandbox, viewOf } from '../../harness/pods/pod-views.js';

const NOW = 1_000_000;
const DEADLINE = NOW + 30_000;
const wish = { kind: 'stop', deadline: DEADLINE } as const;
const hooked: Container = {
  name: 'app',
  image: 'app:1',
  lifecycle: { preStop: { sleep: { seconds: 5 } } },
};
const log: Container = { name: 'log', image: 'log:1', restartPolicy: 'Always' };
const proxy: Container = { name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' };

describe('a preStop hook', () => {
  const deleted = { wish, spec: { containers: [hooked] }, containers: [attempt({})] };

  test('runs before the signal', () => {
    assert.deepEqual(nextAction(viewOf(deleted)), {
      kind: 'run-pre-stop',
      id: 'app-0',
      container: 'app',
      deadline: DEADLINE,
      why: 'deletion',
    });
  });

  test('is waited for, until the deadline', () => {
    const localStates = { 'app-0': { preStop: 'begun' } } as const;
    assert.deepEqual(nextAction(viewOf({ ...deleted, localStates })), { kind: 'wait', until: DEADLINE });
  });

  for (const [it, changes] of [
    ['the signal follows the hook', { localStates: { 'app-0': { preStop: 'done' } } }],
    [
      'the signal replaces the hook when the time is over',
      { localStates: { 'app-0': { preStop: 'begun' } }, now: DEADLINE },
    ],
    ['no hook starts when the time is over', { now: DEADLINE }],
  ] as const) {
    test(it, () => {
      assert.deepEqual(nextAction(viewOf({ ...deleted, ...changes })), {
        kind: 'stop-containers',
        ids: ['app-0'],
        deadline: DEADLINE,
        why: 'deletion',
      });
    });
  }
});

describe('sidecars', () => {
  const pod = { wish, spec: { initContainers: [log, proxy], containers: [{ name: 'app', image: 'app:1' }] } };
  const [app, logs, proxies] = [attempt({}), attempt({ name: 'log' }), attempt({ name: 'proxy' })];
  const over = (name: string) => attempt({ name, state: 'exited', exitCode: 0, finishedAt: NOW });
  const stopped = (ids: string[]) => ({ kind: 'stop-containers', ids, deadline: DEADLINE, why: 'deletion' });

  test('stop after the other containers', () => {
    const containers = [sandbox({}), logs, proxies, app];
    assert.deepEqual(nextAction(viewOf({ ...pod, containers })), stopped(['app-0']));
    const stopping = { 'app-0': DEADLINE };
    assert.deepEqual(nextAction(viewOf({ ...pod, containers, stopping })), { kind: 'wait', until: DEADLINE });
  });

  test('stop one after the other, the last first', () => {
    const containers = [sandbox({}), logs, proxies, over('app')];
    assert.deepEqual(nextAction(viewOf({ ...pod, containers })), stopped(['proxy-0']));
    const rest = [sandbox({}), logs, over('proxy'), over('app')];
    assert.deepEqual(nextAction(viewOf({ ...pod, containers: rest })), stopped(['log-0']));
  });

  test('stop all at once when the time is over', () => {
    const containers = [sandbox({}), logs, proxies, app];
    const view = viewOf({ ...pod, containers, stopping: { 'app-0': DEADLINE }, now: DEADLINE });
    assert.deepEqual(nextAction(view), stopped(['log-0', 'proxy-0']));
  });

  test('the sandbox is removed last, with all remaining containers', () => {
    const containers = [sandbox({}), over('log'), over('proxy'), over('app')];
    assert.deepEqual(nextAction(viewOf({ ...pod, containers })), {
      kind: 'remove-containers',
      ids: ['sandbox-0', 'log-0', 'proxy-0', 'app-0'],
    });
  });

  test('a single restart does not wait for other containers', () => {
    const localStates = { 'log-0': { unhealthy: 'liveness' } } as const;
    const view = viewOf({
      spec: { ...pod.spec, hostNetwork: true, hostIPC: true },
      containers: [logs, proxies, app],
      localStates,
    });
    const action = nextAction(view);
    assert.deepEqual(action.kind === 'stop-containers' && [action.ids, action.why], [['log-0'], 'liveness']);
  });
});

describe('an unhealthy container', () => {
  const probe = { tcpSocket: { port: 80 }, terminationGracePeriodSeconds: 3 };
  const app: Container = { name: 'app', image: 'app:1', livenessProbe: probe };
  const unhealthy = { localStates: { 'app-0': { unhealthy: 'liveness' } } } as const;

  test('stops with the grace period of its probe', () => {
    const action = nextAction(
      viewOf({ spec: { containers: [app] }, containers: [attempt({})], ...unhealthy }),
    );
    assert.deepEqual(action, {
      kind: 'stop-containers',
      ids: ['app-0'],
      deadline: NOW + 3000,
      why: 'liveness',
    });
  });

  test('keeps its first deadline', () => {
    const view = { spec: { containers: [app] }, containers: [attempt({})], ...unhealthy };
    const later = viewOf({
      ...view,
      now: NOW + 1000,
      endBy: { 'app-0': NOW + 3000 },
      stopping: { 'app-0': NOW + 3000 },
    });
    assert.deepEqual(nextAction(later), { kind: 'wait' });
  });

  const over = attempt({ state: 'exited', exitCode: 0, finishedAt: NOW });

  test('is restarted under OnFailure, though it exited with 0', () => {
    const spec = { containers: [app], restartPolicy: 'OnFailure' };
    const action = nextAction(
      viewOf({ spec, containers: [over], ...unhealthy, images: { app: { kind: 'ready' } } }),
    );
    assert.equal(action.kind, 'create-container');
  });

  test('is not restarted under Never', () => {
    const spec = { containers: [app], restartPolicy: 'Never' };
    assert.deepEqual(nextAction(viewOf({ spec, containers: [over], ...unhealthy })), { kind: 'wait' });
  });
});

describe('activeDeadlineSeconds', () => {
  const spec = { activeDeadlineSeconds: 60, containers: [{ name: 'app', image: 'app:1' }] };
  const statusOf = (view: ReturnType<typeof viewOf>) => podStatus(view, { engine: 'docker' });

  test('is not reached while the Pod is younger', () => {
    assert.deepEqual(nextAction(viewOf({ spec, containers: [attempt({})] })), {
      kind: 'wait',
      until: NOW + 60_000,
    });
  });

  test('fails the Pod when it has passed', () => {
    const view = viewOf({ spec, containers: [attempt({})], now: NOW + 60_000 });
    assert.deepEqual(nextAction(view), { kind: 'exceed-deadline' });
  });

  test('counts from when the Pod could start', () => {
    const waits = viewOf({ spec, now: NOW + 90_000, waitsForPredecessor: true });
    assert.notEqual(nextAction(waits).kind, 'exceed-deadline');
    const late = { startableAt: NOW + 90_000, now: NOW + 90_000 };
    const began = { ...viewOf({ spec, containers: [attempt({})] }), ...late };
    assert.deepEqual(nextAction(began), { kind: 'wait', until: NOW + 150_000 });
  });

  test('ends the Pod with its grace period, as Failed', () => {
    const givenUp = { ...DEADLINE_EXCEEDED, deadline: NOW + 90_000 };
    const view = viewOf({ spec, containers: [attempt({})], now: NOW + 60_000, givenUp });
    const action = nextAction(view);
    assert.deepEqual(action, {
      kind: 'stop-containers',
      ids: ['app-0'],
      deadline: NOW + 90_000,
      why: 'over',
    });
    const running = statusOf(view);
    assert.deepEqual([running.phase, running.reason], ['Running', undefined], 'not before it has ended');
    const ended = attempt({ state: 'exited', exitCode: 0, finishedAt: NOW + 61_000 });
    const { phase, reason, message } = statusOf({ ...view, containers: [ended] });
    assert.deepEqual([phase, reason], ['Failed', 'DeadlineExceeded']);
    assert.equal(message, 'Pod was active on the node longer than the specified deadline');
  });

  test('leaves the Pod unfinished while its sandbox exists, whatever its restart policy', () => {
    const givenUp = { ...DEADLINE_EXCEEDED, deadline: NOW + 90_000 };
    const ended = attempt({ state: 'exited', exitCode: 0, finishedAt: NOW + 61_000 });
    const never = { ...spec, restartPolicy: 'Never' as const };
    const view = viewOf({ spec: never, containers: [sandbox({}), ended], now: NOW + 62_000, givenUp });
    assert.equal(statusOf(view).phase, 'Running');
  });

  test('has no effect on a completed Pod', () => {
    const ended = attempt({ state: 'exited', exitCode: 0, finishedAt: NOW + 59_000 });
    const view = viewOf({
      spec: { ...spec, restartPolicy: 'Never' },
      containers: [ended],
      now: NOW + 500_000,
    });
    assert.deepEqual(nextAction(view), { kind: 'wait' });
    assert.equal(statusOf(view).phase, 'Succeeded');
  });
});

describe('a postStart hook', () => {
  const app: Container = { name: 'app', image: 'app:1', lifecycle: { postStart: { sleep: { seconds: 1 } } } };
  const side: Container = { name: 'side', image: 'side:1' };
  const images = { side: { kind: 'ready' } } as const;
  const spec = { containers: [app, side], hostNetwork: true, hostIPC: true };
  const view = (postStart?: 'begun' | 'failed' | { doneAt: number }) =>
    viewOf({
      spec,
      images,
      containers: [attempt({})],
      localStates: postStart ? { 'app-0': { postStart } } : {},
    });

  test('runs once the container does', () => {
    assert.deepEqual(nextAction(view()), { kind: 'run-post-start', id: 'app-0', container: 'app' });
  });

  test('delays the next container, and its own container is not shown as running', () => {
    assert.deepEqual(nextAction(view('begun')), { kind: 'wait' });
    const [status] = podStatus(view('begun'), { engine: 'docker' }).containerStatuses ?? [];
    assert.deepEqual([status?.state, status?.started], [{ waiting: { reason: 'ContainerCreating' } }, false]);
  });

  test('success: the next container starts', () => {
    assert.equal(nextAction(view({ doneAt: NOW })).kind, 'create-container');
  });

  test('failure: its container is stopped', () => {
    const action = nextAction(view('failed'));
    assert.equal(action.kind === 'stop-containers' && action.why, 'post-start-failed');
  });
});
