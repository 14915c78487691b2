/** Which packets of a machine a partition drops. */
import type { ChaosCluster } from './chaos-cluster.js';
import type { Cut } from './coordinator-plan.js';
import { type Drop, MACHINES } from './machine-network.js';

type Partition = 'cut from etcd' | 'cut from hosts' | 'cut from coordinators' | 'cut machine';

/** Returns the packets of machine `index` to drop: those that it sends (`requests`), that it receives, or both. */
export function dropsOf(
  { network, cluster }: ChaosCluster,
  kind: Partition,
  index: number,
  cut: Cut,
): Drop[] {
  const own = network.address(index);
  const others = [...Array(MACHINES).keys()].filter((each) => each !== index);
  const addresses = `{ ${others.map((each) => network.address(each)).join(', ')} }`;
  const etcdPorts = `{ ${cluster.etcd.endpoints.map((url) => new URL(url).port).join(', ')} }`;
  const ports = `{ ${others.map((each) => cluster.members[each]?.port).join(', ')} }`;
  const ownPort = cluster.members[index]?.port;
  const matches: Record<Partition, { output: string[]; input: string[] }> = {
    'cut from etcd': { output: [`tcp dport ${etcdPorts}`], input: [`tcp sport ${etcdPorts}`] },
    'cut from hosts': {
      output: [`ip daddr ${network.address('hosts')}`],
      input: [`ip saddr ${network.address('hosts')}`],
    },
    'cut from coordinators': {
      output: [`ip daddr ${addresses} tcp dport ${ports}`, `ip daddr ${addresses} tcp sport ${ownPort}`],
      input: [`ip saddr ${addresses} tcp sport ${ports}`, `ip saddr ${addresses} tcp dport ${ownPort}`],
    },
    'cut machine': { output: [`ip daddr != ${own}`], input: [`ip saddr != ${own}`] },
  };
  const at = (side: Drop['at']) => matches[kind][side].map((match) => ({ at: side, match }));
  return [...(cut === 'answers' ? [] : at('output')), ...(cut === 'requests' ? [] : at('input'))];
}
