/** `kubectl logs` with all its flags on a real engine, and the log of a container that prints endlessly. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { findClient } from '../../harness/clients/client-binaries.js';
import { KUBECTLS } from '../../harness/clients/each-kubectl.js';
import type { Kubectl } from '../../harness/clients/kubectl.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { shell } from '../../harness/engines/test-images.js';
import { TourFixture } from '../../harness/hosts/tour-fixture.js';

const IMAGE = 'app:1';

function pod(name: string, containers: object[], restartPolicy = 'Always'): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'prints' } },
    spec: { terminationGracePeriodSeconds: 1, restartPolicy, containers },
  };
}

const SLEEP = 'exec /bin/busybox sleep 3600';
/** More lines than one log file of Docker holds. */
const LINES = 200_000;

const PODS = [
  pod('prints', [
    {
      name: 'one',
      image: IMAGE,
      command: shell(`echo early; /bin/busybox sleep 3; for i in 1 2 3; do echo one $i; done; ${SLEEP}`),
    },
    { name: 'two', image: IMAGE, command: shell(`echo two 1; ${SLEEP}`) },
  ]),
  pod('crashes', [{ name: 'main', image: IMAGE, command: shell('echo run; exit 3') }]),
  pod('waits', [{ name: 'main', image: '127.0.0.1:9/absent:1' }]),
  pod('chatters', [
    {
      name: 'main',
      image: IMAGE,
      // The container starts to print when the test signals it, so that a following reader can keep up.
      command:
        shell(`until [ -e /go ]; do /bin/busybox usleep 100000; done; i=0; line=$(/bin/busybox printf '%080d' 0)
          while [ $i -lt ${LINES} ]; do i=$((i+1)); echo $line $i; [ $((i%2000)) = 0 ] && /bin/busybox usleep 20000; done
          echo the end; ${SLEEP}`),
    },
  ]),
];

/** Registers the tests on one engine. */
export function podLogs(kind: EngineKind): void {
  describe(`kubectl logs on ${kind}`, { concurrency: 1 }, () => {
    let fixture: TourFixture | string;
    before(async () => {
      fixture = await TourFixture.open(kind, { images: [IMAGE] });
      if (typeof fixture === 'string') return;
      const { kubectl } = fixture;
      await kubectl.ok('apply -f -', PODS.map((each) => JSON.stringify(each)).join('\n---\n'));
      await untilPasses(async () => assert.match(await kubectl.ok('logs prints -c one'), /one 3$/));
      await untilPasses(async () => assert.match(await kubectl.ok('get pod crashes --no-headers'), / [1-9]/));
      await untilPasses(async () => assert.match(await kubectl.ok('get pod waits --no-headers'), /Pull/));
    });
    after(async () => {
      if (typeof fixture !== 'string') await fixture.close();
    });

    for (const name of KUBECTLS) {
      const log = (rule: string, body: (kubectl: Kubectl) => Promise<void>): void => {
        test(`${name}: ${rule}`, async (context) => {
          const found = findClient(name);
          if (typeof fixture === 'string') leaveOut(context, `logs on ${kind}`, fixture);
          else if ('why' in found) leaveOut(context, name, found.why);
          else {
            const kubectl = fixture.newKubectl(found.path);
            await body(kubectl).finally(() => kubectl.remove());
          }
        });
      };

      log(
        'logs prints all lines, --tail the last ones, and --limit-bytes the first bytes',
        async (kubectl) => {
          assert.equal(await kubectl.ok('logs prints -c one'), 'early\none 1\none 2\none 3');
          assert.equal(await kubectl.ok('logs prints -c one --tail=2'), 'one 2\none 3');
          assert.equal(await kubectl.ok('logs prints -c one --tail=0'), '');
          assert.equal(await kubectl.ok('logs prints -c one --limit-bytes=8'), 'early\non');
        },
      );

      log('logs filters by --since-time and prints timestamps', async (kubectl) => {
        const stamped = await kubectl.ok('logs prints -c one --timestamps');
        const [early = '', ...later] = stamped.split('\n');
        assert.match(early, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d) early$/);
        const after = new Date(Date.parse(early.split(' ')[0] ?? '') + 2_000).toISOString();
        assert.equal(await kubectl.ok(`logs prints -c one --since-time=${after}`), 'one 1\none 2\none 3');
        assert.equal(later.length, 3);
        assert.equal(await kubectl.ok('logs prints -c one --since=1h'), 'early\none 1\none 2\none 3');
      });

      log(
        'logs of all containers and of all Pods with a label have a prefix with their source',
        async (kubectl) => {
          const all = await kubectl.ok('logs prints --all-containers --prefix');
          assert.match(all, /^\[pod\/prints\/one\] early$/m);
          assert.match(all, /^\[pod\/prints\/two\] two 1$/m);
          const labelled = await kubectl.ok('logs -l app=prints --all-containers --tail=1 --ignore-errors');
          assert.match(labelled, /^one 3$/m);
          assert.match(labelled, /^run$/m);
          const few = await kubectl.run(
            'logs -l app=prints --all-containers -f --max-log-requests=1'.split(' '),
          );
          assert.match(
            few.stderr,
            /you are attempting to follow \d+ log streams, but maximum allowed concurrency is 1/,
          );
        },
      );

      log("logs --previous prints the previous run, and errors have the kubelet's text", async (kubectl) => {
        assert.equal(await kubectl.ok('logs crashes --previous'), 'run');
        const errors: [string, RegExp][] = [
          ['logs prints -c one --previous', /previous terminated container "one" in pod "prints" not found/],
          ['logs prints -c none', /container none is not valid for pod prints/],
          [
            'logs waits',
            /container "main" in pod "waits" is waiting to start: (image can't be pulled|trying and failing to pull image)/,
          ],
          ['logs nobody', /pods "nobody" not found/],
        ];
        for (const [command, expected] of errors) {
          const { code, stderr } = await kubectl.run(command.split(' '));
          assert.equal(code, 1);
          assert.match(stderr, expected);
        }
      });
    }

    test('logs --follow continues over log rotation, which limits disk use', async (context) => {
      if (typeof fixture === 'string') return leaveOut(context, `logs on ${kind}`, fixture);
      const { kubectl } = fixture;
      const following = kubectl.start('logs chatters -f');
      await kubectl.ok('exec chatters -- /bin/busybox touch /go');
      await untilPasses(() => assert.match(following.stdout.slice(-100), /the end\n$/), 120_000);
      const lines = new Set(following.stdout.split('\n'));
      context.diagnostic(`${lines.size} lines of ${LINES} were followed`);
      // During a rotation, Docker before 23 may repeat lines and Podman may lose lines.
      assert.ok(lines.size > LINES / 2, `${lines.size} lines`);
      following.stop();
    });
  });
}
