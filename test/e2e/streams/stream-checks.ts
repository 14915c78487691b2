/** Unmodified kubectl versions with exec, attach, cp, port-forward, top and debug on a real engine. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until } from '../../harness/basics/wait-until.js';
import { findClient } from '../../harness/clients/client-binaries.js';
import { KUBECTLS } from '../../harness/clients/each-kubectl.js';
import type { Kubectl } from '../../harness/clients/kubectl.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { shell } from '../../harness/engines/test-images.js';
import { TourFixture } from '../../harness/hosts/tour-fixture.js';
import { Terminal } from '../../harness/processes/pseudo-terminal.js';

const IMAGE = 'app:1';
const PATIENCE_MS = 30_000;
const SPDY_ONLY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' };

/** `main` sleeps, each `reader` echoes its input, `server` serves two loopback ports, `ended` keeps crashing. */
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'looked-at', labels: { app: 'looked-at' } },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      { name: 'main', image: IMAGE, command: shell('exec /bin/busybox sleep 3600') },
      // One container for each kubectl: Podman closes stdin when the first client disconnects.
      ...KUBECTLS.map((_, index) => ({
        name: `reader-${index}`,
        image: IMAGE,
        stdin: true,
        command: shell('while read line; do echo got $line; done; exec /bin/busybox sleep 3600'),
      })),
      {
        name: 'server',
        image: IMAGE,
        command: shell(`for p in 8080 8081; do
          /bin/busybox mkdir -p /www/$p /tmp
          echo hello from $p > /www/$p/index.html
          /bin/busybox head -c 5000000 /dev/zero > /www/$p/big
          /bin/busybox httpd -p 127.0.0.1:$p -h /www/$p
        done
        /bin/busybox ln -s busybox /bin/tar
        echo listening; exec /bin/busybox sleep 3600`),
      },
      { name: 'ended', image: IMAGE, command: shell('sleep 0; exit 0') },
    ],
  },
};

/** Registers the tests on one engine. */
export function streamTests(kind: EngineKind): void {
  describe(`streams into Pods on ${kind}`, { concurrency: 1 }, () => {
    let fixture: TourFixture | string;
    before(async () => {
      fixture = await TourFixture.open(kind, { images: [IMAGE] });
      if (typeof fixture === 'string') return;
      await fixture.kubectl.ok('apply -f -', JSON.stringify(POD));
      const { kubectl } = fixture;
      await soon(
        async () => (await kubectl.ok('logs looked-at -c server').catch(() => '')).includes('listening'),
        () => 'the ports to be served',
      );
    });
    after(async () => {
      if (typeof fixture !== 'string') await fixture.close();
    });

    for (const [index, name] of KUBECTLS.entries()) {
      const look = (rule: string, body: (kubectl: Kubectl, fixture: TourFixture) => Promise<void>): void => {
        test(`${name}: ${rule}`, async (context) => {
          const found = findClient(name);
          if (typeof fixture === 'string') leaveOut(context, `looking into Pods on ${kind}`, fixture);
          else if ('why' in found) leaveOut(context, name, found.why);
          else {
            const kubectl = fixture.newKubectl(found.path);
            await body(kubectl, fixture).finally(() => kubectl.remove());
          }
        });
      };

      look('exec prints output, returns the exit code and reads stdin to its end', async (kubectl) => {
        assert.equal(await kubectl.ok('exec looked-at -c main -- busybox echo hello'), 'hello');
        const failing = ['exec', 'looked-at', '-c', 'main', '--', ...shell('echo oops >&2; exit 7')];
        assert.deepEqual(await kubectl.run(failing), {
          code: 7,
          stdout: '',
          stderr: 'oops\ncommand terminated with exit code 7\n',
        });
        const input = 'x'.repeat(3_000_000);
        const counted = await kubectl.run('exec -i looked-at -c main -- busybox wc -c'.split(' '), input);
        assert.equal(counted.stdout.trim(), '3000000', counted.stderr);
      });

      look(
        'exec and port-forward work over SPDY, as behind a proxy without WebSocket support',
        async (_, fixture) => {
          const found = findClient(name);
          assert.ok('path' in found);
          const kubectl = fixture.newKubectl(found.path, SPDY_ONLY);
          const input = 'x'.repeat(300_000);
          const counted = await kubectl.run('exec -i looked-at -c main -- busybox wc -c'.split(' '), input);
          assert.equal(counted.stdout.trim(), '300000', counted.stderr);
          const failing = await kubectl.run([
            'exec',
            'looked-at',
            '-c',
            'main',
            '--',
            ...shell('echo oops >&2; exit 7'),
          ]);
          assert.deepEqual(
            [failing.code, failing.stderr],
            [7, 'oops\ncommand terminated with exit code 7\n'],
          );
          const forwarding = kubectl.start('port-forward looked-at :8080');
          await soon(
            () => forwarding.stdout.includes('127.0.0.1'),
            () => 'a port',
          );
          const local = Number(/127\.0\.0\.1:(\d+)/.exec(forwarding.stdout)?.[1]);
          assert.equal((await get(local, '/big')).length, 5_000_000);
          forwarding.stop();
          await forwarding.ended;
          kubectl.remove();
        },
      );

      look('exec with a terminal passes its size, input and exit code', async (kubectl) => {
        const terminal = new Terminal(
          kubectl,
          `${kubectl.binary} exec -it looked-at -c main -- /bin/busybox sh`,
        );
        // The terminal size and the input arrive independently, as with a kubelet: the first input may arrive before
        // the size.
        const sized = 'until busybox stty size | busybox grep "33 99"; do busybox sleep 0.1; done';
        terminal.type(`${sized}; echo $((6*7))\r`);
        await soon(
          () => /33 99\r\n42\r\n/.test(terminal.printed),
          () => `the size, not ${terminal.printed}`,
        );
        terminal.type('exit 5\r');
        assert.equal(await terminal.ended, 5);
        assert.match(terminal.printed, /command terminated with exit code 5/);
      });

      look('exec with a terminal ends the command when its client disconnects', async (kubectl) => {
        const marker = 4_000 + index;
        const terminal = new Terminal(
          kubectl,
          `${kubectl.binary} exec -it looked-at -c main -- /bin/busybox sh -c "echo begun; exec /bin/busybox sleep ${marker}"`,
        );
        await soon(
          () => terminal.printed.includes('begun'),
          () => `a beginning, not ${terminal.printed}`,
        );
        const processes = () => kubectl.ok('exec looked-at -c main -- busybox ps');
        assert.match(await processes(), new RegExp(`sleep ${marker}`));
        terminal.kill();
        await soon(
          async () => !(await processes()).includes(`sleep ${marker}`),
          () => 'the end of the command',
        );
      });

      look("exec of a missing command fails with the kubelet's message", async (kubectl) => {
        const absent = await kubectl.run('exec nobody -- busybox true'.split(' '));
        assert.match(absent.stderr, /Error from server \(NotFound\): pods "nobody" not found/);
        const unknown = await kubectl.run('exec looked-at -c none -- busybox true'.split(' '));
        assert.match(unknown.stderr, /container none is not valid for pod looked-at|container not found/);
        const program = await kubectl.run('exec looked-at -c main -- no-such-program'.split(' '));
        assert.ok([126, 127].includes(program.code), `${program.code} ${program.stderr}`);
        assert.match(program.stderr + program.stdout, /not found|no such file/);
        // The container restarts repeatedly and runs only briefly each time.
        let answer = '';
        await soon(
          async () => {
            answer = (await kubectl.run('exec looked-at -c ended -- busybox true'.split(' '))).stderr;
            return /unable to upgrade connection: container not found \("ended"\)/.test(answer);
          },
          () => `no such container, not ${answer}`,
        );
      });

      look("attach reads from and writes to the container's first process", async (kubectl) => {
        const attached = new Terminal(kubectl, `${kubectl.binary} attach -i looked-at -c reader-${index}`);
        // Without a terminal in the container, lines are sent as they are typed.
        await soon(
          () => /If you don't see a command prompt/.test(attached.printed),
          () => 'the prompt',
        );
        attached.type('something\n');
        await soon(
          () => /got something/.test(attached.printed),
          () => `an echo, not ${attached.printed}`,
        );
        attached.kill();
      });

      look('top shows the resource use of nodes and containers', async (kubectl) => {
        assert.match(await kubectl.ok('top node'), /^NAME +CPU.*\nmaster +\d+m +\d+% +\d+Mi +\d+%/);
        await kubectl.ok('exec looked-at -c main -- busybox timeout 2 busybox yes', '').catch(() => '');
        const pods = await kubectl.ok('top pod --containers');
        assert.match(pods, /looked-at +main +\d+m +\d+Mi/);
        assert.match(pods, /looked-at +server +\d+m +\d+Mi/);
        assert.match(await kubectl.ok('top pod looked-at'), /\nlooked-at +\d+m +\d+Mi/);
      });

      look('debug runs a Pod on the node with access to its processes and files', async (kubectl) => {
        const terminal = new Terminal(
          kubectl,
          `${kubectl.binary} debug node/master -it --image=${IMAGE} --profile=general -- /bin/busybox sh`,
        );
        terminal.type('/bin/busybox ls /host; echo done $((6*7))\r');
        await soon(
          () => terminal.printed.includes('done 42'),
          () => `the host's files, not ${terminal.printed}`,
        );
        assert.match(terminal.printed, /\bproc\b/);
        terminal.type('exit\r');
        assert.equal(await terminal.ended, 0);
        await kubectl
          .ok('delete pod -l app.kubernetes.io/managed-by=kubectl-debug --wait=false')
          .catch(() => '');
      });

      look('cp copies files in both directions', async (kubectl) => {
        const bytes = randomBytes(2_000_000);
        const [there, back] = [join(kubectl.home, 'there'), join(kubectl.home, 'back')];
        writeFileSync(there, bytes);
        await kubectl.ok(`cp ${there} looked-at:/tmp/copied -c server`);
        await kubectl.ok(`cp looked-at:/tmp/copied ${back} -c server`);
        assert.ok(readFileSync(back).equals(bytes));
      });

      look('port-forward reaches two ports that listen on loopback only', async (kubectl) => {
        const forwarding = kubectl.start('port-forward looked-at :8080 :8081');
        await soon(
          () => forwarding.stdout.split('\n').filter((line) => line.includes('127.0.0.1')).length === 2,
          () => `two ports, not ${forwarding.stdout}`,
        );
        const ports = [...forwarding.stdout.matchAll(/127\.0\.0\.1:(\d+) -> (\d+)/g)];
        for (let round = 0; round < 3; round += 1) {
          for (const [, local, remote] of ports)
            assert.equal(await get(Number(local)), `hello from ${remote}\n`);
        }
        const big = await Promise.all(ports.map(([, local]) => get(Number(local), '/big')));
        assert.deepEqual(
          big.map((text) => text.length),
          [5_000_000, 5_000_000],
        );
        forwarding.stop();
        await forwarding.ended;
      });

      look('port-forward reports an error if no process listens', async (kubectl) => {
        const forwarding = kubectl.start('port-forward looked-at :9');
        await soon(
          () => forwarding.stdout.includes('127.0.0.1'),
          () => 'a port',
        );
        const local = Number(/127\.0\.0\.1:(\d+)/.exec(forwarding.stdout)?.[1]);
        await assert.rejects(get(local));
        await soon(
          () => forwarding.stderr.includes('an error'),
          () => `an error, not ${forwarding.stderr}`,
        );
        assert.match(forwarding.stderr, /error forwarding port 9 to pod looked-at, uid .*ECONNREFUSED/);
        forwarding.stop();
        await forwarding.ended;
      });
    }
  });
}

/** Waits for `condition`. `what` describes the expectation and the current state. */
async function soon(condition: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  await until(condition, { timeoutMs: PATIENCE_MS, what: 'it' }).catch((error: Error) => {
    throw new Error(`${error.message}: ${what()}`);
  });
}

/** The body of a GET to this loopback port on a new connection. */
function get(port: number, path = '/'): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve(Buffer.concat(chunks).toString('latin1')));
      answer.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
