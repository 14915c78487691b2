import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podKind } from '../../../coordinator/kinds/pods/pod-kind.js';
import { START_ANNOTATION } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  ATTEMPT_ANNOTATION,
  ENDED_ANNOTATION,
  RUN_ANNOTATION,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { HANDOVER_ANNOTATION } from '../../../shared/kube/handovers/host-handover.js';
import type { ContainerState, Pod } from '../../../shared/kube/pods/pod-types.js';
import { oneContainer, podFrom, templateSpec } from '../../harness/objects/object-builders.js';

const NOW = Date.parse('2026-01-01T01:00:00Z');

describe('defaults', () => {
  const IMAGES: [string, string][] = [
    ['app', 'Always'],
    ['app:latest', 'Always'],
    ['app:1', 'IfNotPresent'],
    ['registry:5000/app', 'Always'],
    ['registry:5000/app:1', 'IfNotPresent'],
    [`app@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
    ['No Image', 'IfNotPresent'],
  ];
  for (const [image, policy] of IMAGES) {
    test(`${image} is pulled ${policy}`, () => {
      assert.equal(podFrom(oneContainer({ image })).spec.containers[0]?.imagePullPolicy, policy);
    });
  }

  test('defaulting again changes nothing', () => {
    const volumes = [{ name: 'a' }, { name: 'b', secret: {} }, { name: 'c', hostPath: { path: '/' } }];
    const pod = podFrom(oneContainer({ livenessProbe: { httpGet: { port: 1 } } }, { volumes }));
    const once = structuredClone(pod);
    podKind.setDefaults(pod);
    assert.deepEqual(pod, once);
  });

  test('a limit is a request in a Pod, but not in a template', () => {
    const spec = oneContainer({
      resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } },
    });
    assert.deepEqual(podFrom(spec).spec.containers[0]?.resources?.requests, { cpu: '500m', memory: '1Gi' });
    assert.deepEqual(templateSpec(spec).containers[0]?.resources?.requests, { cpu: '500m' });
  });

  test("on the host network a Pod's ports are host ports", () => {
    const spec = oneContainer({ ports: [{ containerPort: 80 }] }, { hostNetwork: true });
    assert.equal(podFrom(spec).spec.containers[0]?.ports?.[0]?.hostPort, 80);
    assert.equal(templateSpec(spec).containers[0]?.ports?.[0]?.hostPort, undefined);
  });
});

describe('creation', () => {
  test('a Pod starts Pending, whatever status its creator sent', () => {
    const pod = podFrom(oneContainer());
    pod.status = { phase: 'Running', podIP: '10.0.0.1' };
    podKind.prepareForCreate(pod, { now: 0 });
    assert.deepEqual(pod.status, { phase: 'Pending', qosClass: 'BestEffort' });
    assert.equal(pod.metadata.generation, 1);
  });

  for (const user of [undefined, 'mallory']) {
    test(`${user ?? 'a controller'} cannot create a Pod with a handover or a counted end`, () => {
      const annotations = { a: 'b', [HANDOVER_ANNOTATION]: '{}', [ENDED_ANNOTATION]: 'Succeeded' };
      const pod = podFrom(oneContainer(), { annotations });
      podKind.prepareForCreate(pod, { now: 0, ...(user && { user }) });
      assert.deepEqual(pod.metadata.annotations, { a: 'b' });
    });
  }

  test('a new Pod may not have ephemeral containers', () => {
    const pod = podFrom(oneContainer({}, { ephemeralContainers: [{ name: 'd', image: 'd' }] }));
    assert.deepEqual(
      podKind.validateCreate?.(pod).map(({ field }) => field),
      ['spec.ephemeralContainers'],
    );
    assert.deepEqual(podKind.validate(pod), []);
  });
});

describe('change', () => {
  const TURN = { [HANDOVER_ANNOTATION]: '{}' };
  const owned = (uid: string | undefined, user?: string) => {
    const made = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'ds', controller: true };
    const [current, next] = ['ds', uid].map((each) =>
      podFrom(oneContainer(), {
        annotations: { a: 'b', ...TURN },
        ...(each && { ownerReferences: [{ ...made, uid: each }] }),
      }),
    ) as [Pod, Pod];
    podKind.prepareForUpdate(next, current, { now: 0, ...(user && { user }) });
    return next.metadata.annotations;
  };
  for (const user of [undefined, 'kim']) {
    test(`the handover is removed when ${user ?? 'a controller'} orphans a Pod or another controller adopts it`, () => {
      assert.deepEqual(owned('ds', user), { a: 'b', ...TURN });
      assert.deepEqual(owned(undefined, user), { a: 'b' });
      assert.deepEqual(owned('another', user), { a: 'b' });
    });
  }

  const BASE = { tolerations: [{ key: 'a', operator: 'Exists' }], activeDeadlineSeconds: 10 };
  const change = (fields: object, container: object = {}) =>
    podKind
      .validateUpdate(
        podFrom(oneContainer(container, { ...BASE, ...fields })),
        podFrom(oneContainer({}, BASE)),
      )
      .map(({ reason, field }) => `${reason?.replace('FieldValue', '')} ${field}`);

  const CASES: [string, object, object, string[]][] = [
    ['nothing', {}, {}, []],
    ['an image', {}, { image: 'j' }, []],
    ['a command', {}, { command: ['x'] }, ['Forbidden spec']],
    ['the node', { nodeName: 'n' }, {}, ['Forbidden spec']],
    ['an added toleration', { tolerations: [...BASE.tolerations, { key: 'b', operator: 'Exists' }] }, {}, []],
    ['a removed toleration', { tolerations: [] }, {}, ['Forbidden spec.tolerations']],
    ['a nearer deadline', { activeDeadlineSeconds: 5 }, {}, []],
    ['a later deadline', { activeDeadlineSeconds: 20 }, {}, ['Invalid spec.activeDeadlineSeconds']],
    ['no deadline', { activeDeadlineSeconds: undefined }, {}, ['Invalid spec.activeDeadlineSeconds']],
    ['the grace period', { terminationGracePeriodSeconds: 5 }, {}, ['Forbidden spec']],
    [
      'an added container',
      {
        containers: [
          { name: 'c', image: 'i' },
          { name: 'd', image: 'i' },
        ],
      },
      {},
      ['Forbidden spec.containers'],
    ],
  ];
  for (const [name, fields, container, expected] of CASES) {
    test(name, () => assert.deepEqual(change(fields, container), expected));
  }

  test('a change of the spec raises the generation, a change of labels does not', () => {
    const current = podFrom(oneContainer(), { generation: 3 });
    const labelled = podFrom(oneContainer(), { labels: { a: 'b' } });
    const changed = podFrom(oneContainer({ image: 'j' }));
    for (const next of [labelled, changed]) podKind.prepareForUpdate(next, current, { now: 0 });
    assert.deepEqual([labelled.metadata.generation, changed.metadata.generation], [3, 4]);
  });

  test('a container that has terminated finally does not return', () => {
    const status = (state: ContainerState) => ({
      containerStatuses: [{ name: 'c', state, ready: false, restartCount: 0, image: 'i', imageID: '' }],
    });
    const pod = podFrom(oneContainer({}, { restartPolicy: 'Never' }));
    const current = { ...pod, status: status({ terminated: { exitCode: 1 } }) };
    const next = { ...pod, status: status({ running: {} }) };
    const errors = podKind.validateStatusUpdate?.(next, current) ?? [];
    assert.deepEqual(
      errors.map(({ field }) => field),
      ['status.containerStatuses[0].state'],
    );
  });
});

function row(pod: Pod): Record<string, string | number | boolean | null> {
  return Object.fromEntries(podKind.columns.map((column) => [column.name, column.cell(pod, NOW)]));
}

/** A Pod with one container in this state. */
function podIn(state: ContainerState, status: object = {}, metadata: object = {}): Pod {
  const container = {
    name: 'c',
    state,
    ready: state.running !== undefined,
    restartCount: 0,
    image: 'i',
    imageID: '',
  };
  const pod = podFrom(oneContainer(), metadata);
  pod.status = { phase: 'Running', containerStatuses: [{ ...container, ...status }] };
  return pod;
}

describe('table', () => {
  const STATES: [string, Pod, string][] = [
    ['running', podIn({ running: {} }), 'Running'],
    ['waiting with a reason', podIn({ waiting: { reason: 'ImagePullBackOff' } }), 'ImagePullBackOff'],
    ['terminated with a reason', podIn({ terminated: { exitCode: 1, reason: 'Error' } }), 'Error'],
    ['terminated by a signal', podIn({ terminated: { exitCode: 0, signal: 9 } }), 'Signal:9'],
    ['terminated with a code', podIn({ terminated: { exitCode: 3 } }), 'ExitCode:3'],
    [
      'under deletion',
      podIn({ running: {} }, {}, { deletionTimestamp: '2026-01-01T00:59:00Z' }),
      'Terminating',
    ],
  ];
  for (const [name, pod, text] of STATES) {
    test(`Status of a Pod ${name}`, () => assert.equal(row(pod).Status, text));
  }

  test('Status of a Pod whose init container has not completed', () => {
    const pod = podFrom(
      oneContainer(
        {},
        {
          initContainers: [
            { name: 'i', image: 'i' },
            { name: 'j', image: 'i' },
          ],
        },
      ),
    );
    const status = { name: 'i', ready: false, restartCount: 0, image: 'i', imageID: '' };
    pod.status = { phase: 'Pending', initContainerStatuses: [{ ...status, state: { running: {} } }] };
    assert.equal(row(pod).Status, 'Init:0/2');
    pod.status.initContainerStatuses = [{ ...status, state: { waiting: { reason: 'CrashLoopBackOff' } } }];
    assert.equal(row(pod).Status, 'Init:CrashLoopBackOff');
  });

  test('restarts show the time of the last one', () => {
    const lastState = { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:55:00Z' } };
    assert.equal(row(podIn({ running: {} }, { restartCount: 3, lastState })).Restarts, '3 (5m ago)');
    assert.equal(row(podIn({ running: {} })).Restarts, '0');
  });

  test('absent values are shown as <none>', () => {
    const cells = row(podFrom(oneContainer()));
    assert.deepEqual(
      ['IP', 'Node', 'Nominated Node', 'Readiness Gates'].map((name) => cells[name]),
      ['<none>', '<none>', '<none>', '<none>'],
    );
    assert.deepEqual([cells.Ready, cells.Age], ['0/1', '<unknown>']);
  });
});

describe('warnings', () => {
  const warnings = (fields: object, spec: object = {}) =>
    podKind.warnings(podFrom(oneContainer(fields, spec)));
  const paths = (fields: object, spec: object = {}) =>
    warnings(fields, spec).map((text) => text.split(': ')[0]);

  test('defaults and supported fields cause no warning', () => {
    const fields = {
      command: ['x'],
      env: [{ name: 'A', value: 'b' }],
      ports: [{ containerPort: 1, hostPort: 1 }],
    };
    const spec = {
      hostNetwork: true,
      volumes: [
        { name: 'v', hostPath: { path: '/' } },
        { name: 'e', emptyDir: {} },
        { name: 'c', configMap: { name: 'm', defaultMode: 0o400, items: [{ key: 'k', path: 'p' }] } },
        { name: 's', secret: { secretName: 's', optional: true } },
        { name: 'p', projected: { sources: [{ secret: { name: 's' } }, { downwardAPI: { items: [] } }] } },
      ],
    };
    assert.deepEqual(paths(fields, spec), []);
  });

  test('each field without effect is named by its path', () => {
    const fields = {
      securityContext: { windowsOptions: { hostProcess: true } },
    };
    const spec = {
      initContainers: [{ name: 'i', image: 'i', volumeDevices: [{ name: 'd', devicePath: '/d' }] }],
      volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { path: 't' } }] } }],
    };
    assert.deepEqual(paths(fields, spec).sort(), [
      'spec.containers[0].securityContext.windowsOptions',
      'spec.initContainers[0].volumeDevices',
      'spec.volumes[0].projected.sources[0].clusterTrustBundle',
    ]);
  });

  test('priorities cause no warning', () => {
    const spec = { priority: 1_000, priorityClassName: 'high', preemptionPolicy: 'Never' };
    assert.deepEqual(paths({}, spec), []);
  });

  test('a Secret in the environment causes a warning, because the engine stores it', () => {
    const fields = {
      env: [
        { name: 'A', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } },
        { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      ],
      envFrom: [{ configMapRef: { name: 'c' } }, { secretRef: { name: 's' } }],
    };
    assert.deepEqual(paths(fields), [
      'spec.containers[0].env[1].valueFrom.secretKeyRef',
      'spec.containers[0].envFrom[1].secretRef',
    ]);
    assert.match(warnings(fields)[0] ?? '', /plain text/);
  });

  test('a supported and an unsupported value of one field are distinguished', () => {
    assert.deepEqual(paths({}, { hostUsers: true }), []);
    assert.deepEqual(paths({}, { hostUsers: false, runtimeClassName: 'kata' }), [
      'spec.hostUsers',
      'spec.runtimeClassName',
    ]);
  });
});

for (const key of [HANDOVER_ANNOTATION, ENDED_ANNOTATION])
  describe(`the annotation ${key}`, () => {
    /** The user, the stored value, the sent value, and the value stored afterwards. */
    const CASES: [string | undefined, string | undefined, string | undefined, string | undefined][] = [
      ['mallory', undefined, 'evil', undefined],
      ['mallory', 'given', 'evil', 'given'],
      ['mallory', 'given', undefined, 'given'],
      [undefined, undefined, 'given', 'given'],
      [undefined, 'given', 'other', 'other'],
      [undefined, 'given', undefined, undefined],
    ];
    const bearing = (turn: string | undefined) =>
      podFrom(oneContainer(), turn === undefined ? {} : { annotations: { [key]: turn } });
    for (const [user, stored, sent, expected] of CASES) {
      for (const verb of ['prepareForUpdate', 'prepareForStatusUpdate'] as const) {
        test(`${stored} is ${expected} when ${user ?? 'the controller'} sends ${sent} (${verb})`, () => {
          const next = bearing(sent);
          podKind[verb]?.(next, bearing(stored), { now: 0, ...(user && { user }) });
          assert.equal(next.metadata.annotations?.[key], expected);
        });
      }
    }
  });

for (const key of [ATTEMPT_ANNOTATION, RUN_ANNOTATION, START_ANNOTATION])
  describe(`the annotation ${key} of a DaemonJob's Pod`, () => {
    const bearing = (value: string | undefined, kind: string) => {
      const ownerReferences = [{ apiVersion: 'v1', kind, name: 'work', uid: 'job', controller: true }];
      return podFrom(oneContainer(), { ...(value && { annotations: { [key]: value } }), ownerReferences });
    };
    for (const [kind, user, sent, expected] of [
      ['DaemonJob', 'mallory', '7', '1'],
      ['DaemonJob', 'mallory', undefined, '1'],
      ['DaemonJob', undefined, '7', '7'],
      ['DaemonSet', 'mallory', '7', '7'],
      ['DaemonSet', 'mallory', undefined, undefined],
    ] as const)
      for (const verb of ['prepareForUpdate', 'prepareForStatusUpdate'] as const)
        test(`of a ${kind} is ${expected} after ${user ?? 'the controller'} sends ${sent} (${verb})`, () => {
          const next = bearing(sent, kind);
          podKind[verb]?.(next, bearing('1', kind), { now: 0, ...(user && { user }) });
          assert.equal(next.metadata.annotations?.[key], expected);
        });
  });
