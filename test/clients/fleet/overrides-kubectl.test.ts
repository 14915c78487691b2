/** kubectl and everynode with DaemonSetOverrides: a real coordinator and agents with a hollow engine. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  runEverynode,
  startProgram,
} from '../../harness/processes/everynode-processes.js';

const TIMEOUT_MS = 60_000;
const soon = (check: () => Promise<void>) => untilPasses(check, TIMEOUT_MS);

const DAEMON_SET = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: till}
spec:
  selector: {matchLabels: {app: till}}
  template:
    metadata: {labels: {app: till}}
    spec:
      terminationGracePeriodSeconds: 1
      volumes: [{name: data, emptyDir: {}}]
      containers:
      - name: till
        image: app:1
        env: [{name: MODE, value: plain}]
        resources: {requests: {memory: 16Mi}}
        volumeMounts: [{name: data, mountPath: /data}]
`;
const override = (name: string, changes: string, priority = 0) => `
apiVersion: fleet.everynode.dev/v1
kind: DaemonSetOverride
metadata: {name: ${name}}
spec:
  daemonSetName: till
  priority: ${priority}
  nodeSelector: {matchLabels: {size: big}}
${changes}
`;
const BIG = `
  containers:
  - name: till
    image: app:big
    resources: {limits: {memory: 64Mi}}
    env: [{name: MODE, value: big}, {name: ADDED, value: "1"}]
  volumes: [{name: data, hostPath: {path: /srv/data}}]
`;
const RIVAL = '  containers: [{name: till, image: "app:rival"}]';
const SHOWN =
  'jsonpath={range .items[*]}{.spec.nodeName} {.spec.containers[0].image} {.spec.containers[0].env[*].value} {.spec.containers[0].resources.limits.memory} {.spec.volumes[0].hostPath.path}{"\\n"}{end}';

describe('overrides of a DaemonSet', { concurrency: 1 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-overrides-'));
  const dataDir = join(folder, 'data');
  const env = { KUBECONFIG: join(dataDir, 'kubeconfig') };
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
        const kubectl = createKubectl(readFileSync(env.KUBECONFIG, 'utf8'), found.path);
        try {
          await body(kubectl);
        } finally {
          kubectl.remove();
        }
      });
    };

    law('explain describes the kind, and mistakes are named with their field', async (kubectl) => {
      assert.match(await kubectl.ok('explain dso.spec.containers'), /image\t<string>.*resources\t</s);
      for (const [changes, error] of [
        ['  containers: [{name: till, command: [sh]}]', /unknown field "spec.containers\[0\].command"/],
        [
          '  containers: [{name: till}]',
          /spec\.containers\[0\]: Required value: must set image, resources or env/,
        ],
        ['  volumes: [{name: data}]', /spec\.volumes\[0\]: Required value: must specify a volume type/],
      ] as const) {
        const { code, stderr } = await kubectl.run(['apply', '-f', '-'], override('bad', changes));
        assert.notEqual(code, 0);
        assert.match(stderr, error);
      }
    });

    law('a Pod is overridden by the label of its host, and reverted with the override', async (kubectl) => {
      const shows = (expected: string) =>
        soon(async () =>
          assert.equal((await kubectl.run(['get', 'pods', '-o', SHOWN])).stdout.trim(), expected),
        );
      await kubectl.ok('apply -f -', DAEMON_SET);
      await kubectl.ok('rollout status ds/till --timeout=60s');
      await kubectl.ok('label node n1 size=big');
      const file = join(folder, 'big.yaml');
      writeFileSync(file, override('big', BIG));
      const plan = await runEverynode(['plan', '-f', file], env);
      assert.equal(plan.code, 2, plan.stderr);
      assert.match(
        plan.stdout,
        /1 +1 +till=app:big +n1 .*containers\[till\]\.env\[MODE\]=big \(DaemonSetOverride big\)/,
      );
      await kubectl.ok('apply -f -', override('big', BIG));
      await shows('n1 app:big big 1 64Mi /srv/data');
      await kubectl.ok('rollout status ds/till --timeout=60s');
      assert.match(
        await kubectl.ok('get dso'),
        /big +till +0 +size=big +till.image,till.resources,till.env,volumes.data/,
      );
      const why = await runEverynode(['why', 'ds/till', 'node/n1'], env);
      assert.match(why.stdout, /containers\[till\]\.image +app:big +DaemonSetOverride big/);
      await kubectl.ok('apply -f -', override('rival', RIVAL));
      await soon(async () => {
        const events = await kubectl.ok('get events --field-selector reason=FailedCreate');
        assert.match(events, /DaemonSetOverrides big and rival have the same priority and different values/);
      });
      await shows('n1 app:big big 1 64Mi /srv/data');
      await kubectl.ok('apply -f -', override('rival', RIVAL, 1));
      await shows('n1 app:rival big 1 64Mi /srv/data');
      await kubectl.ok('delete dso --all');
      await shows('n1 app:1 plain');
      await kubectl.ok('delete ds till');
      await kubectl.ok('label node n1 size-');
      await kubectl.ok('delete events --all');
      await soon(async () => assert.equal(await kubectl.ok('get pods -o name'), ''));
    });
  }
});
