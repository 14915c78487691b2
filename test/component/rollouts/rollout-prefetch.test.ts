/** Every host prefetches the next image, even when its request cannot be written at first. */
import type { DaemonSetDeps } from '../../../coordinator/controllers/daemonsets/daemonset-deps.js';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { prePulls } from '../../../shared/kube/rollouts/pre-pull-annotations.js';
import { until } from '../../harness/basics/wait-until.js';
import { NODES, type RolloutFixture, withPolicy } from '../../harness/controllers/rollout-fixture.js';

/** A registry that rejects the first changes of Nodes for lack of disk space. */
const fullFor =
  (refusals: number) =>
  (registry: Registry): DaemonSetDeps['registry'] => {
    let left = refusals;
    return {
      ...registry,
      modify: (kind, ...others) => {
        if (kind.kind !== 'Node' || left === 0) return registry.modify(kind, ...others);
        left -= 1;
        throw new ApiError('ServiceUnavailable', 'the disk is full');
      },
    };
  };

/** A registry that always rejects changes of the first Node. */
function invalidNode(registry: Registry): DaemonSetDeps['registry'] {
  let invalid: string | undefined;
  return {
    ...registry,
    modify: (kind, ref, ...others) => {
      if (kind.kind !== 'Node') return registry.modify(kind, ref, ...others);
      invalid ??= ref.name;
      if (ref.name !== invalid) return registry.modify(kind, ref, ...others);
      throw new ApiError('Invalid', `Node "${invalid}" is invalid`);
    },
  };
}

/** Returns the hosts with a request for the new image. */
const told = ({ fleet }: RolloutFixture) =>
  [...fleet.informers.nodes.list()]
    .filter((node) => prePulls(node).some(({ images }) => images.includes('app:2')))
    .map(({ metadata }) => metadata.name);

/** Sets the images that a host reports after its prefetch. */
async function fetched({ fleet }: RolloutFixture, name: string): Promise<void> {
  await fleet.registry.modify(
    nodeKind,
    { name },
    (stored): undefined => {
      stored.status = { ...stored.status, images: [{ names: ['app:2'], sizeBytes: 1 }] };
    },
    { subresource: 'status' },
  );
}

withPolicy(
  'a prefetch request that could not be written is retried, and its host does not count as fetching',
  { waves: [{ name: 'canary', nodes: 1, approval: 'Manual' }], prePull: { maxParallel: 2 } },
  async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    for (const waited of [1_000, 1_000, 1_000]) await rolling.advance(waited);
    await until(() => told(rolling).length === 2 || told(rolling).join());
  },
  { wrap: fullFor(3) },
);

withPolicy(
  'a permanently rejected Node blocks neither later prefetches nor the rollout',
  { waves: [{ name: 'canary', nodes: 1, approval: 'Manual' }], prePull: { maxParallel: 1 } },
  async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    for (let count = 1; count < NODES.length; count += 1) {
      await until(() => told(rolling).length === count || told(rolling).join());
      for (const name of told(rolling)) await fetched(rolling, name);
    }
    await rolling.approve('canary');
    await rolling.expectStatus('Completed', 'rest', NODES.length);
  },
  { wrap: invalidNode },
);

withPolicy(
  'the prefetch order does not wait for hosts whose request cannot be written',
  { waves: [{ name: 'canary', nodes: 1 }], prePull: { maxParallel: 1 } },
  async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Completed', 'rest', NODES.length);
  },
  { wrap: fullFor(Number.POSITIVE_INFINITY) },
);
