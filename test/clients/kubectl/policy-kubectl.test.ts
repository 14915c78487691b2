/** kubectl with PodDisruptionBudgets: create, get, describe, and a drain that a budget blocks. */
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
