/** Eligibility of a node while its Pods have another revision than the current one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type NodeReader,
  observeNode,
} from '../../../coordinator/controllers/daemonsets/daemonset-node-view.js';
import { type DaemonSet, REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node, Taint } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

const LABELS = { app: 'web' };
const CURRENT = { hash: 'new', templateGeneration: undefined };

/** A DaemonSet for the nodes of this zone, or for all. */
function daemonSet(zone?: string): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'web', namespace: 'default', uid: 'web' },
    spec: {
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: { containers: [], ...(zone && { nodeSelector: { zone } }) },
      },
    },
  } as unknown as DaemonSet;
}

/** A node without a zone and with one Pod of this revision. */
function reader(hash: string, leaving = {}, taints: Taint[] = []): NodeReader {
  const node = {
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'n1' } },
    spec: { taints },
  } as Node;
  const pod = {
    metadata: {
      ...{
        name: 'web-1',
        namespace: 'default',
        uid: 'web-1',
        labels: { ...LABELS, [REVISION_HASH_LABEL]: hash },
      },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'web', uid: 'web', controller: true },
      ],
      ...leaving,
    },
    spec: { nodeName: 'n1', containers: [] },
  } as unknown as Pod;
  return {
    nodes: { get: () => node, list: () => [node] },
    pods: { indexed: () => [pod] },
    daemonSetOverrides: { indexed: () => [], onChange: () => undefined },
    hostValues: { indexed: () => [], onChange: () => undefined },
  };
}

/** Returns true if its Pod may stay although the current revision may not run there. */
const mayStay = (pods: NodeReader, pinnedTo?: DaemonSet) =>
  observeNode(pods, daemonSet('a'), CURRENT, 'n1', { pinnedTo }).node.shouldContinueRunning;

test('a node keeps the Pod that its pinned revision allows', () => {
  assert.equal(mayStay(reader('old'), daemonSet()), true);
  assert.equal(mayStay(reader('old'), daemonSet('b')), false);
  assert.equal(mayStay(reader('old')), false);
});

test('a node keeps no Pod of the current revision that may not run there: once available it would not be checked again', () => {
  assert.equal(mayStay(reader('new'), daemonSet()), false);
  assert.equal(mayStay(reader('new', { deletionTimestamp: '2026-01-01T00:00:00Z' }), daemonSet()), true);
});

/** Returns the DaemonSet with a value that no host has. */
function withValue(zone?: string): DaemonSet {
  const { spec, ...others } = daemonSet(zone);
  const env = [{ name: 'STORE', valueFrom: { fieldRef: { fieldPath: "hostValues['store']" } } }];
  const containers = [{ name: 'app', image: 'app:1', env }];
  const template = { ...spec.template, spec: { ...spec.template.spec, containers } };
  return { ...others, spec: { ...spec, template } };
}

test('a Pod that the current template removes from its node does not wait for a value', () => {
  const refusalOf = (zone?: string) =>
    observeNode(reader('old'), withValue(zone), CURRENT, 'n1', { pinnedTo: daemonSet() }).node.updateRefusal;
  assert.match(refusalOf() ?? '', /no value for hostValues\['store'\]/);
  assert.equal(refusalOf('a'), undefined);
});

test('a node is eligible on its return if only its outage keeps Pods away', () => {
  const outage: Taint[] = ['unreachable', 'not-ready'].map((name) => ({
    ...{ key: `node.kubernetes.io/${name}`, effect: 'NoSchedule' },
  }));
  const other: Taint = { key: 'gpu', effect: 'NoSchedule' };
  const observed = (taints: Taint[], zone?: string) => {
    const { node } = observeNode(reader('old', {}, taints), daemonSet(zone), CURRENT, 'n1');
    return [node.shouldRun, node.isEligibleOnReturn === true];
  };
  assert.deepEqual(observed([]), [true, false]);
  for (const taint of outage) assert.deepEqual(observed([taint]), [false, true], taint.key);
  assert.deepEqual(observed([...outage, other]), [false, false]);
  assert.deepEqual(observed([other]), [false, false]);
  assert.deepEqual(observed(outage, 'a'), [false, false]);
});

test('a node is blocked while a Pod of its pinned revision alone cannot be rendered', () => {
  const isBlocked = (current: DaemonSet, pinnedTo?: DaemonSet) =>
    observeNode(reader('old'), current, CURRENT, 'n1', { pinnedTo }).node.isBlocked === true;
  assert.equal(isBlocked(daemonSet(), withValue()), true);
  assert.equal(isBlocked(withValue(), withValue()), false, 'the next Pod lacks the value too');
  assert.equal(isBlocked(withValue()), false);
  assert.equal(isBlocked(daemonSet(), daemonSet()), false);
  assert.equal(isBlocked(daemonSet('a'), withValue()), false, 'the current template runs elsewhere');
});
