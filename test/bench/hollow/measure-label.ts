/** Time from one host's label change until its Pod is shown as running. It must not depend on the fleet's size. */
import { Agent, request } from 'node:https';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { BenchDaemonSet, PODS } from '../bench-daemonset.js';
import type { BenchContext } from '../bench-section.js';
import { pairs, wallMs } from '../paired-runs.js';
import type { FloorFleet } from './floor-fleet.js';
import type { HollowFleet } from './hollow-fleet.js';

const NODE = 'node-7';
const MERGE = 'application/merge-patch+json';
const WAIT = { timeoutMs: 30_000, pollMs: 0 };

export async function measureLabel(
  { report }: BenchContext,
  floor: FloorFleet,
  product: HollowFleet,
  rounds: number,
): Promise<void> {
  const { api, agents } = product;
  const daemonSet = new BenchDaemonSet(api);
  await daemonSet.create({ nodeSelector: { bench: 'on' } });
  const ofNode = `${PODS}?fieldSelector=spec.nodeName%3D${NODE}&labelSelector=app%3D${daemonSet.name}`;
  const watch = await api.watch(ofNode, (await api.items(ofNode)).resourceVersion);
  const label = (bench: string | null) =>
    api.request('PATCH', `/api/v1/nodes/${NODE}`, { metadata: { labels: { bench } } }, MERGE);
  const seen = (from: number, holds: (pod: Pod, type: string) => boolean) =>
    watch.events.slice(from).some(({ object, type }) => holds(object as unknown as Pod, type));
  const labelled = async () => {
    const from = watch.events.length;
    const isRunning = ({ status }: Pod) => status?.phase === 'Running';
    const ms = await wallMs(async () => {
      await label('on');
      await until(() => seen(from, isRunning), { ...WAIT, what: 'the Pod to run' });
    });
    await label(null);
    await until(() => seen(from, (_, type) => type === 'DELETED'), { ...WAIT, what: 'the Pod to be gone' });
    return ms;
  };
  const agent = new Agent({ ca: floor.address.ca, keepAlive: true });
  const values = await pairs(rounds, () => wallMs(() => patchBare(floor, agent)), labelled);
  agent.destroy();
  watch.close();
  await daemonSet.remove();
  report({
    ...{ section: 'hollow', number: '1', unit: 'ms', goal: { kind: 'difference', most: 15 } },
    ...{ name: `label of one of ${agents} nodes → its Pod shown running`, ...values },
  });
}

/** A request, a durable row, a frame to one agent and its response, an HTTP response. */
function patchBare({ address }: FloorFleet, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const url = `https://127.0.0.1:${address.port}/`;
    const sent = request(url, { method: 'PATCH', agent }, (response) => {
      response.resume();
      response.on('end', resolve);
    });
    sent.on('error', reject);
    sent.end('{}');
  });
}
