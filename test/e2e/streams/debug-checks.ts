/** `kubectl debug` on a real engine: ephemeral containers join a running Pod and disturb nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until } from '../../harness/basics/wait-until.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { shell } from '../../harness/engines/test-images.js';
import { TourFixture } from '../../harness/hosts/tour-fixture.js';
import { Terminal } from '../../harness/processes/pseudo-terminal.js';

const IMAGE = 'app:1';
const TIMEOUT_MS = 40_000;

function podOf(name: string, containers: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: Array.from({ length: containers }, (_, index) => ({
        name: `app-${index}`,
        image: IMAGE,
        command: shell('exec /bin/busybox sleep 3600'),
      })),
    },
  };
}

/** Types until the terminal shows the answer: the first keys may arrive before the shell reads. */
async function sees(terminal: Terminal, typed: string, answer: RegExp): Promise<void> {
  const type = async () => {
    if (!answer.test(terminal.printed)) terminal.type(typed);
    return answer.test(terminal.printed);
  };
  await until(type, { timeoutMs: TIMEOUT_MS, pollMs: 500, what: `an answer, not ${terminal.printed}` });
}

/** Registers the tests on one engine. */
export function debugTests(kind: EngineKind): void {
  describe(`kubectl debug on ${kind}`, { concurrency: 1 }, () => {
    let fixture: TourFixture | string;
    before(async () => {
      fixture = await TourFixture.open(kind, { images: [IMAGE] });
    });
    after(async () => {
      if (typeof fixture !== 'string') await fixture.close();
    });

    for (const count of [1, 2]) {
      test(`an ephemeral container joins a Pod of ${count} containers, ends once and is not restarted`, async (context) => {
        if (typeof fixture === 'string') return leaveOut(context, `debug on ${kind}`, fixture);
        const { kubectl } = fixture;
        const name = `seen-${count}`;
        const read = async (): Promise<Pod> => JSON.parse(await kubectl.ok(`get pod ${name} -o json`)) as Pod;
        await kubectl.ok('apply -f -', JSON.stringify(podOf(name, count)));
        await kubectl.ok(`wait pod ${name} --for=condition=Ready --timeout=40s`);
        const before = (await read()).status?.containerStatuses;

        const debug = `debug ${name} --image=${IMAGE} --target=app-0 --profile=general`.split(' ');
        const script = 'echo hello; while ! [ -e /tmp-end ]; do /bin/busybox sleep 1; done; exit 3';
        const started = await kubectl.run([...debug, '-c', 'dbg', '--', ...shell(script)]);
        assert.equal(started.code, 0, started.stderr);
        const state = async () => (await read()).status?.ephemeralContainerStatuses?.[0]?.state;
        await until(async () => (await state())?.running !== undefined, { timeoutMs: TIMEOUT_MS });
        assert.equal(await kubectl.ok(`logs ${name} -c dbg`), 'hello');
        // The processes and the address of the target are those that the ephemeral container shows.
        const exec = (command: string) => kubectl.ok(`exec ${name} -c dbg -- busybox ${command}`);
        assert.match(await exec('ps'), /busybox sleep 3600/);
        assert.match(await exec('ip addr'), new RegExp(`${(await read()).status?.podIP}/`));

        await exec('touch /tmp-end');
        await until(async () => (await state())?.terminated !== undefined, { timeoutMs: TIMEOUT_MS });
        const { status, spec } = await read();
        assert.equal(status?.ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode, 3);
        assert.equal(status?.ephemeralContainerStatuses?.[0]?.restartCount, 0);
        assert.equal(status?.phase, 'Running');
        assert.deepEqual(status?.containerStatuses, before);
        assert.equal(spec.ephemeralContainers?.length, 1);

        const typed = await kubectl.run(
          [...debug, '-c', 'typed', '-i', '--', ...shell('read line; echo got $line')],
          'word\n',
        );
        assert.equal(typed.code, 0, typed.stderr);
        await until(async () => (await kubectl.ok(`logs ${name} -c typed`)) === 'got word', {
          timeoutMs: TIMEOUT_MS,
        });
        await kubectl.ok(`delete pod ${name} --timeout=40s`);
      });
    }

    test('debug -it and attach -it are a terminal in the ephemeral container', async (context) => {
      if (typeof fixture === 'string') return leaveOut(context, `debug on ${kind}`, fixture);
      const { kubectl } = fixture;
      await kubectl.ok('apply -f -', JSON.stringify(podOf('typed-at', 1)));
      await kubectl.ok('wait pod typed-at --for=condition=Ready --timeout=40s');
      const debug = `debug typed-at -it -c sh --image=${IMAGE} --target=app-0 --profile=general`;
      const first = new Terminal(kubectl, `${kubectl.binary} ${debug} -- /bin/busybox sh`);
      await sees(first, 'echo sum $((6*7))\r', /sum 42\r\n/);
      first.kill();
      const second = new Terminal(kubectl, `${kubectl.binary} attach -it typed-at -c sh`);
      await sees(second, 'echo sum $((6*8))\r', /sum 48\r\n/);
      second.type('exit 5\r');
      await second.ended;
      const read = async () => (JSON.parse(await kubectl.ok('get pod typed-at -o json')) as Pod).status;
      await until(
        async () => (await read())?.ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode === 5,
        { timeoutMs: TIMEOUT_MS },
      );
    });

    test('an ended one is not started again after the engine lost it and everything restarted', async (context) => {
      if (typeof fixture === 'string') return leaveOut(context, `debug on ${kind}`, fixture);
      const { kubectl, containers } = fixture;
      await kubectl.ok('apply -f -', JSON.stringify(podOf('lost', 2)));
      await kubectl.ok('wait pod lost --for=condition=Ready --timeout=40s');
      const read = async () => (JSON.parse(await kubectl.ok('get pod lost -o json')) as Pod).status;
      const own = async () => (await read())?.ephemeralContainerStatuses?.[0];
      const ends = async (container: string, script: string): Promise<void> => {
        const debug = `debug lost --image=${IMAGE} -c ${container} --`.split(' ');
        assert.equal((await kubectl.run([...debug, ...shell(script)])).code, 0);
      };
      await ends('once', 'exit 4');
      await until(async () => (await own())?.state?.terminated?.exitCode === 4, { timeoutMs: TIMEOUT_MS });
      const before = await own();
      const id = before?.containerID?.split('//')[1] ?? '';
      await containers.remove(id);
      await fixture.up.end('SIGTERM');
      await fixture.startUp();
      // The host has handled the changed Pod when this second container has run.
      await ends('next', 'exit 0');
      await until(
        async () => (await read())?.ephemeralContainerStatuses?.[1]?.state?.terminated !== undefined,
        { timeoutMs: TIMEOUT_MS },
      );
      assert.deepEqual(await own(), before);
    });

    test('an image that cannot be pulled is a reason of the ephemeral container alone', async (context) => {
      if (typeof fixture === 'string') return leaveOut(context, `debug on ${kind}`, fixture);
      const { kubectl } = fixture;
      await kubectl.ok('apply -f -', JSON.stringify(podOf('whole', 1)));
      await kubectl.ok('wait pod whole --for=condition=Ready --timeout=40s');
      await kubectl.ok('debug whole --image=127.0.0.1:9/none:1 -c bad');
      const read = async () => (JSON.parse(await kubectl.ok('get pod whole -o json')) as Pod).status;
      const waiting = async () => (await read())?.ephemeralContainerStatuses?.[0]?.state?.waiting?.reason;
      await until(async () => /ErrImagePull|ImagePullBackOff/.test((await waiting()) ?? ''), {
        timeoutMs: TIMEOUT_MS,
      });
      assert.match(await kubectl.ok('get pod whole'), /1\/1 +Running/);
    });
  });
}
