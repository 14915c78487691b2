import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FitRefusals, fitRefusals, pinnedNode } from '../../../coordinator/decisions/placement/pod-fit.js';
import { podRequests, usageOfPods } from '../../../coordinator/decisions/placement/pod-resource-usage.js';
import type { Container, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { type NodeOptions, nodeObject, pinnedTo, podObject } from '../../harness/objects/object-builders.js';

const container = (requests: Record<string, string>): Container => ({
  name: 'c',
  image: 'app:1',
  resources: { requests },
});
const port = (hostPort: number, hostIP?: string, protocol?: string): Container => ({
  name: 'c',
  image: 'app:1',
  ports: [{ containerPort: 80, hostPort, ...(hostIP && { hostIP }), ...(protocol && { protocol }) }],
});
const fit = (spec: Partial<PodSpec>, node: NodeOptions = {}, others: Partial<PodSpec>[] = []) =>
  fitRefusals(
    podObject('a', spec),
    nodeObject('n1', node),
    usageOfPods(others.map((other) => podObject('b', other))),
  );

const PORTS = ["node(s) didn't have free ports for the requested pod ports"];
const AFFINITY = ["node(s) didn't match Pod's node affinity/selector"];
const asks = (cpu: string): Partial<PodSpec> => ({ containers: [container({ cpu })] });
const listens = (...ports: Container[]): Partial<PodSpec> => ({ containers: ports });

describe('resource fit', () => {
  const cases: [string, string[], string[]][] = [
    ['an empty Pod fits', fit({}), []],
    ['a Pod that needs exactly the free resources fits', fit(asks('3'), { cpu: '4' }, [asks('1')]), []],
    [
      'a Pod that needs a millicore more does not fit',
      fit(asks('3001m'), { cpu: '4' }, [asks('1')]),
      ['Insufficient cpu'],
    ],
    [
      'every insufficient resource is named',
      fit({ containers: [container({ cpu: '5', memory: '9Gi', 'example.org/gpu': '1' })] }),
      ['Insufficient cpu', 'Insufficient memory', 'Insufficient example.org/gpu'],
    ],
    ['the number of Pods counts', fit({}, { pods: '1' }, [{}]), ['Too many pods']],
    ['a cordoned node', fit({}, { unschedulable: true }), ['node(s) were unschedulable']],
    [
      'a cordoned node for a Pod that tolerates it',
      fit({ tolerations: [{ operator: 'Exists' }] }, { unschedulable: true }),
      [],
    ],
    [
      'a taint, with its value',
      fit({}, { taints: [{ key: 'gpu', value: 'a100', effect: 'NoExecute' }] }),
      ['node(s) had untolerated taint {gpu: a100}'],
    ],
    ['a PreferNoSchedule taint', fit({}, { taints: [{ key: 'a', effect: 'PreferNoSchedule' }] }), []],
    ['the node selector', fit({ nodeSelector: { disk: 'ssd' } }), AFFINITY],
    ['another node in the affinity', fit(pinnedTo('n2')), AFFINITY],
    [
      'the taint is reported before the affinity',
      fit(pinnedTo('n2'), { taints: [{ key: 'a', effect: 'NoSchedule' }] }),
      ['node(s) had untolerated taint {a: }'],
    ],
    ['a host port that is in use', fit(listens(port(80)), {}, [listens(port(80))]), PORTS],
    ['another host port', fit(listens(port(80)), {}, [listens(port(81))]), []],
    ['the same port of another protocol', fit(listens(port(80)), {}, [listens(port(80, '', 'UDP'))]), []],
    [
      'the same port on another address',
      fit(listens(port(80, '10.0.0.1')), {}, [listens(port(80, '10.0.0.2'))]),
      [],
    ],
    [
      'the wildcard address covers a specific one',
      fit(listens(port(80)), {}, [listens(port(80, '10.0.0.2'))]),
      PORTS,
    ],
  ];
  for (const [rule, actual, expected] of cases) test(rule, () => assert.deepEqual(actual, expected));
});

describe('requests of a Pod', () => {
  test('containers add up, the largest init container is a minimum, overhead is added', () => {
    const spec: PodSpec = {
      containers: [container({ cpu: '100m', memory: '1Gi' }), container({ cpu: '200m' })],
      initContainers: [container({ cpu: '500m' }), container({ cpu: '400m', memory: '1Mi' })],
      overhead: { cpu: '10m' },
    };
    assert.deepEqual(podRequests(spec), { cpu: 510, memory: 2 ** 30 });
  });
});

describe('sidecars', () => {
  const sidecar = (requests: Record<string, string>): Container => ({
    ...container(requests),
    restartPolicy: 'Always',
  });

  test('sidecars add to the containers, and to the init containers after them', () => {
    const containers = [container({ cpu: '100m' })];
    const podOf = (...initContainers: Container[]): PodSpec => ({ containers, initContainers });
    assert.deepEqual(podRequests(podOf(sidecar({ cpu: '50m' }))), { cpu: 150 });
    assert.deepEqual(podRequests(podOf(sidecar({ cpu: '50m' }), container({ cpu: '200m' }))), { cpu: 250 });
    assert.deepEqual(podRequests(podOf(container({ cpu: '200m' }), sidecar({ cpu: '50m' }))), { cpu: 200 });
  });

  test('sidecars hold their ports, ordinary init containers hold none', () => {
    const held = { initContainers: [{ ...port(80), restartPolicy: 'Always' }, port(81)] };
    assert.deepEqual(fit(listens(port(80)), {}, [held]), PORTS);
    assert.deepEqual(fit(listens(port(81)), {}, [held]), []);
  });
});

describe('the message of the scheduler', () => {
  test('reasons are counted and sorted as strings', () => {
    const refusals = new FitRefusals();
    refusals.add(['node(s) were unschedulable'], 2);
    refusals.add(['Insufficient cpu', 'Too many pods']);
    assert.equal(
      refusals.message(),
      '0/3 nodes are available: 1 Insufficient cpu, 1 Too many pods, 2 node(s) were unschedulable.',
    );
  });

  test('the message for a fleet without nodes', () => {
    assert.equal(new FitRefusals().message(), 'no nodes available to schedule pods');
  });

  test('a Pod is pinned when its affinity matches one node only', () => {
    assert.equal(pinnedNode(podObject('a', pinnedTo('n1'))), 'n1');
    assert.equal(pinnedNode(podObject('a')), undefined);
  });
});
