/** The agent's Pod workers on real engines: containers, crashes, deletions, an engine that is killed. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLog } from '../../../agent/streams/log-stream.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import type { LogStreamRequest } from '../../../shared/link/messages/link-messages.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { type EnginePods, onEachEngine, scripted, WAITING } from '../../harness/engines/engine-pods.js';
import { loadTestImages } from '../../harness/engines/test-images.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

/** Polls of the agent have this interval or a longer one. */
const SHORTEST_POLL_MS = 500;

onEachEngine('pods', workers, loadSecond);

function workers(pods: EnginePods): void {
  const running = (pod: string, name = 'app') =>
    pods.until(`${pod} runs`, () => pods.fixture.state(pod, name) === 'running');
  const give = (name: string, script: string, spec: Partial<PodSpec> = {}) =>
    pods.assignPod(name, [scripted('app', script)], spec);
  const logOf = async (pod: string, changes: Partial<LogStreamRequest> = {}): Promise<string> => {
    const request: LogStreamRequest = {
      type: 'log',
      podUid: `uid-${pod}`,
      container: 'app',
      follow: false,
      previous: false,
      timestamps: false,
      ...changes,
    };
    const log = await openLog(pods.fixture.driver, request, systemClock, new AbortController().signal);
    if (log.kind === 'refused') return log.message;
    const chunks: Uint8Array[] = [];
    for await (const chunk of log.bytes) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  };

  pods.law('a Pod runs, its log is readable, and its deletion leaves nothing in the engine', async () => {
    give('a', WAITING, { volumes: [{ name: 'v', emptyDir: {} }] });
    await running('a');
    assert.match(pods.fixture.statuses.get('uid-a')?.podIP ?? '', /^\d+\.\d+\./);
    await pods.until('log', async () => (await logOf('a')) === 'up\n');
    await pods.remove('a');
    assert.deepEqual(await pods.fixture.driver.inspectPod('uid-a'), []);
    assert.equal(existsSync(join(pods.fixture.dataDir, 'pods/uid-a')), false);
  });

  pods.law('containers of a Pod share network, IPC and an emptyDir', async () => {
    const volumeMounts = [{ name: 'v', mountPath: '/v' }];
    const server =
      'echo hello >/v/index.html; /bin/busybox httpd -h /v -p 127.0.0.1:80; exec /bin/busybox sleep 3600';
    const client =
      'until /bin/busybox wget -qO /v/got http://127.0.0.1:80/; do /bin/busybox sleep 0.1; done;' +
      ' /bin/busybox readlink /proc/self/ns/ipc; exec /bin/busybox sleep 3600';
    pods.fixture.assignPod(
      podOf('m', {
        containers: [scripted('app', client, { volumeMounts }), scripted('server', server, { volumeMounts })],
        volumes: [{ name: 'v', emptyDir: {} }],
        terminationGracePeriodSeconds: 2,
      }),
    );
    await running('m', 'server');
    const folder = join(pods.fixture.dataDir, 'pods/uid-m/volumes/empty-dir/v');
    await pods.until(
      'fetched',
      () => existsSync(join(folder, 'got')) && readFileSync(join(folder, 'got'), 'utf8') !== '',
    );
    pods.fixture.deletePod('uid-m');
    await pods.until('all gone', async () => (await pods.fixture.driver.inspectPod('uid-m')).length === 0);
  });

  pods.law(
    'a crashed container is reported with its exit code, restarted at once, and backed off after the next crash',
    async () => {
      give('c', 'echo bye; exit 7');
      await pods.until('back-off', () => pods.fixture.state('c') === 'CrashLoopBackOff');
      const status = pods.fixture.container('c');
      assert.deepEqual([status?.restartCount, status?.lastState?.terminated?.exitCode], [1, 7]);
      assert.equal(await logOf('c', { previous: true }), 'bye\n');
      await pods.remove('c');
    },
  );

  pods.law('a hostPath of the host is visible in the container', async () => {
    const volumeMounts = [{ name: 'v', mountPath: '/host' }];
    const script = 'echo written >/host/file; exec /bin/busybox sleep 3600';
    pods.assignPod('h', [scripted('app', script, { volumeMounts })], {
      volumes: [{ name: 'v', hostPath: { path: join(pods.folder, 'made'), type: 'DirectoryOrCreate' } }],
      terminationGracePeriodSeconds: 2,
    });
    await pods.until('written', () => existsSync(join(pods.folder, 'made/file')));
    pods.fixture.deletePod('uid-h');
    await pods.until('gone', async () => (await pods.fixture.driver.inspectPod('uid-h')).length === 0);
    assert.ok(existsSync(join(pods.folder, 'made/file')), 'hostPath is the host’s and stays');
  });

  pods.law(
    'a missing image with pull policy Never is ErrImageNeverPull, and a failing pull is ErrImagePull',
    async () => {
      const containers = [{ name: 'app', image: 'none:1', imagePullPolicy: 'Never' }];
      pods.fixture.assignPod(podOf('n', { containers }));
      pods.fixture.assignPod(podOf('p', { containers: [{ name: 'app', image: '127.0.0.1:9/none:1' }] }));
      await pods.until('ErrImageNeverPull', () => pods.fixture.state('n') === 'ErrImageNeverPull');
      await pods.until('ErrImagePull', () => pods.fixture.state('p') === 'ErrImagePull');
      await pods.remove('n');
      await pods.remove('p');
    },
  );

  pods.law('a command that does not exist is a StartError', async () => {
    pods.fixture.assignPod(podOf('x', { containers: [{ name: 'app', image: 'app:1', command: ['/none'] }] }));
    await pods.until('back-off', () => pods.fixture.state('x') === 'CrashLoopBackOff');
    assert.equal(pods.fixture.container('x')?.lastState?.terminated?.reason, 'StartError');
    await pods.remove('x');
  });

  pods.law('a restarted agent changes no container', async () => {
    give('r', WAITING);
    await running('r');
    const [before] = await pods.fixture.driver.inspectPod('uid-r');
    await pods.fixture.restartAgent();
    await running('r');
    const [now] = await pods.fixture.driver.inspectPod('uid-r');
    assert.deepEqual([now?.id, now?.startedAt], [before?.id, before?.startedAt]);
    await pods.remove('r');
  });

  pods.law(
    "after kill -9 of the engine its Pod runs without a back-off after the engine's return",
    async () => {
      give('k', WAITING);
      await running('k');
      await pods.engine.kill();
      const killedAt = pods.clock.now();
      await pods.engine.start();
      const back = pods.clock.monotonic();
      await pods.until('running', async () =>
        (await pods.fixture.driver.inspectPod('uid-k')).some((container) => container.state === 'running'),
      );
      // Back-offs of a container's restart and of a failed engine call begin with 10 s. The elapsed time is no measure:
      // the engine itself may need more than 10 s on a busy machine.
      const delays = pods.clock.delaysSince(back);
      assert.ok(Math.max(0, ...delays) < 5000, `the agent waited for timers of ${delays.map(Math.round)} ms`);
      await pods.until(
        'the event stream is connected again',
        () => pods.fixture.facts.engineUpSince >= killedAt,
      );
      await pods.remove('k');
    },
  );

  pods.law('a changed image replaces the container and increments restartCount', async () => {
    give('i', WAITING);
    await running('i');
    pods.assignPod('i', [scripted('app', WAITING, { image: 'app:2' })]);
    await pods.until(
      'app:2',
      () =>
        pods.fixture.container('i')?.image.endsWith('app:2') === true &&
        pods.fixture.state('i') === 'running',
    );
    assert.equal(pods.fixture.container('i')?.restartCount, 1);
    await pods.remove('i');
  });

  pods.law(
    "the agent adds less than 250 ms to the engine's own create and start, and waits for no timer",
    async () => {
      const driver = pods.fixture.driver;
      const extra: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const name = `t${round}`;
        const begun = pods.clock.monotonic();
        give(name, WAITING, { hostNetwork: true, terminationGracePeriodSeconds: 2 });
        await running(name);
        const whole = pods.clock.monotonic() - begun;
        const delays = pods.clock.delaysSince(begun);
        assert.ok(Math.max(0, ...delays) < SHORTEST_POLL_MS, `timers of ${delays.map(Math.round)} ms`);
        const [container] = await driver.inspectPod(`uid-${name}`);
        assert.ok(container);
        extra.push(whole - ((container.startedAt ?? 0) - container.createdAt));
        // The shell may not handle SIGTERM yet right after its start. A short grace period ends it anyway.
        pods.fixture.deletePod(`uid-${name}`);
        await pods.until('gone', async () => (await driver.inspectPod(`uid-${name}`)).length === 0);
      }
      // A fault lengthens every round, a busy machine some of them. The limit includes the engine's own create time.
      const least = Math.min(...extra);
      assert.ok(least < 250, `${pods.kind}: ${extra.map(Math.round)} ms besides created-to-started`);
    },
  );
}

/** Loads the image that the update switches to. */
async function loadSecond({ engine }: EnginePods): Promise<void> {
  await loadTestImages(engine.socketPath, ['app:2']);
}
