/** A DaemonSet of higher priority that takes the CPUs of another one on all hosts. */
import { BenchDaemonSet } from '../bench-daemonset.js';
import type { BenchContext } from '../bench-section.js';
import type { HollowFleet } from './hollow-fleet.js';

const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
/** Hosts have four CPUs, so only one of the two Pods fits. */
const wanting = (cpu: string, priorityClassName: string) => ({
  priorityClassName,
  containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu } } }],
});

/** Compares a preemption on each host with a replacement of the same Pods by a rolling update of all hosts at once. */
export async function measurePreemption(
  { report }: BenchContext,
  product: HollowFleet,
  rounds: number,
): Promise<void> {
  const { agents, api, cost } = product;
  for (const [name, value] of Object.entries({ 'bench-low': 10, 'bench-high': 1_000 }))
    await api.request('POST', CLASSES, { metadata: { name }, value });
  const low = new BenchDaemonSet(api);
  await low.create({ podSpec: wanting('3', 'bench-low') });
  await low.untilReady(agents);
  await product.untilQuiet();
  const values = { floor: [] as number[], product: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    values.floor.push(
      await cost.during(async () => {
        const containers = [{ name: 'main', image: `app:${round + 2}` }];
        await low.update({ template: { spec: { containers } } });
        await low.untilReady(agents);
        await product.untilQuiet();
      }),
    );
    const high = new BenchDaemonSet(api);
    values.product.push(
      await cost.during(async () => {
        await high.create({ podSpec: wanting('2', 'bench-high') });
        await high.untilReady(agents);
        await product.untilQuiet();
      }),
    );
    await high.remove();
    await low.untilReady(agents);
    await product.untilQuiet();
  }
  await low.remove();
  await product.untilQuiet();
  report({
    ...{ section: 'hollow', unit: 'CPU ms', ...values, goal: { kind: 'ratio', most: 2 } },
    name: `preempting a Pod on each of ${agents} nodes, against replacing it, until the last Event is written`,
  });
}
