/** Looking into Pods with unmodified kubectls: exec, attach, cp, port-forward, top and debug on a real engine. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findClient } from '../harness/client-binaries.js';
import { KUBECTLS } from '../harness/each-kubectl.js';
import type { EngineKind } from '../harness/engines.js';
import type { Kubectl } from '../harness/kubectl.js';
import { leaveOut } from '../harness/leave-out.js';
import { shell } from '../harness/test-images.js';
import { TourBench } from '../harness/tour-bench.js';

const IMAGE = 'app:1';

/** Serves its own name on a port of the loopback, and prints what it reads. */
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'looked-at', labels: { app: 'looked-at' } },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'main',
        image: IMAGE,
        stdin: true,
        command: shell('while read line; do echo got $line; done; sleep 3600'),
      },
      {
        name: 'server',
        image: IMAGE,
        command: shell(
          'mkdir -p /www; echo hello > /www/index.html; exec /bin/busybox httpd -f -p 127.0.0.1:8080 -h /www',
        ),
      },
    ],
  },
};

/** Registers the tests on one engine. */
export function lookingIn(kind: EngineKind): void {
  describe(`looking into Pods on ${kind}`, { concurrency: 1 }, () => {
    let bench: TourBench | string;
    before(async () => {
      bench = await TourBench.open(kind, { images: [IMAGE] });
      if (typeof bench === 'string') return;
      await bench.kubectl.ok('apply -f -', JSON.stringify(POD));
      await bench.kubectl.ok('wait pod/looked-at --for=condition=Ready --timeout=60s');
    });
    after(async () => {
      if (typeof bench !== 'string') await bench.close();
    });

    for (const name of KUBECTLS) {
      const look = (rule: string, body: (kubectl: Kubectl, bench: TourBench) => Promise<void>): void => {
        test(`${name}: ${rule}`, async (context) => {
          const found = findClient(name);
          if (typeof bench === 'string') leaveOut(context, `looking into Pods on ${kind}`, bench);
          else if ('why' in found) leaveOut(context, name, found.why);
          else {
            const kubectl = bench.newKubectl(found.path);
            await body(kubectl, bench).finally(() => kubectl.remove());
          }
        });
      };

      look('exec prints, passes the exit code, and reads standard input to its end', async (kubectl) => {
        assert.equal(await kubectl.ok('exec looked-at -c main -- busybox echo hello'), 'hello');
        const failed = await kubectl.run([
          'exec',
          'looked-at',
          '-c',
          'main',
          '--',
          'busybox',
          'sh',
          '-c',
          'echo oops >&2; exit 7',
        ]);
        assert.deepEqual(failed, {
          code: 7,
          stdout: '',
          stderr: 'oops\ncommand terminated with exit code 7\n',
        });
        const input = 'x'.repeat(3_000_000);
        const counted = await kubectl.run(
          ['exec', '-i', 'looked-at', '-c', 'main', '--', 'busybox', 'wc', '-c'],
          input,
        );
        assert.equal(counted.stdout.trim(), '3000000', counted.stderr);
      });
    }
  });
}
