/** Laws of drivers: sandboxes. */
import assert from 'node:assert/strict';
import { SANDBOX } from '../../agent/runtime/runtime-driver.js';
import { identity, type LawFixture } from './driver-fixture.js';
import { only } from './driver-law-steps.js';

export function sandboxLaws(fixture: LawFixture): void {
  fixture.law('the sandbox image exists without a registry, and runs until stopped', async (podUid) => {
    const image = await fixture.ours.ensureSandboxImage();
    assert.equal(await fixture.ours.ensureSandboxImage(), image);
    const id = await fixture.run(
      podUid,
      { image },
      { identity: identity(podUid, SANDBOX, 0), ipc: { kind: 'shareable' } },
    );
    const sandbox = only(await fixture.ours.inspectPod(podUid));
    assert.equal(sandbox.identity.container, SANDBOX);
    assert.equal(sandbox.state, 'running');
    assert.match(sandbox.ip ?? '', /^\d+\.\d+\.\d+\.\d+$/);
    await fixture.run(podUid, fixture.fixture.waits, {
      network: { kind: 'container', id },
      ipc: { kind: 'container', id },
    });
    await fixture.ours.stop(id, 20);
    const stopped = (await fixture.ours.inspectPod(podUid)).find((container) => container.id === id);
    assert.equal(stopped?.exitCode, 0);
  });

  fixture.law(
    'a sandbox can be removed before its exited containers, and at once with them',
    async (podUid) => {
      const image = await fixture.ours.ensureSandboxImage();
      for (const attempt of [0, 1]) {
        const sandbox = await fixture.run(
          podUid,
          { image },
          { identity: identity(podUid, SANDBOX, attempt) },
        );
        const network = { kind: 'container', id: sandbox } as const;
        const member = await fixture.run(podUid, fixture.fixture.waits, {
          network,
          identity: identity(podUid, 'app', attempt),
        });
        await Promise.all([fixture.ours.stop(member, 5), fixture.ours.stop(sandbox, 5)]);
        if (attempt === 0) await fixture.ours.remove(sandbox);
        else await Promise.all([fixture.ours.remove(sandbox), fixture.ours.remove(member)]);
        const left = (await fixture.ours.inspectPod(podUid)).map(({ id }) => id);
        assert.ok(!left.includes(sandbox));
      }
    },
  );
}
