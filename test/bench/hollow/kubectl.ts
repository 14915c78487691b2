/** A person's `kubectl get pods` of a whole fleet. */
import { createKubectl, findKubectl } from '../../harness/kubectl.js';
import { wallMs } from '../pairs.js';
import type { Bench } from '../section.js';
import type { HollowFleet } from './hollow-fleet.js';

const TIMES = 5;

/** There must be a Pod on each host. */
export async function measureKubectl({ report, leaveOut }: Bench, product: HollowFleet): Promise<void> {
  let binary: string;
  try {
    binary = findKubectl();
  } catch (error) {
    return leaveOut('kubectl get pods', error instanceof Error ? error.message : String(error));
  }
  const kubectl = createKubectl(product.coordinator.kubeconfig, binary);
  const times: number[] = [];
  try {
    // The first asks what kinds there are, too.
    for (let time = 0; time <= TIMES; time += 1) {
      times.push(await wallMs(() => kubectl.ok('get pods')));
    }
  } finally {
    kubectl.remove();
  }
  report({
    ...{ section: 'hollow', name: `kubectl get pods of ${product.agents}`, unit: 'ms', floor: [] },
    ...{ product: times.slice(1), goal: { kind: 'product', most: 2_000 } },
  });
}
