/** The next image is fetched ahead by every host, also where it cannot be told to at first. */
import type { DaemonSetParts } from '../../coordinator/controllers/daemonset-parts.js';
import type { Registry } from '../../coordinator/registry/registry.js';
import { prePulls } from '../../shared/kube/pre-pull.js';
import { ApiError } from '../../shared/kube/status.js';
import { eventually } from '../harness/eventually.js';
import { withPolicy } from '../harness/rolling.js';

/** A registry in which the first three changes of Nodes find no room on the disk. */
function fullAtFirst(registry: Registry): DaemonSetParts['registry'] {
  let refusals = 3;
  return {
    ...registry,
    modify: (kind, ...others) => {
      if (kind.kind !== 'Node' || refusals === 0) return registry.modify(kind, ...others);
      refusals -= 1;
      throw new ApiError('ServiceUnavailable', 'the disk is full');
    },
  };
}

withPolicy(
  'a host that could not be told to fetch is told again, and is not taken for one that fetches',
  { waves: [{ name: 'canary', nodes: 1, approval: 'Manual' }], prePull: { maxParallel: 2 } },
  async (rolling) => {
    const { fleet } = rolling;
    const told = () =>
      [...fleet.informers.nodes.list()]
        .filter((node) => prePulls(node).some(({ images }) => images.includes('app:2')))
        .map(({ metadata }) => metadata.name);
    await fleet.setImage('web', 'app:2');
    for (const waited of [100, 100, 100]) await rolling.advance(waited);
    await eventually(() => told().length === 2 || told().join());
  },
  { wrap: fullAtFirst },
);
