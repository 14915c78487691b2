/** Static Pods on real engines: a manifest file on the host runs as a Pod, with a coordinator and without one. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { NODE, TourFixture } from '../../harness/hosts/tour-fixture.js';
import { startProgram } from '../../harness/processes/everynode-processes.js';

const manifest = (name: string, image = 'app:1') => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${name}}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: app, image: "${image}"}
`;

function onEngine(kind: EngineKind): void {
  describe(`static Pods on ${kind}`, { concurrency: 1 }, () => {
    let fixture: TourFixture | string;
    before(async () => {
      fixture = await TourFixture.open(kind, { images: ['app:1', 'app:2'] });
    });
    after(async () => {
      if (typeof fixture !== 'string') await fixture.close();
    });
    const law = (name: string, body: (fixture: TourFixture) => Promise<void>): void => {
      test(name, async (context) => {
        if (typeof fixture === 'string') leaveOut(context, `static Pods on ${kind}`, fixture);
        else await body(fixture);
      });
    };
    const put = (on: TourFixture, name: string, text: string): void => {
      const directory = join(on.dataDir, 'agent', 'manifests');
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, name), text);
    };
    const runs = (on: TourFixture, name: string, image = 'app:1') =>
      untilPasses(async () => {
        const running = (await on.containers.ofPods(name)).filter(({ state }) => state === 'running');
        assert.equal(running.length, 1);
        assert.ok(running[0]?.image.endsWith(image), running[0]?.image);
      });

    law('a static Pod runs and has a mirror Pod with status, log and Events', async (on) => {
      put(on, 'web.yaml', manifest('web'));
      await untilPasses(async () => {
        assert.match(await on.kubectl.ok('get pods'), new RegExp(`web-${NODE} +1/1 +Running +0`));
      });
      const annotations = await on.kubectl.ok(`get pod web-${NODE} -o jsonpath={.metadata.annotations}`);
      const { 'kubernetes.io/config.mirror': mirror, 'kubernetes.io/config.source': source } =
        JSON.parse(annotations);
      const [container] = await on.containers.ofPods('web');
      assert.deepEqual([mirror, source], [container?.podUID, 'file']);
      await untilPasses(async () => assert.equal(await on.kubectl.ok(`logs web-${NODE}`), 'ready'));
      assert.match(
        await on.kubectl.ok(`exec web-${NODE} -- /bin/busybox hostname`),
        new RegExp(`web-${NODE}`),
      );
      await untilPasses(async () => {
        const events = await on.kubectl.ok(`get events --field-selector involvedObject.name=web-${NODE}`);
        assert.match(events, /Started +pod\/web-/);
      });
    });

    law('a deleted mirror Pod is recreated while its container keeps running', async (on) => {
      const [before] = await on.containers.ofPods('web');
      await on.kubectl.ok(`delete pod web-${NODE} --wait=false`);
      await untilPasses(async () => {
        assert.match(await on.kubectl.ok('get pods'), new RegExp(`web-${NODE} +1/1 +Running +0`));
      });
      const [now] = await on.containers.ofPods('web');
      assert.equal(now?.id, before?.id);
    });

    law('a changed manifest replaces the static Pod', async (on) => {
      put(on, 'web.yaml', manifest('web', 'app:2'));
      await runs(on, 'web', 'app:2');
      await untilPasses(async () => {
        const image = await on.kubectl.ok(`get pod web-${NODE} -o jsonpath={.spec.containers[0].image}`);
        assert.equal(image, 'app:2');
        assert.match(await on.kubectl.ok('get pods'), new RegExp(`web-${NODE} +1/1 +Running`));
      });
    });

    law('static Pods start and stop without a coordinator', async (on) => {
      await on.up.end('SIGKILL');
      await untilPasses(() => assert.deepEqual(on.agents(), []));
      rmSync(join(on.dataDir, 'agent', 'manifests', 'web.yaml'));
      put(on, 'lone.yaml', manifest('lone'));
      const args = ['--data', join(on.dataDir, 'agent'), '--server', `https://127.0.0.1:${on.port}`];
      args.push('--node-name', NODE, '--runtime', kind);
      const alone = startProgram(
        'agent/everynode-agent.cjs',
        args,
        join(on.dataDir, 'alone.log'),
        on.environment,
      );
      try {
        await runs(on, 'lone');
        await untilPasses(async () => assert.deepEqual(await on.containers.ofPods('web'), []));
      } finally {
        await alone.end('SIGTERM');
      }
      await on.startUp();
      await untilPasses(async () => {
        const pods = await on.kubectl.ok('get pods');
        assert.match(pods, new RegExp(`lone-${NODE} +1/1 +Running +0`));
        assert.doesNotMatch(pods, /web-/);
      });
    });
  });
}

onEngine('docker');
onEngine('podman');
