/** Helm charts with Jobs as hooks and as workloads, on a coordinator with hollow hosts. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { findClient } from '../harness/clients/client-binaries.js';
import { createHelm, type Helm } from '../harness/clients/helm.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../harness/clients/kubectl.js';
import { type SimulatedFleet, startSimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

function jobManifest(name: string, annotations: string, code = '0'): string {
  return `
apiVersion: batch/v1
kind: Job
metadata:
  name: "{{ .Release.Name }}-${name}"
  annotations: {${annotations}}
spec:
  backoffLimit: 0
  template:
    metadata:
      annotations: {simulate.everynode.dev/exit-after: 200ms, simulate.everynode.dev/exit-code: "${code}"}
    spec:
      restartPolicy: Never
      containers: [{name: work, image: "work:1"}]
`;
}

function writeChart(directory: string): void {
  mkdirSync(join(directory, 'templates'), { recursive: true });
  const files = {
    'Chart.yaml': 'apiVersion: v2\nname: hooked\nversion: 0.1.0\n',
    'values.yaml': 'code: "0"\n',
    'templates/before.yaml': jobManifest(
      'before',
      '"helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-delete-policy": "before-hook-creation"',
      '{{ .Values.code }}',
    ),
    'templates/after.yaml': jobManifest(
      'after',
      '"helm.sh/hook": "post-install", "helm.sh/hook-delete-policy": "hook-succeeded"',
    ),
    'templates/main.yaml': jobManifest('main', ''),
    'templates/cron.yaml': `
apiVersion: batch/v1
kind: CronJob
metadata: {name: "{{ .Release.Name }}-cron"}
spec:
  schedule: "@yearly"
  jobTemplate: {spec: {template: {spec: {restartPolicy: OnFailure, containers: [{name: work, image: "work:1"}]}}}}
`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
}

for (const name of ['helm-3.17.2', 'helm-4.1.4'] as const) {
  const found = findClient(name);
  const why = 'why' in found ? found.why : whyNoKubectl();
  describe(`Jobs in charts of ${name}`, () => {
    if (why !== undefined || 'why' in found) {
      test('Helm or kubectl is not installed', (context: TestContext) => leaveOut(context, name, why ?? ''));
      return;
    }
    let fleet: SimulatedFleet;
    let helm: Helm;
    let kubectl: Kubectl;
    before(async () => {
      fleet = await startSimulatedFleet(2);
      helm = createHelm(fleet.kubeconfig, found.path);
      kubectl = createKubectl(fleet.kubeconfig);
      writeChart(join(helm.home, 'hooked'));
    });
    after(async () => {
      helm.remove();
      kubectl.remove();
      await fleet.stop();
    });
    const jobs = async () => (await kubectl.ok('get jobs -o name')).split('\n').filter(Boolean);

    test('hooks run, the release waits for its Job, and an upgrade runs the hook again', async () => {
      await helm.ok('install good ./hooked --wait --wait-for-jobs --timeout 60s');
      assert.deepEqual(await jobs(), ['job.batch/good-before', 'job.batch/good-main']);
      assert.match(await kubectl.ok('get job good-main'), /Complete +1\/1/);
      const first = await kubectl.ok('get job good-before -o jsonpath={.metadata.uid}');
      await helm.ok('upgrade good ./hooked --wait --wait-for-jobs --timeout 60s');
      assert.notEqual(await kubectl.ok('get job good-before -o jsonpath={.metadata.uid}'), first);
      await helm.ok('uninstall good --wait --timeout 60s');
      assert.equal(await kubectl.ok('get cronjobs -o name'), '');
    });

    test('a hook that fails stops the installation', async () => {
      const { code, stderr } = await helm.run(
        'install bad ./hooked --set-string code=1 --wait --timeout 60s',
      );
      assert.equal(code, 1);
      assert.match(stderr, /BackoffLimitExceeded|failed pre-install/);
      assert.equal((await jobs()).includes('job.batch/bad-main'), false);
    });
  });
}
