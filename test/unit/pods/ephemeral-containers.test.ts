/** Ephemeral containers join a running Pod, run once, and decide nothing about the Pod. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { namespacesOf } from '../../../agent/decisions/container-spec/container-namespaces.js';
import { podStatus } from '../../../agent/decisions/pods/agent-pod-status.js';
import { nextAction } from '../../../agent/decisions/pods/pod-next-action.js';
import type { PodView } from '../../../agent/decisions/pods/pod-view.js';
import { attempt, READY_IMAGES, viewOf } from '../../harness/pods/pod-views.js';

const DEBUG = { name: 'dbg', image: 'dbg:1', targetContainerName: 'app' };

function viewWith(change: Parameters<typeof viewOf>[0], container: object = DEBUG): PodView {
  const images = { ...READY_IMAGES, dbg: { kind: 'ready' as const } };
  const view = viewOf({ images, ...change });
  const spec = { ...view.pod.spec, ephemeralContainers: [{ ...DEBUG, ...container }] };
  return { ...view, pod: { ...view.pod, spec } };
}

const ended = attempt({ name: 'dbg', image: 'dbg:1', state: 'exited', exitCode: 1 });

describe('an ephemeral container', () => {
  test('joins the running owner of the namespaces and its target', () => {
    assert.deepEqual(nextAction(viewWith({ containers: [attempt({})] })), {
      kind: 'create-container',
      container: 'dbg',
      attempt: 0,
      backoffMs: 0,
      sandboxID: 'app-0',
      targetID: 'app-0',
    });
  });

  test('is not created before the container that it joins runs', () => {
    const view = viewWith({ containers: [attempt({ state: 'created' })] });
    assert.equal(nextAction(view).kind, 'start-container');
  });

  test('is never started again, whatever its exit code', () => {
    assert.deepEqual(nextAction(viewWith({ containers: [attempt({}), ended] })), { kind: 'wait' });
  });

  test('is not started if the policy of the host forbids it, and the Pod stays', () => {
    const view = viewWith({ containers: [attempt({})] }, { securityContext: { privileged: true } });
    const guarded = { ...view, isolation: { ...view.isolation, policy: { privileged: false } } };
    assert.deepEqual(nextAction(guarded), { kind: 'wait' });
    const { ephemeralContainerStatuses, phase } = podStatus(guarded, { engine: 'docker' });
    assert.equal(ephemeralContainerStatuses?.[0]?.state?.waiting?.reason, 'HostPolicy');
    assert.equal(phase, 'Running');
  });

  test('has a status of its own and counts neither for the phase nor for readiness', () => {
    const status = podStatus(viewWith({ containers: [attempt({}), ended] }), { engine: 'docker' });
    const [own] = status.ephemeralContainerStatuses ?? [];
    assert.equal(own?.state?.terminated?.exitCode, 1);
    assert.deepEqual([own?.ready, own?.restartCount, own?.started], [false, 0, undefined]);
    assert.equal(status.phase, 'Running');
    assert.equal(status.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
    assert.equal(status.containerStatuses?.length, 1);
  });

  test('that the engine lost after its start is not started again, and its result is reported', () => {
    const lost = (ephemeral: object) =>
      viewWith({
        containers: [attempt({})],
        localStates: { gone: { ephemeral: { name: 'dbg', ...ephemeral } } },
      });
    assert.deepEqual(nextAction(lost({})), { kind: 'wait' });
    const statusOf = (view: PodView) =>
      podStatus(view, { engine: 'docker' }).ephemeralContainerStatuses?.[0]?.state?.terminated;
    assert.equal(statusOf(lost({}))?.reason, 'ContainerStatusUnknown');
    const last = { name: 'dbg', state: { terminated: { exitCode: 4 } } };
    assert.deepEqual(statusOf(lost({ last })), { exitCode: 4 });
  });

  test('shares the processes of its target, unless the Pod uses those of the host', () => {
    const { pod } = viewWith({});
    const resolvers = { host: undefined, clusterDns: { state: 'off' } } as never;
    const pidOf = (spec: object) =>
      namespacesOf({ ...pod, spec: { ...pod.spec, ...spec } }, 'holder', resolvers, 'target').pid;
    assert.deepEqual(pidOf({}), { kind: 'container', id: 'target' });
    assert.deepEqual(pidOf({ hostPID: true }), { kind: 'host' });
    assert.deepEqual(pidOf({ shareProcessNamespace: true }), { kind: 'container', id: 'holder' });
  });
});
