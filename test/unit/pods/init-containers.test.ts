/** Init containers and sidecars: their order, restarts and status. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SANDBOX_LABEL } from '../../../agent/decisions/container-spec/container-labels.js';
import { podStatus } from '../../../agent/decisions/pods/agent-pod-status.js';
import { nextAction } from '../../../agent/decisions/pods/pod-next-action.js';
import type { PodView } from '../../../agent/decisions/pods/pod-view.js';
import type { ObservedContainer } from '../../../agent/runtime/runtime-driver.js';
import type { Container, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { attempt, sandbox, viewOf } from '../../harness/pods/pod-views.js';

const NOW = 1_000_000;

const first: Container = { name: 'first', image: 'first:1' };
const second: Container = { name: 'second', image: 'second:1' };
const proxy: Container = { name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' };

/** A Pod on the host network, so that it needs no sandbox. */
function spec(initContainers: Container[], changes: Partial<PodSpec> = {}): Partial<PodSpec> {
  return { initContainers, hostNetwork: true, hostIPC: true, ...changes };
}

const READY = Object.fromEntries(
  ['app', 'first', 'second', 'proxy'].map((name) => [name, { kind: 'ready' }]),
) as PodView['progress']['images'];

const done = (name: string) => attempt({ name, state: 'exited', exitCode: 0, finishedAt: NOW });
const failed = (name: string, changes = {}) =>
  attempt({ name, state: 'exited', exitCode: 3, finishedAt: NOW, ...changes });

/** Returns the step as a short text: `create first 0`, `start …`, `wait`. */
function step(view: PodView): string {
  const action = nextAction(view);
  switch (action.kind) {
    case 'create-container':
      return `create ${action.container} ${action.attempt}`;
    case 'stop-containers':
      return `stop ${action.ids.join(' ')} for ${action.why}`;
    case 'ensure-image':
      return `image ${action.container}`;
    case 'wait':
      return action.until === undefined ? 'wait' : `wait ${action.until - NOW}`;
    default:
      return action.kind;
  }
}

interface Case {
  it: string;
  init: Container[];
  pod?: Partial<PodSpec>;
  containers?: ObservedContainer[];
  localStates?: PodView['progress']['localStates'];
  next: string;
}

const ORDER: Case[] = [
  { it: 'runs the first init container', init: [first, second], next: 'create first 0' },
  {
    it: 'waits for the first init container',
    init: [first, second],
    containers: [attempt({ name: 'first' })],
    next: 'wait',
  },
  {
    it: 'runs the second after the first',
    init: [first, second],
    containers: [done('first')],
    next: 'create second 0',
  },
  {
    it: 'starts the main containers after the last',
    init: [first, second],
    containers: [done('first'), done('second')],
    next: 'create app 0',
  },
  {
    it: 'ignores init containers that have completed',
    init: [first],
    containers: [attempt({ name: 'app' })],
    next: 'wait',
  },
  {
    it: 'retries a failed init container',
    init: [first],
    containers: [failed('first')],
    next: 'create first 1',
  },
  {
    it: 'backs off like any other container',
    init: [first],
    containers: [failed('first', { attempt: 1, backoffMs: 10_000 })],
    next: 'wait 10000',
  },
  {
    it: 'OnFailure retries too',
    init: [first],
    pod: { restartPolicy: 'OnFailure' },
    containers: [failed('first')],
    next: 'create first 1',
  },
  {
    it: 'Never fails the Pod',
    init: [first],
    pod: { restartPolicy: 'Never' },
    containers: [failed('first')],
    next: 'wait',
  },
  {
    it: 'Never fails the Pod and ends the sidecar',
    init: [proxy, first],
    pod: { restartPolicy: 'Never' },
    containers: [attempt({ name: 'proxy' }), failed('first')],
    next: 'stop proxy-0 for over',
  },
  {
    it: 'runs all init containers again after a reboot, which discards their effects',
    init: [first],
    containers: [
      attempt({ name: 'first', state: 'exited', exitCode: 0, finishedAt: NOW, boot: 'boot-0' }),
      failed('app', { boot: 'boot-0' }),
    ],
    next: 'create first 1',
  },
];

const SIDECARS: Case[] = [
  { it: 'a sidecar is started in order', init: [proxy, first], next: 'create proxy 0' },
  {
    it: 'the next container starts once the sidecar runs',
    init: [proxy, first],
    containers: [attempt({ name: 'proxy' })],
    next: 'create first 0',
  },
  {
    it: "the next container waits for the sidecar's startup probe",
    init: [{ ...proxy, startupProbe: { tcpSocket: { port: 80 } } }, first],
    containers: [attempt({ name: 'proxy' })],
    next: 'wait',
  },
  {
    it: "the next container starts after the sidecar's startup probe succeeded",
    init: [{ ...proxy, startupProbe: { tcpSocket: { port: 80 } } }, first],
    containers: [attempt({ name: 'proxy' })],
    localStates: { 'proxy-0': { startedAt: NOW } },
    next: 'create first 0',
  },
  {
    it: "the next container waits for the sidecar's postStart hook",
    init: [{ ...proxy, lifecycle: { postStart: { sleep: { seconds: 1 } } } }, first],
    containers: [attempt({ name: 'proxy' })],
    localStates: { 'proxy-0': { postStart: 'begun' } },
    next: 'wait',
  },
  {
    it: 'a sidecar restarts whenever it exits, whatever the restart policy',
    init: [proxy],
    pod: { restartPolicy: 'Never' },
    containers: [done('proxy'), attempt({})],
    next: 'create proxy 1',
  },
  {
    it: 'a sidecar is stopped after the last of the main containers',
    init: [proxy],
    pod: { restartPolicy: 'Never' },
    containers: [attempt({ name: 'proxy' }), done('app')],
    next: 'stop proxy-0 for over',
  },
  {
    it: 'a sidecar is not started again when the main containers have exited',
    init: [proxy],
    pod: { restartPolicy: 'OnFailure' },
    containers: [failed('proxy'), done('app')],
    next: 'wait',
  },
];

for (const [title, cases] of [
  ['init containers', ORDER],
  ['sidecars', SIDECARS],
] as const) {
  describe(title, () => {
    for (const { it, init, pod, containers, localStates, next } of cases) {
      test(it, () => {
        const changes = { spec: spec(init, pod), images: READY, ...(localStates ? { localStates } : {}) };
        assert.equal(step(viewOf({ ...changes, ...(containers ? { containers } : {}) })), next);
      });
    }
  });
}

describe('init containers with a sandbox', () => {
  const inSandbox = (container: ObservedContainer, id: string): ObservedContainer => ({
    ...container,
    labels: { ...container.labels, [SANDBOX_LABEL]: id },
  });

  test('the sandbox comes before the init containers', () => {
    const view = viewOf({ spec: { initContainers: [first] }, images: READY });
    assert.equal(step(view), 'create-sandbox');
  });

  test('a new sandbox runs the init containers again', () => {
    const containers = [sandbox({ attempt: 1 }), inSandbox(done('first'), 'sandbox-0')];
    assert.equal(
      step(viewOf({ spec: { initContainers: [first] }, images: READY, containers })),
      'create first 1',
    );
  });

  test('the same sandbox does not run the init containers again', () => {
    const containers = [sandbox({}), inSandbox(done('first'), 'sandbox-0')];
    assert.equal(
      step(viewOf({ spec: { initContainers: [first] }, images: READY, containers })),
      'create app 0',
    );
  });
});

describe('the status', () => {
  const statusOf = (view: PodView) => podStatus(view, { engine: 'docker', hostIP: '10.0.0.1' });
  const condition = (view: PodView, type: string) =>
    statusOf(view).conditions?.find((one) => one.type === type);

  test('waiting containers show PodInitializing', () => {
    const view = viewOf({ spec: spec([first, second]), containers: [attempt({ name: 'first' })] });
    const { phase, initContainerStatuses = [], containerStatuses = [] } = statusOf(view);
    assert.equal(phase, 'Pending');
    assert.ok(initContainerStatuses[0]?.state?.running);
    assert.deepEqual(initContainerStatuses[1]?.state, { waiting: { reason: 'PodInitializing' } });
    assert.deepEqual(containerStatuses[0]?.state, { waiting: { reason: 'PodInitializing' } });
    assert.deepEqual(condition(view, 'Initialized'), {
      type: 'Initialized',
      status: 'False',
      reason: 'ContainersNotInitialized',
      message: 'containers with incomplete status: [first second]',
      lastProbeTime: null,
      lastTransitionTime: '1970-01-01T00:16:40Z',
    });
  });

  test('a completed init container is ready; then the Pod is Initialized', () => {
    const view = viewOf({ spec: spec([first]), containers: [done('first'), attempt({})] });
    assert.equal(statusOf(view).initContainerStatuses?.[0]?.ready, true);
    assert.equal(statusOf(view).phase, 'Running');
    assert.equal(condition(view, 'Initialized')?.status, 'True');
    assert.equal(condition(view, 'Ready')?.status, 'True');
  });

  test('an init container that fails repeatedly backs off and keeps the Pod Pending', () => {
    const containers = [failed('first', { attempt: 1, backoffMs: 10_000 })];
    const view = viewOf({ spec: spec([first]), containers });
    const [status] = statusOf(view).initContainerStatuses ?? [];
    assert.equal(status?.state?.waiting?.reason, 'CrashLoopBackOff');
    assert.equal(status?.lastState?.terminated?.exitCode, 3);
    assert.equal(statusOf(view).phase, 'Pending');
  });

  test('under Never a failed init container fails the Pod', () => {
    const view = viewOf({ spec: spec([first], { restartPolicy: 'Never' }), containers: [failed('first')] });
    assert.equal(statusOf(view).phase, 'Failed');
    assert.equal(statusOf(view).initContainerStatuses?.[0]?.state?.terminated?.reason, 'Error');
  });

  test('a sidecar that is not ready keeps the Pod not ready', () => {
    const probed = { ...proxy, readinessProbe: { tcpSocket: { port: 80 } } };
    const containers = [attempt({ name: 'proxy' }), attempt({})];
    const view = viewOf({ spec: spec([probed]), containers });
    assert.equal(condition(view, 'Initialized')?.status, 'True');
    assert.equal(condition(view, 'Ready')?.message, 'containers with unready status: [proxy]');
    const localStates = { 'proxy-0': { readiness: { ready: true, at: NOW + 5000 } } };
    const ready = condition(viewOf({ spec: spec([probed]), containers, localStates }), 'Ready');
    assert.deepEqual([ready?.status, ready?.lastTransitionTime], ['True', '1970-01-01T00:16:45Z']);
  });

  test('a Pod with completed containers waits for its sidecar to exit, and has then Succeeded', () => {
    const pod = spec([proxy], { restartPolicy: 'Never' });
    const running = viewOf({ spec: pod, containers: [attempt({ name: 'proxy' }), done('app')] });
    assert.equal(statusOf(running).phase, 'Running');
    const ended = viewOf({ spec: pod, containers: [failed('proxy'), done('app')] });
    assert.equal(statusOf(ended).phase, 'Succeeded');
  });
});
