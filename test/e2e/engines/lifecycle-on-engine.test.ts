/** Lifecycle of Pods on real engines: init containers, sidecars, hooks, termination messages, deadlines. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Container, ContainerStatus } from '../../../shared/kube/pods/pod-types.js';
import { onEachEngine, scripted, WAITING } from '../../harness/engines/engine-pods.js';

onEachEngine('life', (pods) => {
  const toldPath = (pod: string): string => join(pods.folder, pod);
  /** Lines that the Pod's containers wrote to /told/POD. */
  const told = (pod: string): string[] =>
    existsSync(toldPath(pod)) ? readFileSync(toldPath(pod), 'utf8').trim().split('\n') : [];
  const volumes = () => [{ name: 'told', hostPath: { path: pods.folder } }];
  const volumeMounts = [{ name: 'told', mountPath: '/told' }];
  const telling = (pod: string, name: string, script: string, changes: Partial<Container> = {}): Container =>
    scripted(name, `tell() { echo "$1" >>/told/${pod}; }\n${script}`, { volumeMounts, ...changes });
  /** Script of a container that records its start and its end. */
  const lasting = (name: string): string =>
    `trap "tell ${name}-ends; exit 0" TERM; tell ${name}-starts; while :; do /bin/busybox sleep 3600 & wait $!; done`;
  const init = (pod: string, name: string): ContainerStatus | undefined =>
    pods.fixture.statuses.get(`uid-${pod}`)?.initContainerStatuses?.find((status) => status.name === name);
  const phase = (pod: string): string | undefined => pods.fixture.statuses.get(`uid-${pod}`)?.phase;

  const anyRuns = async (pod: string): Promise<boolean> =>
    (await pods.fixture.driver.inspectPod(`uid-${pod}`)).some(({ state }) => state === 'running');

  pods.law('init containers run in order and are retried before the main containers start', async () => {
    const failsOnce =
      'if [ -e /told/second-failed ]; then tell second; else echo >/told/second-failed; exit 3; fi';
    pods.assignPod('inits', [telling('inits', 'app', lasting('app'))], {
      initContainers: [telling('inits', 'first', 'tell first'), telling('inits', 'second', failsOnce)],
      volumes: volumes(),
    });
    await pods.until('ready', () => pods.isReady('inits'));
    assert.deepEqual(told('inits'), ['first', 'second', 'app-starts']);
    assert.equal(init('inits', 'first')?.state?.terminated?.reason, 'Completed');
    assert.deepEqual([init('inits', 'second')?.restartCount, init('inits', 'second')?.ready], [1, true]);
    assert.equal(init('inits', 'second')?.lastState?.terminated?.exitCode, 3);
    await pods.fixture.restartAgent();
    await pods.until('told again', () => pods.isReady('inits'));
    assert.deepEqual(told('inits'), ['first', 'second', 'app-starts']);
    await pods.remove('inits');
  });

  pods.law('init containers and main containers share one network namespace', async () => {
    const address = "/bin/busybox ip -4 -o addr show eth0 | /bin/busybox awk '{print $4}'";
    pods.assignPod('net', [telling('net', 'app', `tell "$(${address})"; ${WAITING}`)], {
      initContainers: [telling('net', 'first', `tell "$(${address})"`)],
      volumes: volumes(),
    });
    await pods.until('ready', () => pods.isReady('net') && told('net').length === 2);
    const [one, other] = told('net');
    assert.equal(one, other);
    assert.ok(one?.startsWith(pods.fixture.statuses.get('uid-net')?.podIP ?? '?'));
    await pods.remove('net');
  });

  pods.law('a failed init container fails a Pod with restartPolicy Never', async () => {
    pods.assignPod('never', [scripted('app', WAITING)], {
      restartPolicy: 'Never',
      initContainers: [scripted('first', 'exit 7')],
    });
    await pods.until('failed', () => phase('never') === 'Failed');
    assert.equal(init('never', 'first')?.state?.terminated?.exitCode, 7);
    assert.equal(pods.fixture.state('never'), 'PodInitializing');
    await pods.until('nothing runs', async () => !(await anyRuns('never')));
    await pods.remove('never');
  });
  pods.law('sidecars start first, each after its startup probe, and stop last in reverse order', async () => {
    const sidecar = (name: string): Container =>
      telling('side', name, `/bin/busybox sleep 1; echo >/up; ${lasting(name)}`, {
        restartPolicy: 'Always',
        startupProbe: { exec: { command: ['/bin/busybox', 'cat', '/up'] }, periodSeconds: 1 },
      });
    pods.assignPod('side', [telling('side', 'app', lasting('app'))], {
      initContainers: [sidecar('log'), telling('side', 'setup', 'tell setup'), sidecar('proxy')],
      volumes: volumes(),
    });
    await pods.until('ready', () => pods.isReady('side'));
    await pods.until('told', () => told('side').length === 4);
    await pods.remove('side');
    assert.deepEqual(told('side'), [
      'log-starts',
      'setup',
      'proxy-starts',
      'app-starts',
      'app-ends',
      'proxy-ends',
      'log-ends',
    ]);
  });

  pods.law('a Pod with completed main containers stops its sidecar and succeeds', async () => {
    pods.assignPod('job', [scripted('app', '/bin/busybox sleep 1')], {
      restartPolicy: 'Never',
      initContainers: [scripted('log', WAITING, { restartPolicy: 'Always' })],
    });
    await pods.until('succeeded', () => phase('job') === 'Succeeded');
    await pods.until('nothing runs', async () => !(await anyRuns('job')));
    await pods.remove('job');
  });

  pods.law(
    'postStart runs before the container is reported as running, preStop before its stop',
    async () => {
      const hook = (word: string) => ({
        exec: { command: ['/bin/busybox', 'sh', '-c', `/bin/busybox sleep 0.5; echo ${word} >>/told/hooks`] },
      });
      const lifecycle = { postStart: hook('post'), preStop: hook('pre') };
      pods.assignPod('hooks', [telling('hooks', 'app', lasting('app'), { lifecycle })], {
        volumes: volumes(),
      });
      await pods.until('running', () => pods.fixture.state('hooks') === 'running');
      assert.deepEqual(told('hooks'), ['app-starts', 'post']);
      await pods.remove('hooks');
      assert.deepEqual(told('hooks'), ['app-starts', 'post', 'pre', 'app-ends']);
    },
  );

  pods.law(
    'a failed postStart hook stops its container, and a hanging preStop hook is limited by the grace period',
    async () => {
      const lifecycle = { postStart: { exec: { command: ['/bin/busybox', 'false'] } } };
      pods.assignPod('badhook', [scripted('app', WAITING, { lifecycle })]);
      await pods.event('FailedPostStartHook: PostStartHook failed');
      await pods.event('Killing: FailedPostStartHook');
      await pods.until('tried again', () => (pods.fixture.container('badhook')?.restartCount ?? 0) > 0);
      await pods.remove('badhook');
      const hanging = { preStop: { exec: { command: ['/bin/busybox', 'sleep', '600'] } } };
      pods.assignPod('hangs', [scripted('app', WAITING, { lifecycle: hanging })], {
        terminationGracePeriodSeconds: 2,
      });
      await pods.until('running', () => pods.fixture.state('hangs') === 'running');
      const began = performance.now();
      await pods.remove('hangs');
      assert.ok(performance.now() - began < 25_000);
      await pods.event('FailedPreStopHook: PreStopHook failed');
    },
  );

  pods.law(
    'the termination message comes from the file, or from the log with FallbackToLogsOnError',
    async () => {
      pods.assignPod(
        'words',
        [
          scripted('app', 'echo "disk is full" >/dev/termination-log; exit 1'),
          scripted('other', 'echo "in my own place" >/my/words; exit 1', {
            terminationMessagePath: '/my/words',
          }),
          scripted('logs', 'echo one; echo two; exit 1', {
            terminationMessagePolicy: 'FallbackToLogsOnError',
          }),
          scripted('silent', 'echo one; exit 1'),
          scripted('user', 'echo mine >/dev/termination-log; exit 1', {
            securityContext: { runAsUser: 1000 },
          }),
        ],
        { restartPolicy: 'Never' },
      );
      await pods.until('failed', () => phase('words') === 'Failed');
      const words = (name: string) => pods.fixture.container('words', name)?.state?.terminated?.message;
      assert.equal(words('app'), 'disk is full\n');
      assert.equal(words('other'), 'in my own place\n');
      assert.equal(words('logs'), 'one\ntwo\n');
      assert.equal(words('silent'), undefined);
      assert.equal(words('user'), 'mine\n');
      await pods.remove('words');
      assert.equal(existsSync(join(pods.fixture.dataDir, 'pods/uid-words')), false);
    },
  );

  pods.law('activeDeadlineSeconds fails the Pod permanently', async () => {
    pods.assignPod('late', [scripted('app', WAITING)], { activeDeadlineSeconds: 2 });
    await pods.until('failed', () => phase('late') === 'Failed');
    assert.equal(pods.fixture.statuses.get('uid-late')?.reason, 'DeadlineExceeded');
    await pods.event('DeadlineExceeded: Pod was active on the node longer than the specified deadline');
    await pods.until('nothing runs', async () => !(await anyRuns('late')));
    await pods.remove('late');
  });
});
