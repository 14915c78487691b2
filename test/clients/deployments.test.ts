/** kubectl and Helm, unmodified, with Deployments on a coordinator with hollow hosts. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { ConformanceFleet } from '../conformance/scenarios/conformance-fleet.js';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { findClient } from '../harness/clients/client-binaries.js';
import { createHelm } from '../harness/clients/helm.js';

const WEB = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: "web:1"}]}
`;

const BUDGET = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
`;

const CHART = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: 2
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: "chart:{{ .Values.tag }}"}]}
`;

describe('a Deployment', () => {
  let fleet: ConformanceFleet;
  before(async () => {
    const node = (name: string) => ({ name, labels: {}, taints: [] });
    fleet = await ConformanceFleet.start({ nodes: [node('h1'), node('h2')], unreadyImages: [] });
  });
  after(() => fleet.stop());
  const status = () => fleet.kubectl.ok('rollout status deployment/web --timeout=60s');
  const image = () =>
    fleet.kubectl.ok(
      'get rs -l app=web -o jsonpath={.items[?(@.status.readyReplicas==4)].spec.template.spec.containers[0].image}',
    );

  test('is rolled out, spread over the hosts, and shown by kubectl get', async () => {
    await fleet.kubectl.ok('apply -f -', WEB);
    assert.match(await status(), /successfully rolled out/);
    const nodes = await fleet.kubectl.ok('get pods -l app=web -o jsonpath={.items[*].spec.nodeName}');
    assert.deepEqual(nodes.split(' ').sort(), ['h1', 'h1', 'h2', 'h2']);
    assert.match(await fleet.kubectl.ok('get deploy web -o wide'), /web +4\/4 +4 +4 .*main +web:1 +app=web/);
    assert.match(await fleet.kubectl.ok('get rs -l app=web'), /web-\w+ +4 +4 +4/);
    const events = await fleet.kubectl.ok('get events --field-selector reason=ScalingReplicaSet');
    assert.match(events, /Scaled up replica set web-\w+ from 0 to 4/);
  });

  test('is updated, undone, restarted, paused and resumed by kubectl rollout', async () => {
    await fleet.kubectl.ok('set image deployment/web main=web:2');
    await status();
    assert.equal(await image(), 'web:2');
    assert.match(await fleet.kubectl.ok('rollout history deployment/web'), /^1 .*\n2 /m);
    await fleet.kubectl.ok('rollout undo deployment/web');
    await status();
    assert.equal(await image(), 'web:1');
    assert.match(await fleet.kubectl.ok('rollout history deployment/web'), /^2 .*\n3 /m);
    await fleet.kubectl.ok('rollout pause deployment/web');
    await fleet.kubectl.ok('set image deployment/web main=web:3');
    await fleet.kubectl.ok(
      'wait deployment/web --for=jsonpath={.status.conditions[?(@.type=="Progressing")].reason}=DeploymentPaused --timeout=30s',
    );
    await fleet.kubectl.ok('rollout resume deployment/web');
    await status();
    await fleet.kubectl.ok('rollout restart deployment/web');
    await status();
  });

  test('is applied from RollingUpdate to Recreate and back', async () => {
    const strategy = (text: string) => WEB.replace('replicas: 4', `replicas: 4\n  strategy: ${text}`);
    const type = () => fleet.kubectl.ok('get deploy web -o jsonpath={.spec.strategy}');
    await fleet.kubectl.ok('apply -f -', strategy('{type: RollingUpdate, rollingUpdate: {maxSurge: 1}}'));
    await fleet.kubectl.ok('apply -f -', strategy('{type: Recreate}'));
    assert.equal(await type(), '{"type":"Recreate"}');
    await fleet.kubectl.ok('apply -f -', strategy('{type: RollingUpdate}'));
    assert.match(await type(), /"maxSurge":"25%"/);
    await status();
  });

  test('with a PodDisruptionBudget keeps enough Pods while kubectl drains a host', async () => {
    await fleet.kubectl.ok('apply -f -', BUDGET);
    await fleet.kubectl.ok('wait pdb/web --for=jsonpath={.status.disruptionsAllowed}=1 --timeout=30s');
    assert.equal(await fleet.kubectl.ok('get pdb web -o jsonpath={.status.expectedPods}'), '4');
    await fleet.kubectl.ok('cordon h2');
    const blocked = await fleet.kubectl.run(['drain', 'h1', '--timeout=8s']);
    assert.notEqual(blocked.code, 0);
    assert.match(blocked.stderr, /Cannot evict pod as it would violate the pod's disruption budget/);
    const ready = () => fleet.kubectl.ok('get deploy web -o jsonpath={.status.readyReplicas}');
    assert.equal(await ready(), '3');
    await fleet.kubectl.ok('uncordon h2');
    await fleet.kubectl.ok('drain h1 --timeout=60s');
    await status();
    const nodes = await fleet.kubectl.ok('get pods -l app=web -o jsonpath={.items[*].spec.nodeName}');
    assert.deepEqual([...new Set(nodes.split(' '))], ['h2']);
    await fleet.kubectl.ok('uncordon h1');
    await fleet.kubectl.ok('delete pdb web');
  });

  test('is scaled by kubectl scale, and its Pods end with it', async () => {
    await fleet.kubectl.ok('scale deployment/web --replicas=1');
    await fleet.kubectl.ok('wait deployment/web --for=jsonpath={.status.replicas}=1 --timeout=60s');
    await fleet.kubectl.ok('delete deployment web --cascade=foreground --timeout=60s');
    assert.equal(await fleet.kubectl.ok('get rs,pods -l app=web -o name'), '');
  });

  for (const name of ['helm-3.17.2', 'helm-4.1.4'] as const) {
    test(`in a chart is installed, upgraded, rolled back and uninstalled by ${name}`, async (context: TestContext) => {
      const found = findClient(name);
      if ('why' in found) return leaveOut(context, name, found.why);
      const helm = createHelm(fleet.kubeconfig, found.path);
      try {
        mkdirSync(join(helm.home, 'web/templates'), { recursive: true });
        writeFileSync(join(helm.home, 'web/Chart.yaml'), 'apiVersion: v2\nname: web\nversion: 0.1.0\n');
        writeFileSync(join(helm.home, 'web/values.yaml'), 'tag: 1\n');
        writeFileSync(join(helm.home, 'web/templates/deployment.yaml'), CHART);
        await helm.ok('install rel ./web --wait --timeout 60s');
        await helm.ok('upgrade rel ./web --set tag=2 --wait --timeout 60s');
        await helm.ok('rollback rel 1 --wait --timeout 60s');
        const path = 'jsonpath={.spec.template.spec.containers[0].image}';
        assert.equal(await fleet.kubectl.ok(`get deployment rel -o ${path}`), 'chart:1');
        await helm.ok('uninstall rel --wait --timeout 60s');
        assert.equal(await fleet.kubectl.ok('get deployment -o name'), '');
      } finally {
        helm.remove();
      }
    });
  }
});
