/** The log files of Pods on a real engine, and a log daemon that reads them. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { pause, untilPasses } from '../../harness/basics/wait-until.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { shell, WAITS } from '../../harness/engines/test-images.js';
import { LogCollector } from '../../harness/pod-logs/log-collector.js';
import { PodLogHost } from '../../harness/pod-logs/pod-log-host.js';

const IMAGE = 'app:1';
const PATIENCE_MS = 120_000;
const LINES = 30_000;
const LABELS = { app: 'shop', team: 'checkout' };
/** Share of lines that have to arrive. */
const LEAST_SHARE = 0.99;

/** Prints numbered lines, about 1,000 a second. */
const printing = (lines: number, then: string): string[] =>
  shell(`i=0; pad=$(/bin/busybox printf '%080d' 0); while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i $pad"
    [ $((i%50)) = 0 ] && /bin/busybox usleep 40000; done; ${then}`);

const pod = (name: string, spec: object): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: LABELS },
    spec: { terminationGracePeriodSeconds: 1, ...spec },
  });

/** The rights of the chart's ServiceAccount. */
const ACCOUNT = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'fluent-bit' } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'fluent-bit' },
    rules: [{ apiGroups: [''], resources: ['namespaces', 'pods'], verbs: ['get', 'list', 'watch'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'fluent-bit' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'fluent-bit' },
    subjects: [{ kind: 'ServiceAccount', name: 'fluent-bit', namespace: 'default' }],
  },
]
  .map((each) => JSON.stringify(each))
  .join('\n---\n');

/** Registers the checks on one engine. */
export function logFiles(kind: EngineKind): void {
  describe(`log files of Pods on ${kind}`, { concurrency: 1 }, () => {
    let opened: PodLogHost | string;
    let collector: LogCollector | undefined;
    before(async () => {
      opened = await PodLogHost.open(kind);
      if (typeof opened === 'string') return;
      const host = opened;
      await host.kubectl.ok('apply -f -', ACCOUNT);
      const token = await host.kubectl.ok('create token fluent-bit');
      collector = new LogCollector(join(host.directory, 'containers'), (namespace, name) =>
        host.labelsBy(token, namespace, name),
      );
    });
    after(async () => {
      await collector?.stop();
      if (typeof opened !== 'string') await opened.close();
    });

    const check = (name: string, body: (host: PodLogHost, logs: LogCollector) => Promise<void>): void => {
      test(name, { timeout: 180_000 }, async (context) => {
        if (typeof opened === 'string' || !collector)
          leaveOut(context, `log files on ${kind}`, String(opened));
        else await body(opened, collector);
      });
    };

    check(
      'a log daemon gets the lines with Pod, namespace and labels over rotation, restarts and a kill of the agent',
      async (host, logs) => {
        const spec = {
          restartPolicy: 'OnFailure',
          initContainers: [{ name: 'init', image: IMAGE, command: printing(3, 'exit 0') }],
          containers: [{ name: 'main', image: IMAGE, command: printing(LINES, WAIT_FOR_END) }],
        };
        await host.kubectl.ok('apply -f -', pod('prints', spec));
        await host.kubectl.ok('apply -f -', pod('crashes', CRASHING));
        await untilPasses(() => assert.ok(logs.messages('prints', 'main').length > 1_000), PATIENCE_MS);
        await host.endAgent('SIGKILL');
        await pause(2_000);
        await host.startAgent();
        const last = () => logs.messages('prints', 'main').at(-1) ?? '';
        await untilPasses(() => assert.match(last(), new RegExp(`^line ${LINES} `)), PATIENCE_MS);
        const messages = logs.messages('prints', 'main');
        assert.ok(messages.length >= LINES * LEAST_SHARE, missing(messages));
        assert.equal(new Set(messages).size, messages.length, 'no line arrived twice');
        assert.equal(logs.messages('prints', 'init').length, 3);
        assert.deepEqual(logs.unparsed, []);
        const labelled = logs.lines.filter(({ pod: name }) => name === 'prints');
        for (const line of labelled) assert.deepEqual([line.namespace, line.labels], ['default', LABELS]);
        // Each attempt of a container has a file of its own.
        await untilPasses(() => {
          const runs = logs.messages('crashes', 'main');
          assert.ok(runs.length >= 2, `${runs.length} runs`);
          assert.deepEqual(new Set(runs), new Set(['run']));
        }, PATIENCE_MS);
      },
    );

    check('kubectl logs, --previous and -f are not affected', async (host) => {
      assert.match(await host.kubectl.ok('logs prints -c main --tail=1'), new RegExp(`^line ${LINES} `));
      assert.equal(await host.kubectl.ok('logs crashes --previous'), 'run');
    });

    check('rotated files stay within the limits, and links resolve to the current file', async (host) => {
      const uid = await host.kubectl.ok('get pod prints -o jsonpath={.metadata.uid}');
      const folder = join(host.directory, 'pods', `default_prints_${uid}`, 'main');
      const names = readdirSync(folder).sort();
      assert.equal(names[0], '0.log');
      assert.ok(names.length >= 2 && names.length <= 5, names.join());
      assert.match(names.at(-1) ?? '', /^0\.log\.\d{8}-\d{6}$/);
      const link = readdirSync(join(host.directory, 'containers')).find((name) =>
        /^prints_default_main-[0-9a-f]{64}\.log$/.test(name),
      );
      assert.equal(readlinkSync(join(host.directory, 'containers', link ?? '')), join(folder, '0.log'));
    });

    check(
      'a container that mounts only the directory of logs reads a static Pod by its link',
      async (host) => {
        const manifest = {
          ...JSON.parse(
            pod('fixed', {
              containers: [
                { name: 'main', image: IMAGE, command: shell('echo static; exec /bin/busybox sleep 3600') },
              ],
            }),
          ),
        };
        mkdirSync(join(host.data, 'manifests'), { recursive: true });
        writeFileSync(join(host.data, 'manifests/fixed.json'), JSON.stringify(manifest));
        const mounts = [{ name: 'logs', mountPath: host.directory, readOnly: true }];
        const volumes = [{ name: 'logs', hostPath: { path: host.directory, type: 'Directory' } }];
        const containers = [{ name: 'main', image: IMAGE, command: WAITS, volumeMounts: mounts }];
        await host.kubectl.ok('apply -f -', pod('daemon', { containers, volumes }));
        await untilPasses(async () => {
          const { stdout } = await host.kubectl.run([
            ...[
              'exec',
              'daemon',
              '--',
              ...shell(`cat ${host.directory}/containers/fixed-n1_default_main-*.log`),
            ],
          ]);
          assert.match(stdout, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z stdout F static\n$/);
        }, PATIENCE_MS);
      },
    );

    check('a host that leaves its fleet keeps no log file', async (host) => {
      await host.endAgent('SIGTERM');
      assert.match(host.runAgentCommand('remove-containers'), /containers removed/);
      assert.deepEqual(readdirSync(host.directory), []);
      assert.equal(existsSync(join(host.data, 'pod-logs')), false);
    });
  });
}

/** Describes which lines did not arrive. */
function missing(messages: readonly string[]): string {
  const found = new Set(messages.map((message) => Number(message.split(' ')[1])));
  const absent = Array.from({ length: LINES }, (_, index) => index + 1).filter((line) => !found.has(line));
  const starts = absent.filter((line) => !absent.includes(line - 1));
  return `${messages.length} of ${LINES} lines; missing: ${absent.length}, in gaps from ${starts.slice(0, 10)}`;
}

const WAIT_FOR_END = 'exec /bin/busybox sleep 3600';
const CRASHING = { containers: [{ name: 'main', image: IMAGE, command: shell('echo run; exit 3') }] };
