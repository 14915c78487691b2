/** Laws of drivers: sandboxes. */
import assert from 'node:assert/strict';
import { SANDBOX } from '../../agent/runtime/runtime-driver.js';
import { identity, type LawFixture } from './driver-fixture.js';
import { only } from './driver-law-steps.js';

export function sandboxLaws(bench: LawFixture): void {
  bench.law('the sandbox image exists without a registry, and runs until stopped', async (podUid) => {
    const image = await bench.ours.ensureSandboxImage();
    assert.equal(await bench.ours.ensureSandboxImage(), image);
    const id = await bench.run(
      podUid,
      { image },
      { identity: identity(podUid, SANDBOX, 0), ipc: { kind: 'shareable' } },
    );
    const sandbox = only(await bench.ours.inspectPod(podUid));
    assert.equal(sandbox.identity.container, SANDBOX);
    assert.equal(sandbox.state, 'running');
    assert.match(sandbox.ip ?? '', /^\d+\.\d+\.\d+\.\d+$/);
    await bench.run(podUid, bench.fixture.waits, {
      network: { kind: 'container', id },
      ipc: { kind: 'container', id },
    });
    await bench.ours.stop(id, 20);
    const stopped = (await bench.ours.inspectPod(podUid)).find((container) => container.id === id);
    assert.equal(stopped?.exitCode, 0);
  });

  bench.law(
    'a sandbox can be removed before its exited containers, and at once with them',
    async (podUid) => {
      const image = await bench.ours.ensureSandboxImage();
      for (const attempt of [0, 1]) {
        const sandbox = await bench.run(podUid, { image }, { identity: identity(podUid, SANDBOX, attempt) });
        const network = { kind: 'container', id: sandbox } as const;
        const member = await bench.run(podUid, bench.fixture.waits, {
          network,
          identity: identity(podUid, 'app', attempt),
        });
        await Promise.all([bench.ours.stop(member, 5), bench.ours.stop(sandbox, 5)]);
        if (attempt === 0) await bench.ours.remove(sandbox);
        else await Promise.all([bench.ours.remove(sandbox), bench.ours.remove(member)]);
        const left = (await bench.ours.inspectPod(podUid)).map(({ id }) => id);
        assert.ok(!left.includes(sandbox));
      }
    },
  );
}
