import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenContainer } from '../../../coordinator/api/resources/pod-container.js';
import { logOptions, missingLogReason } from '../../../coordinator/api/resources/pod-log.js';
import type { ContainerState, Pod } from '../../../shared/kube/pods/pod-types.js';

function pod(names: string[], state?: ContainerState, lastState?: ContainerState): Pod {
  const containers = names.map((name) => ({ name, image: 'i' }));
  const status = { name: 'c', ready: false, restartCount: 0, image: 'i', imageID: '' };
  const statuses = state ? [{ ...status, state, ...(lastState ? { lastState } : {}) }] : [];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers },
    status: { containerStatuses: statuses },
  };
}

const ENDED = { terminated: { exitCode: 1 } } as ContainerState;

test('the only container is the default', () => {
  assert.equal(chosenContainer(pod(['c']), null), 'c');
  assert.throws(() => chosenContainer(pod(['a', 'b']), null), { message: /choose one of: \[a b\]/ });
  assert.throws(() => chosenContainer(pod(['a', 'b']), 'c'), {
    message: 'container c is not valid for pod p',
  });
});

const MISSING: [string, Pod, boolean, string | undefined][] = [
  ['no status', pod(['c']), false, 'container "c" in pod "p" is not available'],
  ['running', pod(['c'], { running: {} } as ContainerState), false, undefined],
  ['ended', pod(['c'], ENDED), false, undefined],
  [
    'creating',
    pod(['c'], { waiting: { reason: 'ContainerCreating' } }),
    false,
    'waiting to start: ContainerCreating',
  ],
  [
    'image missing',
    pod(['c'], { waiting: { reason: 'ErrImagePull' } }),
    false,
    "waiting to start: image can't be pulled",
  ],
  [
    'image back-off',
    pod(['c'], { waiting: { reason: 'ImagePullBackOff' } }),
    false,
    'trying and failing to pull image',
  ],
  ['between restarts', pod(['c'], { waiting: { reason: 'CrashLoopBackOff' } }, ENDED), false, undefined],
  [
    'no previous attempt',
    pod(['c'], { running: {} } as ContainerState),
    true,
    'previous terminated container "c" in pod "p" not found',
  ],
  ['a previous one', pod(['c'], { running: {} } as ContainerState, ENDED), true, undefined],
];

for (const [what, object, previous, text] of MISSING) {
  test(`${what}: ${text ?? 'a log is available'}`, () => {
    const reason = missingLogReason(object, 'c', previous);
    if (text === undefined) assert.equal(reason, undefined);
    else assert.ok(reason?.endsWith(text), reason);
  });
}

test('log options are translated for the host', () => {
  const query = new URLSearchParams('follow=true&tailLines=0&timestamps=true&limitBytes=10&sinceSeconds=5');
  assert.deepEqual(logOptions(query), {
    follow: true,
    previous: false,
    timestamps: true,
    tailLines: 0,
    limitBytes: 10,
    sinceSeconds: 5,
  });
});

for (const text of [
  'tailLines=-1',
  'limitBytes=0',
  'sinceTime=yesterday',
  'sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
]) {
  test(`${text} is 400`, () =>
    assert.throws(() => logOptions(new URLSearchParams(text)), { reason: 'BadRequest' }));
}
