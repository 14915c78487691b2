/** Pulls from a registry that is reachable, that lacks the image, or that is unreachable. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DockerEngine } from '../../../agent/runtime/docker/docker-engine.js';
import { askEngine } from '../../../agent/runtime/docker/find-engine.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { REGISTRY, TestRegistry } from '../../harness/engines/image-registry.js';
import { startEngine, type TestEngine } from '../../harness/engines/test-engines.js';
import { config } from '../../laws/driver-fixture.js';

for (const kind of ['docker', 'podman'] as const) {
  describe(`image pulls with ${kind}`, { concurrency: 1 }, () => {
    let engine: TestEngine | string;
    let registry: TestRegistry | string;
    let driver: DockerEngine;

    before(async () => {
      engine = await startEngine(kind);
      registry = typeof engine === 'string' ? engine : await TestRegistry.start(engine);
      if (typeof engine === 'string') return;
      const found = await askEngine({ socketPath: engine.socketPath });
      driver = new DockerEngine(found, { clusterUID: 'pull', nodeName: 'pull' });
    });
    after(async () => {
      if (typeof registry !== 'string') await registry.stop();
      if (typeof engine === 'string') return;
      driver.close();
      await engine.stop();
    });
    const pull = (image: string) => driver.pull({ image, signal: AbortSignal.timeout(60_000) });
    const check = (name: string, body: (registry: TestRegistry) => Promise<void>) =>
      test(name, { timeout: 90_000 }, async (context) => {
        if (typeof registry === 'string') return leaveOut(context, `pulls with ${kind}`, registry);
        await body(registry);
      });

    check('an existing image is pulled, and the container status has its digest', async (filled) => {
      const image = await filled.push('app:1');
      await pull(image);
      assert.ok(await driver.findImage(image));
      await driver.create(config('pulled', { image }));
      const [container] = await driver.inspectPod('pulled');
      assert.match(container?.imageID ?? '', /^127\.0\.0\.1:5000\/app@sha256:[0-9a-f]{64}$/);
    });

    check("a missing tag is ErrImagePull with the registry's message", async () => {
      await assert.rejects(pull(`${REGISTRY}/app:none`), {
        reason: 'ErrImagePull',
        message: /manifest unknown/,
      });
    });

    check('an invalid image name is InvalidImageName', async () => {
      await assert.rejects(pull(`${REGISTRY}/App:1`), { reason: 'InvalidImageName' });
    });

    check('an unreachable registry is ErrImagePull', async (filled) => {
      await filled.stop();
      await assert.rejects(pull(`${REGISTRY}/app:2`), {
        reason: 'ErrImagePull',
        message: /connection refused/,
      });
    });
  });
}
