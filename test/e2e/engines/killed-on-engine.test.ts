/**
 * Kills agent, container and engine: afterwards each Pod runs exactly once. Also checks what Pods share with each other
 * and with the host.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { EngineFixture } from '../../harness/engines/engine-fixture.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { shell } from '../../harness/engines/test-images.js';
import { engineUpgraded } from './engine-upgraded.js';

/** A container that runs a shell script and then waits for SIGTERM. */
function container(name: string, script: string, overrides: Partial<Container> = {}): Container {
  const waits = 'trap "exit 0" TERM; while :; do /bin/busybox sleep 3600 & wait $!; done';
  return { name, image: 'app:1', command: shell(`${script}; ${waits}`), ...overrides };
}

for (const kind of ['docker', 'podman'] as const satisfies EngineKind[]) {
  describe(`kills of agent, containers and engine on ${kind}`, { concurrency: 1 }, () => {
    let fixture: EngineFixture;
    let missing: string | undefined;

    before(async () => {
      const opened = await EngineFixture.open(kind);
      if (typeof opened === 'string') missing = opened;
      else fixture = opened;
    });
    after(async () => {
      if (!missing) await fixture.close();
    });
    const check = (name: string, body: () => Promise<void>) =>
      test(name, { timeout: 180_000 }, async (context) => {
        if (missing) return leaveOut(context, `what a kill leaves on ${kind}`, missing);
        await body();
      });

    check('containers of a Pod share network and IPC namespaces', async () => {
      const serve =
        'busybox mkdir -p /www; echo shared > /www/index.html; busybox httpd -p 127.0.0.1:8080 -h /www; echo memory > /dev/shm/note';
      const read =
        'until busybox wget -q -O - http://127.0.0.1:8080/ && busybox cat /dev/shm/note; do busybox sleep 0.2; done';
      fixture.assignPod('pair', { containers: [container('one', serve), container('two', read)] });
      await fixture.untilReady('pair');
      const two = (await fixture.running('pair')).find(({ identity }) => identity.container === 'two');
      assert.ok(two);
      await fixture.until('both were shared', async () => /shared\nmemory\n/.test(await fixture.logOf(two)));
      await fixture.delete('pair');
      assert.deepEqual(await fixture.driver.inspectPod('pair'), []);
    });

    check('a host port forwards to the Pod', async () => {
      const script = 'busybox mkdir -p /www; echo found > /www/index.html; busybox httpd -p 80 -h /www';
      fixture.assignPod('port', {
        containers: [container('web', script, { ports: [{ containerPort: 80, hostPort: 18080 }] })],
      });
      await fixture.untilReady('port');
      await fixture.until('the port answers', async () => {
        const answer = await fetch(`http://${fixture.engine.address}:18080/`).catch(() => undefined);
        return (await answer?.text())?.trim() === 'found';
      });
      await fixture.delete('port');
    });

    check('a container that exceeds its memory limit is OOM-killed', async () => {
      fixture.assignPod('limits', {
        containers: [
          {
            name: 'app',
            image: 'app:1',
            command: shell('busybox sleep 0.5; exec busybox dd if=/dev/zero of=/dev/null bs=64M'),
            resources: { limits: { memory: '16Mi', cpu: '200m' } },
          },
        ],
      });
      const last = () => fixture.statuses.get('limits')?.containerStatuses?.[0]?.lastState?.terminated;
      await fixture.until('it was killed', () => last()?.exitCode === 137);
      // Docker reports the exit and its OOM cause in separate events and sometimes sends the exit first. Wait for the
      // next exit in that case. conmon never sees the cause on cgroup v1 machines.
      if (kind === 'docker')
        await fixture.until('the exit reason to be reported', () => last()?.reason === 'OOMKilled');
      await fixture.delete('limits');
    });

    check('a killed container restarts, and the other containers of its Pod do not', async () => {
      fixture.assignPod('crash', { containers: [container('app', ':')] });
      await fixture.untilReady('crash');
      const [first] = await fixture.running('crash');
      killFromOutside(fixture, first?.id ?? '');
      const status = () => fixture.statuses.get('crash')?.containerStatuses?.[0];
      await fixture.until('it runs again', () => status()?.restartCount === 1 && fixture.isReady('crash'));
      assert.equal(status()?.lastState?.terminated?.exitCode, 137);
      assert.equal((await fixture.running('crash')).length, 1);
      await fixture.delete('crash');
    });

    if (kind === 'podman') {
      check('a container is recreated if the killed engine has lost its storage', async () => {
        fixture.assignPod('lost', { containers: [container('app', ':')] });
        await fixture.untilReady('lost');
        const [first] = await fixture.running('lost');
        await fixture.killAgent();
        killFromOutside(fixture, first?.id ?? '');
        await fixture.engine.loseStorage(first?.id ?? '');
        await fixture.startAgent();
        await fixture.until('it runs again', async () => {
          const [now, ...more] = await fixture.running('lost');
          return now !== undefined && now.id !== first?.id && more.length === 0;
        });
        await fixture.delete('lost');
      });
    }

    check('kill -9 of the agent changes no container', async () => {
      fixture.assignPod('adopted', { containers: [container('app', ':')] });
      await fixture.untilReady('adopted');
      const before = await fixture.driver.inspectPod('adopted');
      await fixture.killAgent();
      await fixture.startAgent();
      await fixture.untilReady('adopted');
      assert.deepEqual(await fixture.driver.inspectPod('adopted'), before);
      await fixture.delete('adopted');
    });

    check(
      "a Pod that was deleted while the agent was down is removed after the agent's restart",
      async () => {
        fixture.assignPod('dark', { containers: [container('app', ':')] });
        await fixture.untilReady('dark');
        await fixture.killAgent();
        const deleted = fixture.delete('dark');
        await fixture.startAgent();
        await deleted;
        assert.deepEqual(await fixture.driver.inspectPod('dark'), []);
      },
    );

    check('kill -9 of the engine leaves one running container for each Pod', async () => {
      fixture.assignPod('engine', { containers: [container('app', ':')] });
      fixture.assignPod('engine-pair', { containers: [container('one', ':'), container('two', ':')] });
      await fixture.untilReady('engine');
      await fixture.untilReady('engine-pair');
      await fixture.engine.kill();
      await fixture.engine.start();
      const names = async (pod: string) =>
        (await fixture.running(pod)).map(({ identity }) => identity.container).sort();
      await fixture.until('both run again', async () => {
        const [single, pair] = [await names('engine'), await names('engine-pair')];
        return single.join() === 'app' && pair.join() === ',one,two' && fixture.isReady('engine-pair');
      });
      await fixture.delete('engine');
      await fixture.delete('engine-pair');
      assert.deepEqual(await fixture.driver.list(), []);
    });

    check('an engine upgrade leaves each container running once, with a correct status', () =>
      engineUpgraded(fixture),
    );
  });
}

/** Sends SIGKILL to the processes of a container without using its engine. */
function killFromOutside(fixture: EngineFixture, id: string): void {
  const pids = fixture.engine.processesOf(id);
  assert.ok(pids.length > 0);
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // The kernel had already ended the process: it kills the whole PID namespace together with its first process.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
