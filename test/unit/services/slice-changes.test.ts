/** Cases of staging/src/k8s.io/endpointslice/reconciler_test.go, and of passes over a part of the slices. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type SliceChanges,
  type SliceInput,
  sliceChanges,
  sliceLabels,
} from '../../../coordinator/decisions/services/slice-changes.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { EndpointSlice } from '../../../shared/kube/services/endpoint-types.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import {
  desiredFor,
  manyPods,
  runningPod,
  serviceObject,
  sliceObject,
  sliceOf,
} from '../../harness/objects/service-builders.js';

const SERVICE = serviceObject();

interface Outcome {
  created: number;
  updated: number;
  removed: number;
  /** Numbers of endpoints of all slices afterwards, sorted. */
  lengths: number[];
}

function changesFor(
  service: Service,
  pods: readonly Pod[],
  existing: readonly EndpointSlice[],
  more: Partial<SliceInput> = {},
): SliceChanges {
  return sliceChanges({ service, existing, spare: [], desired: desiredFor(service, pods), ...more });
}

function outcomeOf(changes: SliceChanges, existing: readonly EndpointSlice[]): Outcome {
  const { create, update, remove } = changes;
  const touched = new Set([...remove, ...update.map(({ slice }) => slice)]);
  const untouched = existing.filter((slice) => !touched.has(slice));
  const contents = [...create, ...update.map(({ content }) => content), ...untouched];
  const lengths = contents.map(({ endpoints }) => endpoints?.length ?? 0).sort((one, other) => one - other);
  return { created: create.length, updated: update.length, removed: remove.length, lengths };
}

function check(
  service: Service,
  pods: readonly Pod[],
  existing: readonly EndpointSlice[],
  expected: Outcome,
): SliceChanges {
  const before = structuredClone(existing);
  const changes = changesFor(service, pods, existing);
  assert.deepEqual(outcomeOf(changes, existing), expected);
  assert.deepEqual(existing, before, 'cached slices are not changed');
  return changes;
}

/** Pods `from`, `from + step` … of the list. */
function each(pods: readonly Pod[], from: number, step: number): Pod[] {
  return pods.slice(0, pods.length - 4).filter((_, index) => index >= from && (index - from) % step === 0);
}

describe('slices of a Service', () => {
  test('250 Pods fill two slices and half of a third', () => {
    check(SERVICE, manyPods(0, 250), [], { created: 3, updated: 0, removed: 0, lengths: [50, 100, 100] });
  });

  test('endpoints beyond whole new slices go to the slice that is then closest to full', () => {
    const pods = manyPods(0, 250);
    const existing = [sliceOf(SERVICE, 'a', each(pods, 1, 4)), sliceOf(SERVICE, 'b', each(pods, 3, 4))];
    assert.deepEqual(
      existing.map(({ endpoints }) => endpoints?.length),
      [62, 61],
    );
    check(SERVICE, pods, existing, { created: 1, updated: 1, removed: 0, lengths: [61, 89, 100] });
  });

  test('endpoints that fit in no slice at once get a new slice', () => {
    const pods = manyPods(0, 300);
    const existing = [sliceOf(SERVICE, 'a', each(pods, 1, 4)), sliceOf(SERVICE, 'b', each(pods, 3, 4))];
    check(SERVICE, pods, existing, { created: 2, updated: 0, removed: 0, lengths: [52, 74, 74, 100] });
  });

  test('a changed port updates the slices instead of replacing them', () => {
    const pods = manyPods(0, 250);
    const existing = [0, 100, 200].map((from) => sliceOf(SERVICE, `s${from}`, pods.slice(from, from + 100)));
    const changed = serviceObject({ ports: [{ port: 80, targetPort: 81 }] });
    const { update } = check(changed, pods, existing, {
      created: 0,
      updated: 3,
      removed: 0,
      lengths: [50, 100, 100],
    });
    assert.deepEqual(update[0]?.content.ports, [{ name: '', port: 81, protocol: 'TCP' }]);
  });

  test('changed labels of the Service are copied to its slices', () => {
    const pods = manyPods(0, 250);
    const existing = [0, 100, 200].map((from) => sliceOf(SERVICE, `s${from}`, pods.slice(from, from + 100)));
    const labelled = serviceObject({}, { labels: { foo: 'bar' } });
    const { update } = check(labelled, pods, existing, {
      created: 0,
      updated: 3,
      removed: 0,
      lengths: [50, 100, 100],
    });
    assert.equal(update[0]?.content.labels.foo, 'bar');
  });

  test('labels of the Service with reserved names change nothing', () => {
    const pods = manyPods(0, 50);
    const labels = {
      'kubernetes.io/service-name': 'bad',
      'endpointslice.kubernetes.io/managed-by': 'actor',
      'service.kubernetes.io/headless': 'invalid',
    };
    const existing = [sliceOf(SERVICE, 'a', pods)];
    check(serviceObject({}, { labels }), pods, existing, {
      created: 0,
      updated: 0,
      removed: 0,
      lengths: [50],
    });
  });

  test('slices with few endpoints are repacked only when all of them change', () => {
    const pods = manyPods(0, 300);
    const existing = Array.from({ length: 10 }, (_, at) =>
      sliceOf(SERVICE, `s${at}`, pods.slice(at * 30, at * 30 + 30)),
    );
    const same = Array.from({ length: 10 }, () => 30);
    check(SERVICE, pods, existing, { created: 0, updated: 0, removed: 0, lengths: same });
    const changed = serviceObject({ ports: [{ port: 80, targetPort: 81 }] });
    check(changed, pods, existing, { created: 0, updated: 3, removed: 7, lengths: [100, 100, 100] });
  });

  test('new endpoints go to the fuller one of the slices that change anyway', () => {
    const pods = [...manyPods(0, 80), ...manyPods(100, 120)].map(({ metadata }) => runningPod(metadata.name));
    const existing = [sliceOf(SERVICE, 'a', pods.slice(0, 80)), sliceOf(SERVICE, 'b', pods.slice(80))];
    const now = pods.map((pod, at) =>
      at % 10 === 0 ? runningPod(pod.metadata.name, { ready: 'False' }) : pod,
    );
    const all = [...now, ...manyPods(200, 215)];
    check(SERVICE, all, existing, { created: 0, updated: 2, removed: 0, lengths: [20, 95] });
  });

  test('slices of another address type are replaced', () => {
    const pods = manyPods(0, 130);
    const existing = [
      { ...sliceOf(SERVICE, 'a', pods.slice(0, 80)), addressType: 'IP' },
      { ...sliceOf(SERVICE, 'b', pods.slice(80)), addressType: 'IP' },
    ];
    check(SERVICE, pods, existing, { created: 2, updated: 0, removed: 2, lengths: [30, 100] });
  });

  test('slices of an earlier Service with the same name are deleted, not updated', () => {
    const pod = [runningPod('pod-1')];
    const old = sliceOf(serviceObject({}, { uid: 'different' }), 'a', pod);
    check(SERVICE, pod, [sliceOf(SERVICE, 'a', pod)], { created: 0, updated: 0, removed: 0, lengths: [1] });
    check(SERVICE, pod, [old], { created: 1, updated: 0, removed: 1, lengths: [1] });
    const oldEmpty = sliceObject(serviceObject({}, { uid: 'different' }), 'a', [], { ports: [] });
    check(SERVICE, [], [oldEmpty], { created: 1, updated: 0, removed: 1, lengths: [0] });
  });

  test('Pods with different numbers of a named port are listed in slices of their own', () => {
    const service = serviceObject({ ports: [{ port: 80, targetPort: 'http' }] });
    const pods = Array.from({ length: 300 }, (_, index) =>
      runningPod(`pod-${index}`, {
        spec: {
          containers: [
            { name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080 + (index % 5) }] },
          ],
        },
      }),
    );
    const changes = check(service, pods, [], {
      created: 5,
      updated: 0,
      removed: 0,
      lengths: [60, 60, 60, 60, 60],
    });
    assert.deepEqual(
      changes.create.map(({ ports }) => ports[0]?.port),
      [8080, 8081, 8082, 8083, 8084],
    );
  });

  for (const [maxEndpoints, lengths] of [
    [50, [50, 50, 50, 50, 50]],
    [80, [10, 80, 80, 80]],
    [150, [100, 150]],
    [250, [250]],
    [500, [250]],
  ] as const)
    test(`250 Pods at ${maxEndpoints} endpoints a slice`, () => {
      const changes = changesFor(SERVICE, manyPods(0, 250), [], { maxEndpoints });
      assert.deepEqual(outcomeOf(changes, []).lengths, lengths);
    });

  test('a Service without Pods has one empty slice, which is kept', () => {
    const empty = sliceObject(SERVICE, 'a', [], { ports: [] });
    check(SERVICE, [], [], { created: 1, updated: 0, removed: 0, lengths: [0] });
    check(SERVICE, [], [empty], { created: 0, updated: 0, removed: 0, lengths: [0] });
    const labelled = { ...empty, metadata: { ...empty.metadata, labels: { bar: 'baz' } } };
    check(SERVICE, [], [labelled], { created: 0, updated: 1, removed: 0, lengths: [0] });
    const second = sliceObject(SERVICE, 'b', [], { ports: [] });
    check(SERVICE, [], [empty, second], { created: 0, updated: 1, removed: 1, lengths: [0] });
  });

  test('the empty slice is used for the first Pod, and the last Pod leaves it empty', () => {
    const empty = sliceObject(SERVICE, 'a', [], { ports: [] });
    check(SERVICE, manyPods(0, 1), [empty], { created: 0, updated: 1, removed: 0, lengths: [1] });
    const full = sliceOf(SERVICE, 'a', manyPods(0, 1));
    const { update } = check(SERVICE, [], [full], { created: 0, updated: 1, removed: 0, lengths: [0] });
    assert.deepEqual(update[0]?.content.ports, []);
  });

  test('a terminating Service gets no new slices', () => {
    const terminating = serviceObject({}, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    check(terminating, manyPods(0, 5), [], { created: 0, updated: 0, removed: 0, lengths: [] });
  });

  test('entries of other writers are removed from the slice', () => {
    const pods = manyPods(0, 2);
    const edited = sliceOf(SERVICE, 'a', pods);
    const foreign = { addresses: ['10.6.6.6'], conditions: { ready: true } };
    const slice = { ...edited, endpoints: [foreign, ...(edited.endpoints ?? [])] };
    check(SERVICE, pods, [slice], { created: 0, updated: 1, removed: 0, lengths: [2] });
  });

  test('a Pod that two slices list stays in the first one', () => {
    const pods = manyPods(0, 2);
    const existing = [sliceOf(SERVICE, 'a', pods), sliceOf(SERVICE, 'b', pods.slice(0, 1))];
    check(SERVICE, pods, existing, { created: 0, updated: 0, removed: 1, lengths: [2] });
  });

  test('the order of ports does not matter', () => {
    const service = serviceObject({
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ],
    });
    const slice = sliceOf(service, 'a', manyPods(0, 2));
    const turned = { ...slice, ports: [...(slice.ports ?? [])].reverse() };
    check(service, manyPods(0, 2), [turned], { created: 0, updated: 0, removed: 0, lengths: [2] });
  });
});

describe('a pass over the slices of changed Pods', () => {
  const pods = manyPods(0, 250);
  const slices = [0, 100, 200].map((from) => sliceOf(SERVICE, `s${from}`, pods.slice(from, from + 100)));
  const [first, second, third] = slices as [EndpointSlice, EndpointSlice, EndpointSlice];

  test('a changed Pod rewrites its slice alone', () => {
    const flapped = [runningPod('pod-1', { ready: 'False' }), ...pods.slice(2, 100), ...pods.slice(0, 1)];
    const { create, update, remove } = changesFor(SERVICE, flapped, [first], { spare: [second, third] });
    assert.deepEqual(
      [create.length, update.map(({ slice }) => slice.metadata.name), remove.length],
      [0, ['s0'], 0],
    );
    assert.equal(update[0]?.content.endpoints[1]?.targetRef?.name, 'pod-1', 'it keeps its place');
  });

  test('a new Pod is added to a spare slice with room', () => {
    const { create, update } = changesFor(SERVICE, manyPods(900, 901), [], { spare: slices });
    assert.deepEqual([create.length, update.map(({ slice }) => slice.metadata.name)], [0, ['s200']]);
    assert.equal(update[0]?.content.endpoints.length, 51);
  });

  test('a slice without Pods is deleted while others list some', () => {
    const { create, update, remove } = changesFor(SERVICE, [], [third], { spare: [first, second] });
    assert.deepEqual([create, update, remove], [[], [], [third]]);
  });

  test('nothing changed', () => {
    const changes = changesFor(SERVICE, [], [], { spare: slices });
    assert.deepEqual(changes, { create: [], update: [], remove: [] });
  });
});

test('labels of a slice: those of the Service, and the controller’s own', () => {
  const own = {
    'kubernetes.io/service-name': 'foo',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  };
  const headless = { 'service.kubernetes.io/headless': '' };
  assert.deepEqual(sliceLabels(SERVICE), own);
  assert.deepEqual(sliceLabels(serviceObject({}, { labels: { foo: 'bar' } })), { ...own, foo: 'bar' });
  assert.deepEqual(sliceLabels(serviceObject({ clusterIP: 'None' }, { labels: { foo: 'bar' } })), {
    ...own,
    ...headless,
    foo: 'bar',
  });
  assert.deepEqual(
    sliceLabels(serviceObject({}, { labels: { ...headless, 'kubernetes.io/service-name': 'x' } })),
    own,
  );
});
