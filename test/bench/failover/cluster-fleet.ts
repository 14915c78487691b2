/** Several coordinators on etcd with simulated hosts that know all addresses. */
import { join } from 'node:path';
import { FleetSupervisor } from '../../../agent/simulate/fleet-supervisor.js';
import { numberedNodes } from '../../../agent/simulate/node-templates.js';
import { SIMULATE_SETTINGS } from '../../../agent/simulate/simulate-settings.js';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { loadSettings } from '../../../shared/process/settings/settings-schema.js';
import { until } from '../../harness/basics/wait-until.js';
import { CoordinatorCluster } from '../../harness/cluster/coordinator-cluster.js';
import type { CoordinatorMember } from '../../harness/cluster/coordinator-member.js';
import { cpuMeter } from '../process-memory.js';

export const COORDINATORS = `/apis/${FLEET_GROUP}/v1/coordinators`;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** Timeout for a whole fleet to connect or reconnect. */
const FLEET_MS = 900_000;
/** Below this CPU time in a window, not counting heartbeats, the leader is at rest. */
const QUIET_SHARE = 0.1;
const BEATS_SHARE = 0.000_01;
const QUIET_WINDOW_MS = 800;

export class ClusterFleet {
  #hosts: FleetSupervisor | undefined;

  private constructor(
    readonly agents: number,
    readonly cluster: CoordinatorCluster,
  ) {}

  /** Starts three coordinators on three members of etcd; `join` adds the hosts. Resolves with a reason without etcd. */
  static async open(agents: number): Promise<ClusterFleet | string> {
    const args = ['--client-requests-per-second', '0', '--log-level', 'warn'];
    const cluster = await CoordinatorCluster.open({ etcdMembers: 3, args });
    return typeof cluster === 'string' ? cluster : new ClusterFleet(agents, cluster);
  }

  async join(): Promise<void> {
    const [first] = this.cluster.members;
    const client = apiClientFromKubeconfig(join(first?.dataDir ?? '', 'kubeconfig'));
    const wish = { ttlSeconds: 0, description: '', reusable: true, anyLabels: true };
    const { text } = await createToken(client, wish);
    const settings = await loadSettings(SIMULATE_SETTINGS, {
      flags: {
        server: this.cluster.members.map(({ server }) => server).join(','),
        nodes: String(this.agents),
      },
      environment: { EVERYNODE_TOKEN: text },
      environmentPrefix: '',
    });
    this.#hosts = new FleetSupervisor(settings, numberedNodes('node', this.agents));
    await this.untilAllLive();
    await this.untilQuiet();
  }

  get live(): number {
    return this.#hosts?.counts().live ?? 0;
  }

  async untilAllLive(): Promise<void> {
    const all = until(() => this.live === this.agents, { timeoutMs: FLEET_MS, what: 'all hosts to be live' });
    await Promise.race([all, this.#hosts?.failed]);
  }

  /** Resolves when the leader has nothing to do but to receive heartbeats. */
  async untilQuiet(): Promise<void> {
    const { pid } = await this.cluster.untilLeader();
    const most = (QUIET_SHARE + BEATS_SHARE * this.agents) * QUIET_WINDOW_MS;
    let before = Number.NEGATIVE_INFINITY;
    const cpu = cpuMeter(pid);
    const isQuiet = () => {
      const now = cpu();
      const spent = now - before;
      before = now;
      return spent < most;
    };
    await until(isQuiet, {
      ...{ timeoutMs: FLEET_MS, what: 'the leader to come to rest', pollMs: QUIET_WINDOW_MS },
    });
  }

  /** The hosts go offline, and stay in the store. */
  async stopHosts(): Promise<void> {
    await this.#hosts?.stop();
    this.#hosts = undefined;
  }

  /** Resolves with the ms from the begin of `disturb` until a write succeeds at any address. */
  async untilWritten(name: string, disturb: () => Promise<unknown>): Promise<number> {
    const from = performance.now();
    await disturb();
    const { code } = await this.cluster.send('POST', CONFIG_MAPS, { metadata: { name }, data: { name } });
    if (code !== 201 && code !== 409) throw new Error(`${name}: ${code}`);
    return performance.now() - from;
  }

  /** Resolves with the name of the leader when all other coordinators can lead. */
  async untilOthersFollow(leader: CoordinatorMember): Promise<string> {
    let name = '';
    const canAllLead = async () => {
      const { items } = await this.cluster.api(leader).items<Coordinator>(COORDINATORS);
      name = items.find(({ spec }) => spec.memberId === leader.id)?.metadata.name ?? '';
      return (
        items.filter(({ status }) => status.role === 'Follower').length === this.cluster.members.length - 1
      );
    };
    await until(canAllLead, { timeoutMs: 60_000, pollMs: 500, what: 'all other coordinators to follow' });
    return name;
  }

  async close(): Promise<void> {
    await this.stopHosts();
    await this.cluster.close();
  }
}
