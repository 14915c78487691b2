/**
 * Images on real engines: a registry that requires a login, mirrors, a registry that breaks off a transfer, and a full
 * disk.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fullImageName } from '../../../agent/decisions/images/image-name.js';
import { ImageCollector } from '../../../agent/images/image-collector.js';
import { ImagePuller } from '../../../agent/images/image-puller.js';
import { ImageRecords } from '../../../agent/images/image-records.js';
import { PrefetchedImages } from '../../../agent/images/prefetched-images.js';
import { RegistrySettings } from '../../../agent/images/registry-settings.js';
import { DockerEngine } from '../../../agent/runtime/docker/docker-engine.js';
import { askEngine } from '../../../agent/runtime/docker/find-engine.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { acceleratedClock } from '../../harness/basics/test-clocks.js';
import { REGISTRY, type RegistryOptions, TestRegistry } from '../../harness/engines/image-registry.js';
import { startEngine, type TestEngine } from '../../harness/engines/test-engines.js';
import { FIXTURE_OWNER, PodHostFixture, podOf } from '../../harness/pods/pod-host-fixture.js';
import { config } from '../../laws/driver-fixture.js';
import { imageRemovedTests } from './image-removed.js';

const LOGIN = {
  user: 'robot',
  password: 'secret',
  bcrypt: '$2b$04$EzdfdcLR4EII2F6CpH1xj.gp1qs6i0ejtom2MigZ0G.MZkO15ou3S',
};
/** Divides back-offs: ten seconds take one. */
const HURRY = 10;
const never = new AbortController().signal;

for (const kind of ['docker', 'podman'] as const) {
  describe(`registries with ${kind}`, { concurrency: 1 }, () => {
    let engine: TestEngine | string;
    let driver: DockerEngine;
    let images: ImagePuller;
    const folder = mkdtempSync(join(tmpdir(), 'everynode-registries-'));
    const file = join(folder, 'registries.json');
    // The agent's timers are unreferenced, so the test has to keep its process alive.
    const alive = setInterval(() => undefined, 1000);

    before(async () => {
      engine = await startEngine(kind);
      if (typeof engine === 'string') return;
      driver = new DockerEngine(await askEngine({ socketPath: engine.socketPath }), FIXTURE_OWNER);
      images = new ImagePuller({
        driver,
        clock: systemClock,
        registries: new RegistrySettings(file),
        maxParallelPulls: 3,
      });
    });
    after(async () => {
      clearInterval(alive);
      rmSync(folder, { recursive: true, force: true });
      if (typeof engine === 'string') return;
      driver.close();
      await engine.stop();
    });
    const ensure = (image: string) => images.ensure({ image }, never, () => undefined);
    const check = (
      name: string,
      options: RegistryOptions,
      body: (registry: TestRegistry, host: TestEngine) => Promise<void>,
    ): void => {
      test(name, { timeout: 180_000 }, async (context) => {
        const what = `registries with ${kind}`;
        if (typeof engine === 'string') return leaveOut(context, what, engine);
        const registry = await TestRegistry.start(engine, options);
        if (typeof registry === 'string') return leaveOut(context, what, registry);
        try {
          await body(registry, engine);
        } finally {
          await registry.stop();
          rmSync(file, { force: true });
        }
      });
    };

    check(
      'a pull without credentials or with wrong ones is refused, and with the right ones succeeds',
      { login: LOGIN },
      async (registry) => {
        const image = await registry.push('private:1');
        const logIn = (password: string): void => {
          const auth = Buffer.from(`${LOGIN.user}:${password}`).toString('base64');
          writeFileSync(file, JSON.stringify({ auths: { [REGISTRY]: { auth } } }));
        };
        const refusal = {
          reason: 'ErrImagePull',
          message: /unauthorized|no basic auth credentials|authentication required/,
        };
        await assert.rejects(ensure(image), refusal);
        logIn('wrong');
        await assert.rejects(ensure(image), refusal);
        logIn(LOGIN.password);
        assert.equal((await ensure(image)).kind, 'pulled');
        assert.equal((await ensure(image)).kind, 'present');
      },
    );

    check(
      'a missing imagePullSecret is reported, and the Pod pulls once the Secret exists',
      { login: LOGIN },
      async (registry) => {
        const fixture = new PodHostFixture(driver, acceleratedClock(HURRY), kind);
        const image = await registry.push('own:1');
        const text = JSON.stringify({
          auths: { [REGISTRY]: { username: LOGIN.user, password: LOGIN.password } },
        });
        const secret: Secret = {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'login', namespace: 'default' },
          type: 'kubernetes.io/dockerconfigjson',
          data: { '.dockerconfigjson': Buffer.from(text).toString('base64') },
        };
        try {
          const spec = {
            terminationGracePeriodSeconds: 5,
            containers: [{ name: 'app', image }],
            imagePullSecrets: [{ name: 'login' }],
          };
          fixture.assignPod(podOf('q', spec));
          await fixture.until('it is refused', () => fixture.state('q') === 'ErrImagePull', 30_000);
          const missing =
            'FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (login); ' +
            'attempting to pull the image may not succeed.';
          assert.ok(fixture.events.includes(missing), fixture.events.join('\n'));
          await fixture.until('it backs off', () => fixture.state('q') === 'ImagePullBackOff', 30_000);
          fixture.storeConfig(secret);
          await fixture.until('it runs', () => fixture.state('q') === 'running', 60_000);
          fixture.deletePod('uid-q');
          await fixture.until(
            'it is gone',
            async () => (await driver.inspectPod('uid-q')).length === 0,
            60_000,
          );
        } finally {
          await fixture.close();
        }
      },
    );

    check(
      'containers keep running without their image, and their restart follows the pull policy',
      {},
      async (registry, host) => {
        const fixture = new PodHostFixture(driver, acceleratedClock(HURRY), kind);
        try {
          await imageRemovedTests(fixture, host, registry);
        } finally {
          await fixture.close();
        }
      },
    );

    check('a prefetched image is on the host before a Pod needs it', {}, async (registry) => {
      const image = await registry.push('ahead:1');
      const held = new PrefetchedImages(images, systemClock, silentLogger);
      held.prefetch([image]);
      const deadline = Date.now() + 30_000;
      while (!(await driver.findImage(image))) {
        assert.ok(Date.now() < deadline, 'not pulled');
        await sleep(50);
      }
      held.stop();
    });

    check("a mirror serves an unreachable registry's images by tag and by digest", {}, async (registry) => {
      await registry.push('library/mirrored:1');
      writeFileSync(file, JSON.stringify({ mirrors: { 'docker.io': [REGISTRY] } }));
      const tagged = await ensure('mirrored:1');
      assert.equal(tagged.image.name, 'docker.io/library/mirrored:1');
      assert.ok(tagged.image.sizeBytes > 100_000, `${tagged.image.sizeBytes}`);
      await driver.create(config('tagged', { image: tagged.image.name }));
      const [container] = await driver.inspectPod('tagged');
      const digest = /sha256:[0-9a-f]{64}$/.exec(container?.imageID ?? '')?.[0];
      const pinned = `mirrored@${digest}`;
      const byDigest = await ensure(pinned);
      assert.equal(byDigest.image.id, tagged.image.id);
      const image = fullImageName(pinned);
      await driver.create({ ...config('pinned', { image }), engineImage: byDigest.image.name });
      const [other] = await driver.inspectPod('pinned');
      assert.equal(other?.image, image);
      for (const { id } of await driver.list()) await driver.remove(id);
    });

    check('a Pod runs after its registry broke off a pull and returned', {}, async (registry, host) => {
      const fixture = new PodHostFixture(driver, acceleratedClock(HURRY), kind);
      // 24 MB at 2 MB/s: after two seconds the transfer is still running, even on a busy machine.
      const image = await registry.push('large:1', 24_000_000);
      host.onHost(
        'tc',
        'qdisc',
        'add',
        'dev',
        'lo',
        'root',
        'tbf',
        'rate',
        '16mbit',
        'burst',
        '64kb',
        'latency',
        '400ms',
      );
      try {
        fixture.assignPod(
          podOf('p', { terminationGracePeriodSeconds: 5, containers: [{ name: 'app', image }] }),
        );
        await fixture.until(
          'the pull to start',
          () => fixture.events.some((event) => event.startsWith('Pulling')),
          20_000,
        );
        await sleep(2_000);
        assert.equal(fixture.state('p'), 'ContainerCreating');
        await registry.kill();
        host.onHost('tc', 'qdisc', 'del', 'dev', 'lo', 'root');
        await registry.restart();
        await fixture.until('it runs', () => fixture.state('p') === 'running', 120_000);
        assert.ok(
          fixture.events.some((event) =>
            /^Pulled: Successfully pulled image .* Image size: \d{8} bytes\.$/.test(event),
          ),
        );
        const held = fixture.assignedPods.get('uid-p');
        assert.ok(held);
        fixture.deletePod('uid-p');
        await fixture.until(
          'it is gone',
          async () => (await driver.inspectPod('uid-p')).length === 0,
          30_000,
        );
      } finally {
        await fixture.close();
      }
    });

    check('a full disk removes unused images and keeps those of containers', {}, async (registry) => {
      const [used, unused] = [await registry.push('used:1'), await registry.push('unused:1', 1000)];
      const records = ImageRecords.inMemory();
      for (const image of [used, unused]) {
        await ensure(image);
        await records.recordPull(fullImageName(image), 0);
      }
      const id = await driver.create(config('user', { image: used }));
      const warnings: string[] = [];
      const collector = new ImageCollector({
        driver,
        records,
        thresholds: { high: 85, low: 80 },
        disk: async () => ({ capacityBytes: 1000, availableBytes: 0 }),
        pinned: () => [],
        warn: (reason) => void warnings.push(reason),
        clock: systemClock,
        log: silentLogger,
      });
      await collector.collect();
      assert.ok(await driver.findImage(used));
      assert.equal(await driver.findImage(unused), undefined);
      await assert.rejects(collector.collect(), /only found 0 bytes eligible to free/);
      assert.deepEqual(warnings, ['FreeDiskSpaceFailed']);
      await driver.remove(id);
    });
  });
}
