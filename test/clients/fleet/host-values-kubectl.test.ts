/** kubectl with HostValues: explain, list, missing values, and the Pods of a real coordinator and agent. */
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
    metadata:
      labels: {app: till}
      annotations: {resources.fleet.everynode.dev/till.limits.memory: till-memory}
    spec:
      terminationGracePeriodSeconds: 1
      volumes:
      - name: host
        downwardAPI: {items: [{path: site, fieldRef: {fieldPath: "node.metadata.labels['site']"}}]}
      containers:
      - name: till
        image: "app:$(VERSION)"
        args: ["--store=$(STORE)"]
        resources: {limits: {memory: 64Mi}}
        volumeMounts: [{name: host, mountPath: /host}]
        env:
        - {name: STORE, valueFrom: {fieldRef: {fieldPath: "hostValues['store']"}}}
        - {name: VERSION, valueFrom: {fieldRef: {fieldPath: "hostValues['till-version']"}}}
`;
const values = (store: string) => `
apiVersion: fleet.everynode.dev/v1
kind: HostValues
metadata: {name: defaults}
spec: {priority: -1, values: {till-version: "1", till-memory: 128Mi}}
---
apiVersion: fleet.everynode.dev/v1
kind: HostValues
metadata: {name: stores}
spec: {hosts: {n1: {store: "${store}"}, n2: {store: "2"}}}
`;
const ANNOTATION = 'jsonpath={.items[*].metadata.annotations.fleet\\.everynode\\.dev/host-values}';

describe('values of hosts', { concurrency: 1 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-values-'));
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

    law('explain describes the kind and the forms of fieldPath', async (kubectl) => {
      assert.match(await kubectl.ok('explain hostvalues.spec'), /hosts\t<map.*priority\t<integer>/s);
      const path = 'explain ds.spec.template.spec.containers.env.valueFrom.fieldRef.fieldPath';
      assert.match(await kubectl.ok(path), /node\.metadata\.labels\['KEY'\]/);
    });

    law(
      'a Pod starts with the values of its host once it has all, and a changed one replaces it',
      async (kubectl) => {
        await kubectl.ok('apply -f -', DAEMON_SET);
        await soon(async () => {
          const events = await kubectl.ok('get events --field-selector reason=FailedCreate');
          assert.match(events, /node n1 has no value for hostValues\['store'\]/);
        });
        assert.equal(await kubectl.ok('get pods -o name'), '');
        const wrong = await kubectl.run(['apply', '-f', '-'], values('1').replace('"1"', '1'));
        assert.notEqual(wrong.code, 0, 'a number is no text');
        await kubectl.ok('label node n1 site=kiel');
        await kubectl.ok('apply -f -', values('4711'));
        await kubectl.ok('rollout status ds/till --timeout=60s');
        const text = await kubectl.ok(`get pods -l app=till -o ${ANNOTATION}`);
        assert.deepEqual(JSON.parse(text), {
          "hostValues['store']": '4711',
          "hostValues['till-memory']": '128Mi',
          "hostValues['till-version']": '1',
          "node.metadata.labels['site']": 'kiel',
        });
        const rendered =
          'jsonpath={.items[*].spec.containers[0].image},{.items[*].spec.containers[0].resources.limits.memory}';
        assert.equal(await kubectl.ok(`get pods -l app=till -o ${rendered}`), 'app:1,128Mi');
        assert.match(await kubectl.ok('get hostvalues'), /stores +0 +<none> +2 +store /);
        const before = await kubectl.ok('get pods -l app=till -o name');
        await kubectl.ok('apply -f -', values('4712'));
        await soon(async () => {
          const shown = await kubectl.ok(`get pods -l app=till -o ${ANNOTATION}`);
          assert.match(shown, /"4712"/);
          assert.doesNotMatch(shown, /"4711"/);
        });
        assert.notEqual(await kubectl.ok('get pods -l app=till -o name'), before);
        await kubectl.ok('rollout status ds/till --timeout=60s');
        const command = async (line: string) => {
          const { stdout, stderr } = await runEverynode(['values', ...line.split(' '), '--data', dataDir]);
          return stdout + stderr;
        };
        assert.match(await command('history stores'), /^3 .* hosts\[n1\]\[store\]$/m);
        assert.match(await command('history ds/till'), /template +1 .*HostValues stores +3 /s);
        assert.match(await command('history stores --revision 2'), /store: "4711"/);
        assert.match(await command('undo stores'), /restored to revision 2/);
        await soon(async () => {
          assert.match(await kubectl.ok(`get pods -l app=till -o ${ANNOTATION}`), /"4711"/);
        });
        await kubectl.ok('apply -f -', values('4711'));
        assert.equal(await kubectl.ok('get hv stores -o jsonpath={.metadata.generation}'), '4');
        await kubectl.ok('describe hv stores');
        await kubectl.ok('rollout status ds/till --timeout=60s');
        await kubectl.ok('describe ds till');
        await kubectl.ok('delete ds till');
        await kubectl.ok('delete hostvalues --all');
        await kubectl.ok('label node n1 site-');
        await kubectl.ok('delete events --all');
      },
    );
  }
});
