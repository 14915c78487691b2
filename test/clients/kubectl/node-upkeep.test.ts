/**
 * Node maintenance by kubectl: cordon, drain, taint, find out why it is unreachable, delete it. One machine, a hollow
 * engine.
 */
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

const PATIENCE_MS = 60_000;
const soon = (check: () => Promise<void>) => untilPasses(check, PATIENCE_MS);

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
const solo = (name: string) => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: "app:1"}]}
`;

describe('node maintenance', { concurrency: 1 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-upkeep-'));
  const dataDir = join(folder, 'data');
  let up: RunningProgram;
  const agents = () => processesNaming(join(dataDir, 'agent'));
  const kubectlOf = (binary: string) =>
    createKubectl(readFileSync(join(dataDir, 'kubeconfig'), 'utf8'), binary);

  before(async () => {
    const log = join(folder, 'up.log');
    const args = ['up', '--data', dataDir, '--port', String(await freePort()), '--node-name', 'n1'];
    up = startProgram('coordinator/cli/everynode.js', [...args, '--runtime', 'hollow'], log);
    const isReady = () => readFileSync(log, 'utf8').includes('Node n1 is Ready');
    await until(isReady, { timeoutMs: PATIENCE_MS, what: 'the node to be Ready' });
  });
  after(async () => {
    await up.end('SIGTERM');
    for (const pid of agents()) process.kill(pid, 'SIGKILL');
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
        const kubectl = kubectlOf(found.path);
        try {
          await body(kubectl);
        } finally {
          kubectl.remove();
        }
      });
    };

    law(
      'drain keeps DaemonSet Pods and asks for its flags, and uncordon admits Pods again',
      async (kubectl) => {
        await kubectl.ok('apply -f -', `${DAEMON_SET}---${solo('lone')}`);
        await soon(async () => {
          assert.match(await kubectl.ok('get pods'), /lone +1\/1 +Running[\s\S]*web-\w+ +1\/1 +Running/);
        });
        const web = await kubectl.ok('get pods -l app=web -o jsonpath={.items[0].metadata.name}');
        const refused = await kubectl.run(['drain', 'n1']);
        assert.equal(refused.code, 1);
        assert.match(
          refused.stderr,
          new RegExp(
            `cannot delete DaemonSet-managed Pods \\(use --ignore-daemonsets to ignore\\): default/${web}`,
          ),
        );
        assert.match(
          refused.stderr,
          /cannot delete Pods that declare no controller \(use --force to override\): default\/lone/,
        );
        assert.match(
          await kubectl.ok('get nodes'),
          /n1 +Ready,SchedulingDisabled/,
          'cordoned all the same, as upstream',
        );
        const drained = await kubectl.ok('drain n1 --ignore-daemonsets --force --timeout=60s');
        assert.match(drained, /evicting pod default\/lone[\s\S]*pod\/lone evicted[\s\S]*node\/n1 drained/);
        assert.match(await kubectl.ok('get node n1 -o jsonpath={.spec.taints}'), /unschedulable/);
        assert.match(await kubectl.ok('get pods'), new RegExp(`${web} +1/1 +Running`));
        await kubectl.ok('apply -f -', solo('late'));
        await soon(async () => {
          assert.match(await kubectl.ok('get pods late'), /Pending/);
          assert.match(
            await kubectl.ok('get events --field-selector involvedObject.name=late'),
            /FailedScheduling/,
          );
        });
        assert.equal(await kubectl.ok('uncordon n1'), 'node/n1 uncordoned');
        await soon(async () => {
          const events = await kubectl.ok('get events --field-selector involvedObject.name=n1');
          assert.match(events, /Node n1 status is now: NodeNotSchedulable/);
          assert.match(events, /Node n1 status is now: NodeSchedulable/);
        });
        await soon(async () => assert.match(await kubectl.ok('get pods late'), /1\/1 +Running/));
        await kubectl.ok('delete pod late');
      },
    );

    law(
      'a NoExecute taint removes Pods that do not tolerate it, and a label moves DaemonSet Pods',
      async (kubectl) => {
        await kubectl.ok('apply -f -', solo('lone'));
        await soon(async () => assert.match(await kubectl.ok('get pods lone'), /1\/1 +Running/));
        assert.equal(await kubectl.ok('taint node n1 service=yes:NoExecute'), 'node/n1 tainted');
        await soon(async () => assert.equal(await kubectl.ok('get pods -o name'), ''));
        assert.equal(await kubectl.ok('taint node n1 service-'), 'node/n1 untainted');
        await soon(async () => assert.match(await kubectl.ok('get ds web'), /web +1 +1 +1 +1 +1/));
        const selector = '{"spec":{"template":{"spec":{"nodeSelector":{"shelf":"top"}}}}}';
        await kubectl.run(['patch', 'ds', 'web', '--type=merge', '-p', selector]);
        await soon(async () => assert.match(await kubectl.ok('get ds web'), /web +0 +0 +0/));
        assert.equal(await kubectl.ok('label node n1 shelf=top'), 'node/n1 labeled');
        await soon(async () => assert.match(await kubectl.ok('get ds web'), /web +1 +1 +1 +1 +1/));
        assert.equal(await kubectl.ok('label node n1 shelf-'), 'node/n1 unlabeled');
        await soon(async () => assert.match(await kubectl.ok('get ds web'), /web +0 +0 +0/));
        await kubectl.ok('delete ds web');
        await soon(async () => assert.equal(await kubectl.ok('get pods -o name'), ''));
      },
    );
  }

  test('a crashed agent is reported as a crash, and a grace period of a day is accepted', async (context) => {
    const found = findClient(KUBECTLS[0]);
    if ('why' in found) {
      leaveOut(context, KUBECTLS[0], found.why);
      return;
    }
    const kubectl = kubectlOf(found.path);
    try {
      const wrong = await kubectl.run(['annotate', 'node', 'n1', 'fleet.everynode.dev/grace-period=soon']);
      assert.match(wrong.stderr, /Invalid value: "soon": must be a duration from 1s to 576h/);
      await kubectl.ok('annotate node n1 fleet.everynode.dev/grace-period=36h');
      await soon(async () => {
        const seconds = 'get lease n1 -n kube-node-lease -o jsonpath={.spec.leaseDurationSeconds}';
        assert.equal(await kubectl.ok(seconds), '129600');
      });
      for (const pid of agents()) process.kill(pid, 'SIGKILL');
      await soon(async () => {
        const events = await kubectl.ok('get events --field-selector involvedObject.name=n1');
        assert.match(events, /AgentCrashed +node\/n1 +The agent crashed or was killed/);
        assert.match(events, /NodeReady/);
        assert.match(events, /NodeHasSufficientMemory/);
      });
      await soon(async () => assert.match(await kubectl.ok('get hosts'), /n1 +Ready/));
      assert.match(await kubectl.ok('describe node n1'), /ClockSkewed +False[\s\S]*Connected +True/);
      await kubectl.ok('delete node n1');
      await soon(async () => assert.equal(await kubectl.ok('get nodes -o name'), ''));
    } finally {
      kubectl.remove();
    }
  });
});
