/** Timelines, wave steps, and the words of the host, rollout and DaemonSet pages. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AuditEvent } from '../../../shared/kube/access/audit-types.js';
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { KubeEvent } from '../../../shared/kube/objects/event-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutPhase, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { consoleModule } from '../../harness/console/console-module.js';

const { hostTimeline } =
  await consoleModule<typeof import('../../../console/timeline/host-timeline.js')>(
    'timeline/host-timeline.ts',
  );
const { rolloutTimeline } = await consoleModule<
  typeof import('../../../console/timeline/rollout-timeline.js')
>('timeline/rollout-timeline.ts');
const { kindsOf, mergeTimeline } = await consoleModule<
  typeof import('../../../console/timeline/timeline-entry.js')
>('timeline/timeline-entry.ts');
const { errorBudget, waveSteps } =
  await consoleModule<typeof import('../../../console/rollouts/wave-steps.js')>('rollouts/wave-steps.ts');
const { failureGroups } = await consoleModule<typeof import('../../../console/rollouts/failure-groups.js')>(
  'rollouts/failure-groups.ts',
);
const { weighActions } = await consoleModule<typeof import('../../../console/rollouts/rollout-phases.js')>(
  'rollouts/rollout-phases.ts',
);
const { hostsPath, placementGroups } = await consoleModule<
  typeof import('../../../console/daemonsets/placement-groups.js')
>('daemonsets/placement-groups.ts');
const { revisionAuthor } = await consoleModule<
  typeof import('../../../console/daemonsets/revisions/revision-author.js')
>('daemonsets/revisions/revision-author.ts');
const { withImage } = await consoleModule<typeof import('../../../console/daemonsets/image/image-change.js')>(
  'daemonsets/image/image-change.ts',
);
const { sparklinePoints } =
  await consoleModule<typeof import('../../../console/hosts/sparkline-points.js')>(
    'hosts/sparkline-points.ts',
  );
const { isSystemLabel } =
  await consoleModule<typeof import('../../../console/hosts/node-draft.js')>('hosts/node-draft.ts');

const at = (minute: number) => `2026-03-15T10:${String(minute).padStart(2, '0')}:00Z`;
const texts = (entries: readonly { text: string }[]) => entries.map(({ text }) => text);

function event(minute: number, reason: string, message: string, more: object = {}): KubeEvent {
  return { reason, message, lastTimestamp: at(minute), metadata: {}, ...more } as unknown as KubeEvent;
}

function write(minute: number, resource: string, name: string, user = 'ann'): AuditEvent {
  return {
    verb: 'patch',
    user: { username: user },
    objectRef: { resource, name, namespace: 'default' },
    requestReceivedTimestamp: at(minute),
    stageTimestamp: at(minute),
  } as unknown as AuditEvent;
}

describe('the timeline of a host', () => {
  const node = {
    metadata: { name: 'kiel-1', creationTimestamp: at(0) },
    status: {
      conditions: [
        { type: 'Ready', status: 'True', lastTransitionTime: at(1) },
        { type: 'Connected', status: 'True', lastTransitionTime: at(9) },
        {
          type: 'DiskPressure',
          status: 'True',
          reason: 'Full',
          message: '1 % left',
          lastTransitionTime: at(2),
        },
      ],
    },
  } as unknown as Node;
  const pod = {
    metadata: { name: 'till-x', namespace: 'default', creationTimestamp: at(3) },
    spec: { containers: [{ name: 'main', image: 'r/till:1' }] },
    status: {
      containerStatuses: [
        {
          name: 'main',
          state: { running: { startedAt: at(6) } },
          lastState: { terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt: at(5) } },
        },
      ],
    },
  } as unknown as Pod;
  const entries = hostTimeline({
    node,
    pods: [pod],
    changes: [
      { time: at(7), type: 'Connected', status: 'False', reason: 'LinkDown', message: 'no heartbeat' },
      { time: at(9), type: 'Connected', status: 'True', reason: 'LinkUp', message: '' },
    ],
    events: [event(4, 'Rebooted', 'kiel-1 was restarted', { count: 2, type: 'Warning' })],
    activity: [write(8, 'nodes', 'kiel-1')],
  });

  test('merges all sources, newest first', () => {
    assert.deepEqual(texts(entries), [
      'The link returned.',
      'ann changed host default/kiel-1',
      'The link was lost: LinkDown: no heartbeat',
      'Container main started with till:1.',
      'Container main exited with code 137 (OOMKilled).',
      'Rebooted: kiel-1 was restarted (2 times)',
      'The Pod was created.',
      'DiskPressure became True (Full: 1 % left)',
      'Ready became True',
      'The host joined.',
    ]);
  });
  test('has a tone for each entry, and the kinds in one order', () => {
    assert.deepEqual(
      entries.map(({ tone }) => tone),
      ['ok', 'progress', 'offline', 'ok', 'failed', 'waiting', 'progress', 'failed', 'ok', 'ok'],
    );
    assert.deepEqual(kindsOf(entries), ['link', 'condition', 'pod', 'event', 'activity']);
    assert.deepEqual(entries[6]?.link, { href: '/pods/default/till-x', name: 'till-x' });
  });
  test('lists a restart above the exit of the same second', () => {
    const [status] = pod.status?.containerStatuses ?? [];
    const restarted = {
      ...pod,
      status: { containerStatuses: [{ ...status, state: { running: { startedAt: at(5) } } }] },
    } as unknown as Pod;
    const shown = texts(
      hostTimeline({ node, pods: [restarted], changes: [], events: [], activity: [] }),
    ).filter((text) => text.startsWith('Container'));
    assert.deepEqual(shown, [
      'Container main started with till:1.',
      'Container main exited with code 137 (OOMKilled).',
    ]);
  });
  test('leaves entries without a time out, and keeps the order of sources within a second', () => {
    const entry = (text: string, time: string) => ({ at: time, kind: 'pod', tone: 'ok', text }) as const;
    const merged = mergeTimeline([[entry('a', at(1)), entry('none', '')], [entry('b', at(1))]]);
    assert.deepEqual(texts(merged), ['a', 'b']);
  });
});

function rollout(more: Partial<RolloutStatus>): RolloutStatus {
  const wave = (name: string) => ({
    name,
    nodes: 4,
    updated: 0,
    failed: 0,
    deferred: 0,
    outsideWindow: 0,
    skipped: 0,
  });
  return {
    ...wave(''),
    ...{ revision: 'b', revisionNumber: 2, policy: 'gentle', message: '', startTime: at(10) },
    ...{ phase: 'Progressing', wave: 'second', waves: [wave('first'), wave('second'), wave('third')] },
    ...more,
  } as RolloutStatus;
}

describe('the timeline of a rollout', () => {
  const request = { id: 1, verb: 'approve' as const, targets: ['second'], user: 'kim', revision: 'b' };
  const status = rollout({
    phase: 'Failed',
    message: '3 hosts failed',
    endTime: at(20),
    failures: [{ node: 'kiel-1', reason: 'ErrImagePull', time: at(18) }],
    steering: { handled: 1, requests: [{ ...request, reason: 'looks good', time: at(15) }] },
  });
  const events = [
    event(12, 'RolloutSoaking', 'wave first soaks'),
    event(15, 'RolloutSteered', 'kim requested approve second'),
    event(2, 'RolloutCompleted', 'of the revision before'),
    event(13, 'SuccessfulCreate', 'Created pod: till-x'),
  ];
  const activity = [
    write(3, 'daemonsets', 'till', 'old'),
    write(10, 'daemonsets', 'till'),
    write(15, 'rollouts', 'till', 'kim'),
    write(16, 'services', 'till'),
    write(17, 'daemonsets', 'till'),
  ];
  test('has steps, requests, failures and writes of this rollout only, each once', () => {
    assert.deepEqual(texts(rolloutTimeline({ status, events, activity, isPast: false })), [
      'Failed: 3 hosts failed',
      'Host kiel-1 failed: ErrImagePull',
      'ann changed DaemonSet default/till',
      'kim approved second: “looks good”',
      'Soaking: wave first soaks',
      'ann changed DaemonSet default/till',
      'The rollout of revision 2 started by policy gentle.',
    ]);
  });
  test('an end that an Event reports is not listed twice', () => {
    const reported = [...events, event(20, 'RolloutFailed', '3 hosts failed')];
    const shown = texts(rolloutTimeline({ status, events: reported, activity: [], isPast: false }));
    assert.equal(shown.filter((text) => text.startsWith('Failed:')).length, 1);
  });
});

describe('the end and the retry of a rollout', () => {
  const later = [write(20, 'daemonsets', 'till', 'kim'), write(30, 'daemonsets', 'till', 'later')];
  for (const [isPast, more, users] of [
    [false, { endTime: at(20) }, ['later', 'kim']],
    [true, { endTime: at(20) }, ['kim']],
    [true, { completionTime: at(20) }, ['kim']],
    [true, {}, ['later', 'kim']],
  ] as const) {
    test(`a ${isPast ? 'past' : 'present'} rollout with ${JSON.stringify(more)} has writes of ${users}`, () => {
      const entries = rolloutTimeline({ status: rollout(more), events: [], activity: later, isPast });
      const writers = texts(entries).filter((text) => text.includes('DaemonSet'));
      assert.deepEqual(
        writers,
        users.map((user) => `${user} changed DaemonSet default/till`),
      );
    });
  }

  const retry = { id: 1, verb: 'retry' as const, user: 'kim', revision: 'b', time: at(9) };
  const events = [
    event(2, 'RolloutCompleted', 'of the revision before'),
    event(5, 'RolloutFailed', 'of the first attempt'),
    event(11, 'RolloutSoaking', 'of the second attempt'),
  ];
  for (const [what, revisionTime, requests, minutes] of [
    ['the creation of its revision', at(4), [retry], [11, 5]],
    ['its first request if the revision is not stored', undefined, [retry], [11]],
    ['its start without both', undefined, [], [11]],
  ] as const) {
    test(`a retried rollout has steps since ${what}`, () => {
      const status = rollout({
        retryTime: at(9),
        steering: { handled: 1, requests: [...requests] },
      });
      const entries = rolloutTimeline({ ...{ status, events, revisionTime }, activity: [], isPast: false });
      const steps = entries.filter(({ text }) => /attempt|before/.test(text)).map((entry) => entry.at);
      assert.deepEqual(steps, minutes.map(at));
    });
  }
});

describe('the waves of a rollout', () => {
  const policy = { spec: { waves: [{ name: 'third', approval: 'Manual' }] } } as unknown as RolloutPolicy;
  const words = (phase: RolloutPhase, more: Partial<RolloutStatus> = {}) =>
    waveSteps(rollout({ phase, ...more }), policy).map(({ status }) => status.word);
  for (const [phase, expected] of [
    ['Progressing', ['Done', 'Updating', 'Later, needs an approval']],
    ['Soaking', ['Done', 'Soaking', 'Later, needs an approval']],
    ['AwaitingApproval', ['Done', 'Done', 'Waiting for approval']],
    ['AwaitingWindow', ['Done', 'Blocked: outside its window', 'Later, needs an approval']],
    ['Paused', ['Done', 'Blocked: paused', 'Later, needs an approval']],
    ['Failed', ['Done', 'Failed', 'Not started']],
    ['RolledBack', ['Done', 'Rolled back', 'Not started']],
    ['Completed', ['Done', 'Done', 'Done']],
  ] as const) {
    test(`${phase}: ${expected.join(' | ')}`, () => assert.deepEqual(words(phase), expected));
  }
  test('an approved wave, and a wave with failures', () => {
    assert.equal(
      words('Progressing', { steering: { handled: 0, approved: ['third'] } })[2],
      'Later, approved',
    );
    const [first, ...others] = rollout({}).waves;
    assert.ok(first);
    assert.equal(
      words('Progressing', { waves: [{ ...first, failed: 1 }, ...others] })[0],
      'Done, with failures',
    );
  });

  for (const [maxFailed, limit] of [
    [2, 2],
    ['25%', 2],
    [undefined, 0],
  ] as const) {
    test(`of 10 hosts, at most ${maxFailed ?? 'none'} may fail: ${limit}`, () => {
      const budgeted = { spec: { failureBudget: { maxFailed } } } as unknown as RolloutPolicy;
      assert.deepEqual(errorBudget({ nodes: 10, failed: 1 }, budgeted), { failed: 1, limit });
    });
  }
  test('without a limit there is no budget', () => {
    assert.equal(errorBudget({ nodes: 10, failed: 1 }, policy), undefined);
  });

  test('failures are grouped by cause, the most frequent first', () => {
    const failure = (node: string, reason: string) => ({ node, reason, message: `on ${node}`, time: at(1) });
    const groups = failureGroups([
      failure('a', 'HostLost'),
      failure('b', 'BackOff'),
      failure('c', 'BackOff'),
    ]);
    assert.deepEqual(
      groups.map(({ reason, message, hosts }) => [reason, message, hosts.length]),
      [
        ['BackOff', 'on b', 2],
        ['HostLost', 'on a', 1],
      ],
    );
  });

  for (const [verbs, primary, shown, more] of [
    [['approve', 'pause', 'freeze', 'abort'], 'approve', ['approve', 'abort'], ['pause', 'freeze']],
    [['freeze', 'abort', 'retry'], 'abort', ['abort'], ['freeze', 'retry']],
    [['resume', 'abort'], 'resume', ['resume', 'abort'], []],
    [['pause', 'abort'], undefined, ['pause', 'abort'], []],
  ] as const) {
    test(`of ${verbs.join(', ')}, the page shows ${shown.join(' and ')}`, () => {
      const weighed = weighActions(
        verbs.map((verb) => ({ verb })),
        primary,
      );
      assert.deepEqual(
        [weighed.shown.map(({ verb }) => verb), weighed.more.map(({ verb }) => verb)],
        [shown, more],
      );
    });
  }
});

describe('the page of a DaemonSet', () => {
  const reason = (code: string, count: number) => ({ code, count, nodes: ['a'] });
  test('a host that keeps its old Pod runs an older version, and is not failing', () => {
    const groups = placementGroups([
      reason('Running', 4),
      reason('RolloutFailed', 3),
      reason('WaitingForWave', 2),
      reason('Failing', 1),
      reason('DeferredOffline', 5),
      reason('NodeSelectorMismatch', 6),
      reason('Unschedulable', 1),
      reason('Creating', 0),
    ]);
    assert.deepEqual(
      groups.map(({ name, count }) => `${count} ${name}`),
      ['4 Running', '5 Running an older version', '2 Failing', '5 Offline', '6 Not selected'],
    );
  });
  test('few hosts are a filter, many are not', () => {
    assert.equal(hostsPath(['a', 'b']), '/hosts?filter=kubernetes.io%2Fhostname%20in%20(a%2Cb)');
    assert.equal(hostsPath(Array.from({ length: 61 }, (_, index) => `n${index}`)), undefined);
    assert.equal(hostsPath([]), undefined);
  });
  test('the author of a revision is the user of the last write before it', () => {
    const revision = { metadata: { creationTimestamp: at(10) } } as unknown as ControllerRevision;
    const writes = [write(9, 'daemonsets', 'till', 'ann'), write(10, 'daemonsets', 'till', 'kim')];
    assert.equal(revisionAuthor(revision, [...writes, write(11, 'daemonsets', 'till', 'late')]), 'kim');
    assert.equal(revisionAuthor(revision, [write(1, 'daemonsets', 'till')]), undefined);
  });
  test('another image changes one container and nothing else', () => {
    const containers = [
      { name: 'main', image: 'till:1', env: [] },
      { name: 'log', image: 'log:1' },
    ];
    const before = { spec: { template: { spec: { containers } } } } as unknown as DaemonSet;
    const after = withImage(before, 'main', ' till:2 ').spec.template.spec.containers;
    assert.deepEqual(after, [{ name: 'main', image: 'till:2', env: [] }, containers[1]]);
    assert.equal(before.spec.template.spec.containers[0]?.image, 'till:1', 'the original is unchanged');
  });
});

describe('the page of a host', () => {
  for (const [values, top, lines] of [
    [[0, 0.5, 1], 1, ['0,24 50,12 100,0']],
    [[1, null, 1], 1, ['0,0 0,0', '100,0 100,0']],
    [[3, 9], 0, ['0,24 100,24']],
    [[], 1, []],
  ] as const) {
    test(`draws ${JSON.stringify(values)} as ${lines.length} lines`, () =>
      assert.deepEqual(sparklinePoints(values, top), lines));
  }
  for (const [key, expected] of [
    ['kubernetes.io/hostname', true],
    ['beta.kubernetes.io/os', true],
    ['node.kubernetes.io/instance-type', true],
    ['topology.kubernetes.io/zone', false],
    ['node-role.kubernetes.io/till', false],
    ['site', false],
  ] as const) {
    test(`${key} is ${expected ? 'a label of the agent' : 'a label of the user'}`, () =>
      assert.equal(isSystemLabel(key), expected));
  }
});
