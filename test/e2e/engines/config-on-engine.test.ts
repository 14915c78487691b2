/** ConfigMaps and Secrets from `kubectl apply` to what a process in a container reads, on real engines. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { podFolders } from '../../../agent/volumes/pod-folders.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { shell } from '../../harness/engines/test-images.js';
import { NODE, TourFixture } from '../../harness/hosts/tour-fixture.js';
import { startProgram } from '../../harness/processes/everynode-processes.js';

const SECRET_TEXT = 'correct-horse-battery-staple';
const ENCODED = Buffer.from(SECRET_TEXT).toString('base64');
const FOREVER = 'exec /bin/busybox sleep 3600';

const CONFIG = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings' },
  data: { level: 'debug', greeting: 'hello' },
};
const SECRET = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'login' }, data: { password: ENCODED } };

function pod(name: string, script: string, fields: object, spec: Partial<PodSpec> = {}): object {
  const container = { name: 'app', image: 'app:1', command: shell(script), ...fields };
  const whole = { nodeName: NODE, terminationGracePeriodSeconds: 1, containers: [container], ...spec };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: name } }, spec: whole };
}

function onEngine(kind: EngineKind): void {
  describe(`ConfigMaps and Secrets on ${kind}`, { concurrency: 1 }, () => {
    let fixture: TourFixture | string;
    before(async () => {
      fixture = await TourFixture.open(kind, { images: ['app:1'] });
    });
    after(async () => {
      if (typeof fixture !== 'string') await fixture.close();
    });
    const law = (name: string, body: (fixture: TourFixture) => Promise<void>): void => {
      test(name, async (context) => {
        if (typeof fixture === 'string') leaveOut(context, `ConfigMaps and Secrets on ${kind}`, fixture);
        else await body(fixture);
      });
    };
    const apply = async (on: TourFixture, ...objects: object[]): Promise<string> => {
      const text = objects.map((object) => JSON.stringify(object)).join('\n---\n');
      const { code, stderr } = await on.kubectl.run(['apply', '-f', '-'], text);
      assert.equal(code, 0, stderr);
      return stderr;
    };
    const folders = (on: TourFixture) => podFolders(join(on.dataDir, 'agent'));
    const uidOf = (on: TourFixture, name: string) =>
      on.kubectl.ok(`get pod ${name} -o jsonpath={.metadata.uid}`);
    const printed = (on: TourFixture, name: string, expected: string | RegExp) =>
      untilPasses(async () => {
        const { stdout, stderr } = await on.kubectl.run(['logs', name]);
        if (expected instanceof RegExp) assert.match(stdout, expected);
        else assert.equal(stdout, expected, stderr);
      });

    law(
      'ConfigMaps and Secrets reach environment, command and files, and a Secret in the environment causes a warning',
      async (on) => {
        const script = [
          'echo level=$LEVEL password=$PASSWORD greeting=$S_greeting arg=$0',
          'echo file=$(/bin/busybox cat /settings/level) sub=$(/bin/busybox cat /one) secret=$(/bin/busybox cat /login/password)',
          '/bin/busybox stat -Lc %a /login/password',
          '/bin/busybox awk \'$2 == "/login" { print $3, substr($4, 1, 2) }\' /proc/mounts',
          '{ echo no >/login/password || echo read-only; } 2>/dev/null',
          FOREVER,
        ].join('; ');
        const fields = {
          args: ['$(LEVEL)!'],
          env: [
            { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'settings', key: 'level' } } },
            { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } },
          ],
          envFrom: [{ prefix: 'S_', configMapRef: { name: 'settings' } }],
          volumeMounts: [
            { name: 'settings', mountPath: '/settings' },
            { name: 'settings', mountPath: '/one', subPath: 'greeting' },
            { name: 'login', mountPath: '/login' },
          ],
        };
        const volumes = [
          { name: 'settings', configMap: { name: 'settings' } },
          { name: 'login', secret: { secretName: 'login', defaultMode: 0o400 } },
        ];
        const warnings = await apply(on, CONFIG, SECRET, pod('reads', script, fields, { volumes }));
        assert.match(
          warnings,
          /^Warning: spec\.containers\[0\]\.env\[1\]\.valueFrom\.secretKeyRef: .*plain text/m,
        );
        await printed(
          on,
          'reads',
          [
            `level=debug password=${SECRET_TEXT} greeting=hello arg=debug!`,
            `file=debug sub=hello secret=${SECRET_TEXT}`,
            '400',
            'tmpfs ro',
            'read-only',
            '',
          ].join('\n'),
        );
      },
    );

    law('a changed ConfigMap reaches files within seconds, with all keys at once', async (on) => {
      const versions = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'versions' } };
      const script = [
        // If the update removes the version's directory during a read, the script reads again.
        'exec 2>/dev/null; last=',
        'while :; do cd /v/..data && a=$(/bin/busybox cat a) && b=$(/bin/busybox cat b) || continue',
        '[ "$a" = "$b" ] || echo "half: $a $b"',
        '[ "$a" = "$last" ] || echo "$a"; last=$a; cd /; /bin/busybox usleep 1000; done',
      ].join('\n');
      const fields = { volumeMounts: [{ name: 'v', mountPath: '/v' }] };
      const volumes = [{ name: 'v', configMap: { name: 'versions' } }];
      await apply(on, { ...versions, data: { a: '1', b: '1' } }, pod('watches', script, fields, { volumes }));
      await printed(on, 'watches', '1\n');
      const begun = performance.now();
      await apply(on, { ...versions, data: { a: '2', b: '2', c: '2' } });
      await printed(on, 'watches', '1\n2\n');
      assert.ok(performance.now() - begun < 10_000, "seconds, not a kubelet's minute");
      await apply(on, { ...versions, data: { a: '3', b: '3' } });
      await printed(on, 'watches', '1\n2\n3\n');
    });

    law(
      "a missing ConfigMap or Secret keeps the Pod waiting with the kubelet's message until it exists",
      async (on) => {
        const env = { envFrom: [{ configMapRef: { name: 'later' } }] };
        const mounts = { volumeMounts: [{ name: 'v', mountPath: '/v' }] };
        const volumes = [{ name: 'v', secret: { secretName: 'later' } }];
        await apply(
          on,
          pod('by-env', `echo $key; ${FOREVER}`, env),
          pod('by-file', `echo $(/bin/busybox cat /v/key); ${FOREVER}`, mounts, { volumes }),
        );
        await untilPasses(async () => {
          const state = await on.kubectl.ok(
            'get pod by-env -o jsonpath={.status.containerStatuses[0].state.waiting}',
          );
          assert.deepEqual(JSON.parse(state), {
            reason: 'CreateContainerConfigError',
            message: 'configmap "later" not found',
          });
          const events = await on.kubectl.ok(
            'get events -o jsonpath={range.items[*]}{.reason}:{.message}{"\\n"}{end}',
          );
          assert.match(events, /^Failed:Error: configmap "later" not found$/m);
          assert.match(
            events,
            /^FailedMount:MountVolume\.SetUp failed for volume "v" : secret "later" not found$/m,
          );
        });
        const metadata = { name: 'later' };
        await apply(
          on,
          { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: 'there' } },
          { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { key: 'here' } },
        );
        await printed(on, 'by-env', 'there\n');
        await printed(on, 'by-file', 'here\n');
      },
    );

    law('a Pod with a Secret runs again after a reboot without a coordinator', async (on) => {
      const uid = await uidOf(on, 'reads');
      await on.up.end('SIGKILL');
      await untilPasses(() => assert.deepEqual(on.agents(), []));
      // Simulates a reboot: containers stop and tmpfs is empty.
      await on.engine.kill();
      rmSync(folders(on).memory, { recursive: true, force: true });
      await on.engine.start();
      const args = ['--data', join(on.dataDir, 'agent'), '--server', `https://127.0.0.1:${on.port}`];
      args.push('--node-name', NODE, '--runtime', kind);
      const log = join(on.dataDir, 'agent-alone.log');
      const alone = startProgram('agent/everynode-agent.cjs', args, log, on.environment);
      try {
        const password = join(folders(on).memory, uid, 'volumes/files/login/password');
        await untilPasses(async () => {
          assert.ok(existsSync(password), 'the Secret is on the host again');
          const [container] = await on.containers.ofPods('reads');
          assert.ok(
            (await on.containers.ofPods('reads')).some(({ state }) => state === 'running'),
            container?.state,
          );
        });
      } finally {
        await alone.end('SIGTERM');
      }
      await on.startUp();
      await printed(on, 'reads', new RegExp(`secret=${SECRET_TEXT}\n`));
    });

    law(
      "no Secret is readable in the agent's data, and the Secret's files are removed with the Pod",
      async (on) => {
        const uid = await uidOf(on, 'reads');
        const memory = join(folders(on).memory, uid);
        assert.ok(existsSync(memory));
        const found = (text: string) =>
          execFileSync(
            'sh',
            ['-c', `grep -rlF -- "$1" "$2" || true`, 'sh', text, join(on.dataDir, 'agent')],
            {
              encoding: 'utf8',
            },
          );
        assert.deepEqual([found(SECRET_TEXT), found(ENCODED)], ['', '']);
        assert.notEqual(found('hello'), '', 'the ConfigMap is found: the search works');
        await on.kubectl.ok('delete pod reads watches by-env by-file --wait=true');
        await untilPasses(() => {
          assert.deepEqual(readdirSync(folders(on).memory), []);
          assert.deepEqual(readdirSync(join(on.dataDir, 'agent', 'config')), []);
        });
      },
    );
  });
}

onEngine('docker');
onEngine('podman');
