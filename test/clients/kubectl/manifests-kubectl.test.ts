/** Whole manifests with definitions, their pruning by `kubectl apply --prune`, and `kubectl cluster-info dump`. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../../harness/clients/kubectl.js';
import { runManifestLife } from '../../harness/clients/manifest-life.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

const SHAPES = resolve(import.meta.dirname, '../../../../test/fixtures/network-plugin-shapes.yaml');
const DEFINITION = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gauges.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gauges', singular: 'gauge', kind: 'Gauge' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

function applied(apiVersion: string, kind: string, name: string): object {
  return { apiVersion, kind, metadata: { name, namespace: 'default', labels: { app: 'pruned' } } };
}

describe('manifests', () => {
  const why = whyNoKubectl();
  if (why !== undefined) {
    test('kubectl is not installed', (context: TestContext) => leaveOut(context, 'kubectl', why));
    return;
  }
  let coordinator: CoordinatorProcess;
  let kubectl: Kubectl;

  before(async () => {
    coordinator = await startCoordinatorProcess(join(temporaryDirectory(), 'c'));
    kubectl = createKubectl(coordinator.kubeconfig);
    await kubectl.ok('apply -f -', DEFINITION);
    await kubectl.ok('wait --for=condition=established crd/gauges.example.com --timeout=10s');
  });
  after(async () => {
    kubectl.remove();
    await coordinator.end('SIGTERM');
  });

  test('a manifest is applied twice without differences, by client and server, and deleted', async () => {
    assert.equal(await runManifestLife(kubectl, SHAPES), undefined);
  });

  test('apply --prune deletes custom resources of the allowlist that the manifest lacks', async () => {
    const items = ['a', 'b'].flatMap((name) => [
      applied('example.com/v1', 'Gauge', name),
      applied('v1', 'ConfigMap', name),
    ]);
    const list = (objects: object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    await kubectl.ok('apply -f -', list(items));
    const prune =
      'apply --prune -l app=pruned --prune-allowlist=example.com/v1/Gauge --prune-allowlist=core/v1/ConfigMap -f -';
    const printed = await kubectl.ok(prune, list(items.slice(0, 2)));
    assert.match(printed, /gauge\.example\.com\/b pruned/);
    assert.match(printed, /configmap\/b pruned/);
    assert.equal(
      await kubectl.ok('get gauges,configmaps -l app=pruned -o name'),
      'gauge.example.com/a\nconfigmap/a',
    );
    // Without an allowlist, kubectl prunes its own list of kinds, some of which have no objects here.
    assert.match(
      await kubectl.ok('apply --prune -l app=pruned -f -', list(items.slice(0, 1))),
      /configmap\/a pruned/,
    );
  });

  test('cluster-info dump writes the objects of all namespaces', async () => {
    const directory = join(temporaryDirectory(), 'dump');
    await kubectl.ok(`cluster-info dump -A --output-directory=${directory}`);
    assert.ok(existsSync(join(directory, 'nodes.json')));
    const files = readdirSync(join(directory, 'kube-system'));
    for (const kind of ['daemonsets', 'deployments', 'events', 'pods', 'replicasets', 'services'])
      assert.ok(files.includes(`${kind}.json`), `${kind} of ${files}`);
  });
});
