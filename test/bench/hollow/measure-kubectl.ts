/** `kubectl get pods` of a whole fleet, compared with kubectl's own time to print as many rows. */
import { createKubectl, whyNoKubectl } from '../../harness/clients/kubectl.js';
import type { BenchContext } from '../bench-section.js';
import { servePodTable } from '../floors/pod-table-server.js';
import { pairs, wallMs } from '../paired-runs.js';
import type { HollowFleet } from './hollow-fleet.js';

const TIMES = 5;

/** Requires a Pod on each host. */
export async function measureKubectl(
  { report, skip: leaveOut }: BenchContext,
  product: HollowFleet,
): Promise<void> {
  const why = whyNoKubectl();
  if (why !== undefined) return leaveOut('kubectl get pods', why);
  const table = await servePodTable(product.agents);
  const bare = createKubectl(table.kubeconfig);
  const kubectl = createKubectl(product.coordinator.kubeconfig);
  try {
    // The warm-up round includes kubectl's discovery requests.
    const values = await pairs(
      TIMES,
      () => wallMs(() => bare.ok('get pods')),
      () => wallMs(() => kubectl.ok('get pods')),
    );
    report({
      ...{ section: 'hollow', name: `kubectl get pods of ${product.agents}`, unit: 'ms', ...values },
      goal: { kind: 'product', most: 2_000 },
    });
  } finally {
    bare.remove();
    kubectl.remove();
    table.close();
  }
}
