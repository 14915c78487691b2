/**
 * An image is removed under running containers. The containers keep running, and the next start follows the pull
 * policy.
 */
import assert from 'node:assert/strict';
import { EngineContainers } from '../../harness/engines/engine-containers.js';
import type { TestRegistry } from '../../harness/engines/image-registry.js';
import type { TestEngine } from '../../harness/engines/test-engines.js';
import { type PodHostFixture, podOf } from '../../harness/pods/pod-host-fixture.js';

const PATIENCE_MS = 60_000;
/** Docker prints the first text, Podman the second. */
const UNREACHABLE = /connection refused|pinging container registry/;

/**
 * Runs the whole scenario and compares the reported statuses with a kubelet's. The fixture's clock controls how long
 * back-offs take.
 */
export async function imageRemovedTests(
  fixture: PodHostFixture,
  host: TestEngine,
  registry: TestRegistry,
): Promise<void> {
  const image = await registry.push('gone:1');
  const state = (pod: string, wanted: string) =>
    fixture.until(`${pod}: ${wanted}`, () => fixture.state(pod) === wanted, PATIENCE_MS);
  fixture.assignPod(podOf('pulls', { containers: [{ name: 'app', image }] }));
  await state('pulls', 'running');
  fixture.assignPod(podOf('never', { containers: [{ name: 'app', image, imagePullPolicy: 'Never' }] }));
  await state('never', 'running');
  const told = fixture.container('pulls');

  await registry.kill();
  const containers = new EngineContainers(host.socketPath);
  try {
    const before = await containers.ofPods('');
    await containers.takeImage(image);
    assert.equal(await fixture.driver.findImage(image), undefined);
    await fixture.restartAgent();
    await state('pulls', 'running');
    assert.deepEqual(fixture.container('pulls'), told);
    assert.deepEqual(ids(await containers.ofPods('')), ids(before));
    fixture.events.length = 0;
    for (const { id } of before) await containers.remove(id);
  } finally {
    containers.close();
  }
  await state('never', 'ErrImageNeverPull');
  await state('pulls', 'ErrImagePull');
  assert.match(fixture.container('pulls')?.state?.waiting?.message ?? '', UNREACHABLE);
  await state('pulls', 'ImagePullBackOff');
  await registry.restart();
  await state('pulls', 'running');
  // The other Pod's pull stored the image, so this Pod starts, as if an operator had loaded the image by hand.
  await state('never', 'running');
  for (const words of [
    `ErrImageNeverPull: Container image "${image}" is not present with pull policy of Never`,
    'Failed: Error: ErrImageNeverPull',
    'Failed: Error: ErrImagePull',
    `BackOff: Back-off pulling image "${image}"`,
    'Failed: Error: ImagePullBackOff',
    `Pulling: Pulling image "${image}"`,
    `Pulled: Successfully pulled image "${image}"`,
    `Pulled: Container image "${image}" already present on machine`,
    `Failed: Failed to pull image "${image}": `,
  ])
    assert.ok(
      fixture.events.some((event) => event.startsWith(words)),
      `${words} is not among:\n${fixture.events.join('\n')}`,
    );
  for (const uid of [...fixture.assignedPods.keys()]) fixture.deletePod(uid);
  await fixture.until('both are gone', async () => (await fixture.driver.list()).length === 0, PATIENCE_MS);
}

function ids(all: readonly { id: string }[]): string[] {
  return all.map(({ id }) => id).sort();
}
