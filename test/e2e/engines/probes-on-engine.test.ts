/** Each kind of probe in a real container, with a server that stops answering. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { runContainerCommand } from '../../../agent/runtime/container-command.js';
import type { Handler, Probe } from '../../../shared/kube/pods/probe-types.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { onEachEngine, scripted, WAITING } from '../../harness/engines/engine-pods.js';
import { shell } from '../../harness/engines/test-images.js';
import { NOT_SERVING, startHealthServer } from '../../harness/pods/health-server.js';

const QUICK: Probe = { periodSeconds: 1, failureThreshold: 2 };
/** Serves `ok` below /www at port 8080. SIGUSR1 ends the server and keeps the container running. */
const SERVER = `
  /bin/busybox --install -s /bin
  mkdir /www; echo ok >/www/ok
  httpd -f -p 8080 -h /www & server=$!
  trap "exit 0" TERM; trap "kill $server" USR1
  while :; do sleep 3600 & wait $!; done`;

const BAD: Record<string, { handler: Handler; spoil: string; words: RegExp }> = {
  exec: {
    handler: { exec: { command: ['/bin/busybox', 'cat', '/www/ok'] } },
    spoil: 'rm /www/ok',
    words: /^Unhealthy: Liveness probe failed: cat: can't open '\/www\/ok'/,
  },
  httpGet: {
    handler: { httpGet: { path: '/ok', port: 'web' } },
    spoil: 'rm /www/ok',
    words: /^Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 404$/,
  },
  tcpSocket: {
    handler: { tcpSocket: { port: 8080 } },
    spoil: 'kill -USR1 1',
    words: /^Unhealthy: Liveness probe failed: dial tcp [\d.]+:8080: connect: connection refused$/,
  },
};

onEachEngine('probes', (pods) => {
  /** Runs a shell command in the Pod's container. */
  const inside = async (pod: string, command: string): Promise<string> => {
    const containers = await pods.fixture.driver.inspectPod(`uid-${pod}`);
    const id = containers.find(({ state }) => state === 'running')?.id ?? '';
    const result = await runContainerCommand(pods.fixture.driver, id, shell(command), 10_000, systemClock);
    assert.ok(result.kind === 'ended' && result.exitCode === 0, result.output.toString());
    return result.output.toString();
  };
  const isRestarted = (pod: string) => (pods.fixture.container(pod)?.restartCount ?? 0) > 0;

  describe('probes of a server that stops answering', () => {
    for (const [name, { handler, spoil, words }] of Object.entries(BAD)) {
      pods.law(`a failed ${name} liveness probe restarts the container`, async () => {
        const ports = [{ name: 'web', containerPort: 8080 }];
        const both = {
          readinessProbe: { ...QUICK, ...handler },
          livenessProbe: { ...QUICK, ...handler, initialDelaySeconds: 1 },
        };
        pods.assignPod(name, [scripted('app', SERVER, { ports, ...both })], { hostNetwork: true });
        await pods.until('good', () => pods.isReady(name));
        await inside(name, spoil);
        await pods.until('restarted', () => isRestarted(name));
        assert.ok(
          pods.fixture.events.some((event) => words.test(event)),
          pods.fixture.events.join('\n'),
        );
        await pods.event('Killing: Container app failed liveness probe, will be restarted');
        assert.equal(pods.fixture.container(name)?.lastState?.terminated?.exitCode, 0);
        await pods.until('good again', () => pods.isReady(name));
        await pods.remove(name);
      });
    }

    pods.law('a failed gRPC liveness probe restarts the container', async () => {
      const server = await startHealthServer();
      const { facts } = pods.fixture;
      const { hostIP = '' } = facts;
      // The server runs in the test process.
      facts.hostIP = '127.0.0.1';
      try {
        const handler = { grpc: { port: server.port, service: 'shop' } };
        const both = { readinessProbe: { ...QUICK, ...handler }, livenessProbe: { ...QUICK, ...handler } };
        pods.assignPod('grpc', [scripted('app', WAITING, both)], { hostNetwork: true });
        await pods.until('good', () => pods.isReady('grpc'));
        server.answer = (service) => ({ status: service === 'shop' ? NOT_SERVING : 1 });
        await pods.event(
          'Unhealthy: Liveness probe failed: service unhealthy (responded with "NOT_SERVING")',
        );
        await pods.until('restarted', () => isRestarted('grpc'));
        await pods.remove('grpc');
      } finally {
        facts.hostIP = hostIP;
        await server.close();
      }
    });
  });

  pods.law('a readiness probe fails and recovers without a restart', async () => {
    const readinessProbe = { ...QUICK, failureThreshold: 1, httpGet: { path: '/ok', port: 8080 } };
    pods.assignPod('ready', [scripted('app', SERVER, { readinessProbe })], { hostNetwork: true });
    await pods.until('ready', () => pods.isReady('ready'));
    await inside('ready', 'rm /www/ok');
    await pods.until('unready', () => !pods.isReady('ready'));
    await pods.event('Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 404');
    await inside('ready', 'echo ok >/www/ok');
    await pods.until('ready again', () => pods.isReady('ready'));
    assert.equal(pods.fixture.container('ready')?.restartCount, 0);
    await pods.remove('ready');
  });

  pods.law('a startup probe delays the other probes, and its failure restarts the container', async () => {
    const never = { ...QUICK, tcpSocket: { port: 9 } };
    const both = { startupProbe: never, livenessProbe: { ...never, failureThreshold: 1 } };
    const events = pods.fixture.events.length;
    pods.assignPod('slow', [scripted('app', WAITING, both)], { hostNetwork: true });
    await pods.event('Killing: Container app failed startup probe, will be restarted');
    assert.equal(pods.fixture.container('slow')?.started, false);
    assert.ok(!pods.fixture.events.slice(events).some((event) => event.includes('Liveness')));
    await pods.remove('slow');
  });

  pods.law('a hanging exec probe times out and counts as a failure', async () => {
    const readinessProbe = { ...QUICK, exec: { command: ['/bin/busybox', 'sleep', '60'] } };
    pods.assignPod('hangs', [scripted('app', WAITING, { readinessProbe })]);
    await pods.event('Unhealthy: Readiness probe failed: command "/bin/busybox sleep 60" timed out');
    await pods.remove('hangs');
  });

  pods.law('a restarted agent keeps Pods ready and runs no postStart hook again', async () => {
    const readinessProbe = { periodSeconds: 60, httpGet: { path: '/ok', port: 8080 } };
    const lifecycle = {
      postStart: { exec: { command: ['/bin/busybox', 'sh', '-c', 'echo hook >>/hooks'] } },
    };
    const app = scripted('app', SERVER, {
      readinessProbe: { ...readinessProbe, initialDelaySeconds: 1 },
      lifecycle,
    });
    pods.assignPod('kept', [app], { hostNetwork: true });
    await pods.until('ready', () => pods.isReady('kept'));
    const before = pods.fixture.statuses.get('uid-kept');
    await pods.fixture.restartAgent();
    await pods.until('told again', () => pods.fixture.statuses.has('uid-kept'));
    assert.deepEqual(pods.fixture.statuses.get('uid-kept'), before);
    assert.equal(await inside('kept', 'cat /hooks'), 'hook\n');
    await pods.remove('kept');
  });
});
