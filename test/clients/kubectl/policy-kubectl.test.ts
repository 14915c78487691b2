/** kubectl with budgets, quotas, limits, and kinds that are stored without effect. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { until, untilPasses } from '../../harness/basics/wait-until.js';
import { findClient } from '../../harness/clients/client-binaries.js';
import { KUBECTLS } from '../../harness/clients/each-kubectl.js';
import { createKubectl, type Kubectl } from '../../harness/clients/kubectl.js';
import {
  processesNaming,
  type RunningProgram,
  startProgram,
} from '../../harness/processes/everynode-processes.js';

const TIMEOUT_MS = 60_000;
const soon = (check: () => Promise<void>) => untilPasses(check, TIMEOUT_MS);

const pod = (name: string) => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: web}}
spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: "app:1"}]}
`;

const DAEMON_SET = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: "app:1"}]}
`;
const ROLLOUT_POLICY = `
apiVersion: fleet.everynode.dev/v1
kind: RolloutPolicy
metadata: {name: fleet}
spec:
  selector: {}
  failureBudget: {maxFailed: 0, progressDeadlineSeconds: 120, action: Pause}
`;
const LIMITS = `
apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec: {limits: [{type: Container, max: {cpu: "2"}, defaultRequest: {cpu: 100m}}]}
`;
const LARGE = JSON.stringify({
  spec: { containers: [{ name: 'p', image: 'app:1', resources: { limits: { cpu: '3' } } }] },
});
const NETWORK_POLICY = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: deny}
spec: {podSelector: {}}
`;
const INERT = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  ingressClassName: nginx
  rules: [{host: a.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 3}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: example.com/fast}
---
{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: csi.example.com}, spec: {}}
---
{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}, spec: {controller: k8s.io/ingress-nginx}}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: nvidia}, handler: nvidia}
`;

describe('policies', { concurrency: 1 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-policy-'));
  const dataDir = join(folder, 'data');
  let up: RunningProgram;

  before(async () => {
    const log = join(folder, 'up.log');
    const args = ['up', '--data', dataDir, '--port', String(await freePort()), '--node-name', 'n1'];
    up = startProgram('coordinator/cli/everynode.js', [...args, '--runtime', 'hollow'], log);
    const isReady = () => readFileSync(log, 'utf8').includes('Node n1 is Ready');
    await until(isReady, { timeoutMs: TIMEOUT_MS, what: 'the node to be Ready' });
  });
  after(async () => {
    await up.end('SIGTERM');
    for (const pid of processesNaming(join(dataDir, 'agent'))) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  for (const name of KUBECTLS) {
    const law = (what: string, body: (kubectl: Kubectl) => Promise<void>): void => {
      test(`${what}, by ${name}`, async (context) => {
        const found = findClient(name);
        if ('why' in found) {
          leaveOut(context, name, found.why);
          return;
        }
        const kubectl = createKubectl(readFileSync(join(dataDir, 'kubeconfig'), 'utf8'), found.path);
        try {
          await body(kubectl);
        } finally {
          kubectl.remove();
        }
      });
    };

    law('wait sees a rollout become Ready, and Stalled when it fails', async (kubectl) => {
      await kubectl.ok('apply -f -', `${ROLLOUT_POLICY}---${DAEMON_SET}`);
      const ready = 'wait rollout/web --for=condition=Ready --timeout=60s';
      await soon(async () => assert.match(await kubectl.ok(ready), /condition met/));
      await kubectl.ok('wait ds/web --for=condition=Ready --timeout=60s');
      // An image that never becomes ready: the rollout must not complete before it is aborted.
      await kubectl.ok('set image ds/web app=app:broken');
      await kubectl.ok('wait rollout/web --for=condition=Reconciling --timeout=60s');
      await kubectl.ok('annotate rollout web fleet.everynode.dev/abort=broken');
      await kubectl.ok('wait rollout/web --for=condition=Stalled --timeout=60s');
      await kubectl.ok('wait ds/web --for=condition=Stalled --timeout=60s');
      const types = 'get rollout web -o jsonpath={.status.conditions[*].type}';
      assert.equal(await kubectl.ok(types), 'Ready Reconciling Stalled');
      const generations = 'get rollout web -o jsonpath={.metadata.generation},{.status.observedGeneration}';
      assert.equal(await kubectl.ok(generations), '2,2');
      await kubectl.ok('set image ds/web app=app:1');
      await kubectl.ok('wait rollout/web --for=condition=Ready --timeout=60s');
      await kubectl.ok('delete rolloutpolicy fleet');
      await soon(async () =>
        assert.equal(await kubectl.ok('get ds web -o jsonpath={.status.conditions}'), ''),
      );
      await kubectl.ok('delete ds web');
    });

    law(
      'a quota refuses what exceeds it, also for a DaemonSet, and describe shows the usage',
      async (kubectl) => {
        await kubectl.ok('create namespace team');
        await kubectl.ok('create quota q -n team --hard=pods=1,count/configmaps=2,requests.cpu=1');
        await soon(async () => {
          const listed = await kubectl.ok('get quota q -n team');
          assert.match(
            listed,
            /^NAME +REQUEST +LIMIT +AGE\nq +count\/configmaps: 1\/2, pods: 0\/1, requests\.cpu: 0\/1 /,
          );
        });
        await kubectl.ok('create configmap a -n team');
        const refused = await kubectl.run(['create', 'configmap', 'b', '-n', 'team']);
        assert.match(
          refused.stderr,
          /configmaps "b" is forbidden: exceeded quota: q, requested: count\/configmaps=1, used: count\/configmaps=2, limited: count\/configmaps=2/,
        );
        await kubectl.ok('apply -n team -f -', DAEMON_SET);
        await soon(async () => {
          const events = await kubectl.ok('get events -n team --field-selector reason=FailedCreate');
          assert.match(events, /is forbidden: failed quota: q: must specify requests\.cpu for: app/);
        });
        await kubectl.ok('apply -n team -f -', LIMITS);
        await soon(async () => assert.match(await kubectl.ok('get ds web -n team'), /web +1 +1 +1/));
        await soon(async () => {
          assert.match(await kubectl.ok('describe quota q -n team'), /pods +1 +1\nrequests\.cpu +100m +1/);
        });
        assert.match(await kubectl.ok('describe limits limits -n team'), /Container +cpu +- +2 +100m +2/);
        const large = await kubectl.run(['run', 'p', '-n', 'team', '--image=app:1', `--overrides=${LARGE}`]);
        assert.match(large.stderr, /maximum cpu usage per Container is 2, but limit is 3/);
        await kubectl.ok('delete namespace team --timeout=60s');
      },
    );

    law('kinds without effect are stored with a warning, and read back in columns', async (kubectl) => {
      const applied = await kubectl.run(['apply', '-f', '-'], INERT);
      assert.equal(applied.code, 0, applied.stderr);
      assert.match(
        applied.stderr,
        /Warning: PersistentVolumeClaim: Everynode provisions and binds no volumes/,
      );
      assert.match(applied.stderr, /Warning: Ingress: Everynode routes no traffic for it/);
      assert.match(await kubectl.ok('get pvc data'), /data +Pending/);
      assert.match(await kubectl.ok('get ingress web'), /web +nginx +a\.example/);
      assert.match(await kubectl.ok('describe ingress web'), /a\.example/);
      assert.match(await kubectl.ok('describe pvc data'), /Status: +Pending/);
      assert.match(await kubectl.ok('get hpa web'), /web +Deployment\/web +<unknown> +1 +3 +0/);
      assert.match(
        await kubectl.ok('get sc,csidriver,ingressclass,runtimeclass'),
        /storageclass.storage.k8s.io\/fast/,
      );
      assert.match(await kubectl.ok('explain hpa.spec.maxReplicas'), /maxReplicas/);
      assert.equal(
        (await kubectl.run(['apply', '-f', '-'], INERT)).code,
        0,
        'a second apply changes nothing',
      );
      const policy = await kubectl.run(['apply', '-f', '-'], NETWORK_POLICY);
      assert.match(policy.stderr, /Everynode does not support NetworkPolicies: hosts would not enforce it/);
      await kubectl.ok('create ingress simple --rule=b.example/*=web:80');
      assert.match(await kubectl.ok('get ingress simple'), /simple +<none> +b\.example/);
      await kubectl.ok('delete -f -', INERT);
      await kubectl.ok('delete ingress simple');
    });

    law('a budget blocks drain, which continues when the budget allows it', async (kubectl) => {
      await kubectl.ok('apply -f -', `${pod('a')}---${pod('b')}`);
      await soon(async () =>
        assert.match(await kubectl.ok('get pods'), /a +1\/1 +Running[\s\S]*b +1\/1 +Running/),
      );
      await kubectl.ok('create pdb web --selector=app=web --min-available=2');
      await soon(async () => assert.match(await kubectl.ok('get pdb'), /web +2 +N\/A +0 +\d+s/));
      const described = await kubectl.ok('describe pdb web');
      assert.match(described, /Allowed disruptions: +0[\s\S]*Current: +2[\s\S]*Desired: +2[\s\S]*Total: +2/);
      const blocked = await kubectl.run(['drain', 'n1', '--force', '--timeout=3s']);
      assert.notEqual(blocked.code, 0);
      assert.match(
        blocked.stderr,
        /\(will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\./,
      );
      const patch = '{"spec":{"minAvailable":0}}';
      await kubectl.ok(`patch pdb web --type=merge -p ${patch}`);
      await soon(async () => assert.match(await kubectl.ok('get pdb'), /web +0 +N\/A +2/));
      assert.match(
        await kubectl.ok('drain n1 --force --timeout=60s'),
        /pod\/a evicted[\s\S]*node\/n1 drained|pod\/b evicted[\s\S]*node\/n1 drained/,
      );
      await kubectl.ok('uncordon n1');
      await kubectl.ok('delete pdb web');
    });
  }
});
