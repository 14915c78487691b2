/** Several real coordinators over a real etcd, with agents. A test can kill, pause and cut off each of them. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import { withServers } from '../../../coordinator/cluster/keys/member-kubeconfig.js';
import type { CoordinatorTokenDocument } from '../../../shared/kube/fleet/coordinator-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { type ApiAnswer, CoordinatorApi } from '../api/coordinator-api.js';
import { temporaryDirectory } from '../basics/temporary-directory.js';
import { freePort } from '../basics/test-sockets.js';
import { until } from '../basics/wait-until.js';
import { type EtcdProcesses, missingEtcd, startEtcd } from '../etcd/etcd-process.js';
import { type EtcdTestPki, etcdTestPki } from '../etcd/etcd-test-pki.js';
import {
  type AgentProcessOptions,
  type RunningProgram,
  runEverynode,
  startAgentProcess,
} from '../processes/everynode-processes.js';
import type { ClusterMachine } from './cluster-machine.js';
import { CoordinatorMember } from './coordinator-member.js';

export interface CoordinatorClusterOptions {
  /** Default 3. */
  readonly coordinators?: number;
  /** Default 1. */
  readonly etcdMembers?: 1 | 3;
  /** Flags for each coordinator. */
  readonly args?: readonly string[];
  readonly etcdArgs?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** One for each member. Default: all run on this machine. */
  readonly machines?: readonly ClusterMachine[];
  /** Certificates of etcd. Default: new ones. */
  readonly pki?: EtcdTestPki;
}

/** Timeout for a start, a join or a failover on a busy machine. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 50;
/** Longer than a connection waits for a leader. */
const API_TIMEOUT_MS = 30_000;

export class CoordinatorCluster {
  readonly folder = mkdtempSync(join(tmpdir(), 'everynode-cluster-'));
  readonly #agents = new Map<string, RunningProgram>();
  readonly #apis = new Map<CoordinatorMember, CoordinatorApi>();
  #members: CoordinatorMember[] = [];

  private constructor(readonly etcd: EtcdProcesses) {}

  /** Opens the cluster and resolves when each address serves. Resolves with a reason where etcd is missing. */
  static async open(options: CoordinatorClusterOptions = {}): Promise<CoordinatorCluster | string> {
    const why = missingEtcd();
    if (why !== undefined) return why;
    const { etcdMembers: members = 1, etcdArgs: args = [], machines } = options;
    const pki = options.pki ?? etcdTestPki(temporaryDirectory());
    const etcd = await startEtcd({ members, pki, args, ...(machines && { machines }) });
    const cluster = new CoordinatorCluster(etcd);
    try {
      const { caFile, certFile, keyFile } = pki.client;
      const tls = ['--etcd-ca', caFile, '--etcd-cert', certFile, '--etcd-key', keyFile];
      for (let number = 1; number <= (options.coordinators ?? 3); number += 1)
        await cluster.addMember(number, tls, options);
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  get members(): readonly CoordinatorMember[] {
    return this.#members;
  }

  /** Adds a coordinator as an operator does, and resolves when its address serves. */
  async addMember(
    number: number,
    etcdTlsFlags: readonly string[],
    { args = [], environment = {}, machines }: CoordinatorClusterOptions,
  ): Promise<CoordinatorMember> {
    const machine = machines?.[number - 1];
    const member = await CoordinatorMember.open({
      ...{ number, dataDir: machine?.dataDir ?? join(this.folder, `c${number}`), port: await freePort() },
      ...{ etcdEndpoints: this.etcd.endpoints, etcdTlsFlags, args, environment },
      ...(machine && { machine }),
    });
    const [first] = this.#members;
    this.#members.push(member);
    // The first start of the first coordinator makes the fleet.
    if (first) await this.join(first, member);
    member.start();
    await this.untilServes(member);
    return member;
  }

  /** The text of the administrator's kubeconfig with the address of this member. */
  kubeconfig(member: CoordinatorMember): string {
    const [first = member] = this.#members;
    return withServers(readFileSync(join(first.dataDir, 'kubeconfig'), 'utf8'), [member.server]);
  }

  /** The API at the address of this member. */
  api(member: CoordinatorMember): CoordinatorApi {
    const known = this.#apis.get(member);
    if (known) return known;
    const api = new CoordinatorApi(this.kubeconfig(member), API_TIMEOUT_MS);
    this.#apis.set(member, api);
    return api;
  }

  /** Returns the member that etcd names as the leader, which may just have died. */
  leader(): CoordinatorMember | undefined {
    const { clusterUID } = JSON.parse(readFileSync(join(this.#first.dataDir, 'member.json'), 'utf8'));
    // The value is the id and the boot of the machine.
    const value = this.etcd.ctl(['get', `/everynode/${clusterUID}/leader`, '--print-value-only']);
    const [id] = value.trim().split(' ');
    return this.#members.find((member) => member.id === id);
  }

  /** Resolves with the leader when it is another one than `former` and serves. */
  async untilLeader(former?: CoordinatorMember): Promise<CoordinatorMember> {
    let leader: CoordinatorMember | undefined;
    await until(
      async () => {
        leader = this.leader();
        return leader !== undefined && leader !== former && (await this.#serves(leader));
      },
      { timeoutMs: PATIENCE_MS, what: 'a leader that serves', pollMs: RETRY_MS },
    );
    return leader as CoordinatorMember;
  }

  async standbys(): Promise<CoordinatorMember[]> {
    const leader = await this.untilLeader();
    return this.#members.filter((member) => member !== leader && member.isRunning);
  }

  /** Resolves when the address of this member serves, by itself or through the leader. */
  untilServes(member: CoordinatorMember): Promise<void> {
    return until(() => this.#serves(member), {
      ...{ timeoutMs: PATIENCE_MS, what: `coordinator ${member.number} to serve`, pollMs: RETRY_MS },
    });
  }

  /**
   * Sends a request to the addresses in turn, as a client with a list of addresses does, until one answers with a code
   * below 500. The request is repeated if its outcome is unknown.
   */
  async send(method: string, path: string, body?: unknown, contentType?: string): Promise<ApiAnswer> {
    let answer: ApiAnswer | undefined;
    let turn = 0;
    await until(
      async () => {
        const member = this.#members[turn++ % this.#members.length];
        if (!member?.isRunning) return 'down';
        answer = await this.api(member)
          .send(method, path, body, contentType)
          .catch(() => undefined);
        return answer !== undefined && answer.code < 500;
      },
      { timeoutMs: PATIENCE_MS, what: `${method} ${path}`, pollMs: RETRY_MS },
    );
    return answer as ApiAnswer;
  }

  /** Starts an agent that knows all addresses. Its engine is hollow unless `more` names another one. */
  async startAgent(node: string, more: Partial<AgentProcessOptions> = {}): Promise<RunningProgram> {
    const api = apiClientFromKubeconfig(join(this.#first.dataDir, 'kubeconfig'));
    const token = await createToken(api, { ttlSeconds: 600, description: node });
    const agent = startAgentProcess({
      ...{ node, token: token.text, dataDir: join(this.folder, node) },
      server: this.#members.map(({ server }) => server).join(','),
      ...more,
    });
    this.#agents.set(node, agent);
    return agent;
  }

  agent(node: string): RunningProgram | undefined {
    return this.#agents.get(node);
  }

  async close(): Promise<void> {
    for (const agent of this.#agents.values()) await agent.end('SIGKILL');
    for (const api of this.#apis.values()) api.close();
    for (const member of this.#members) await member.close();
    await this.etcd.stop();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  get #first(): CoordinatorMember {
    const [first] = this.#members;
    if (!first) throw new Error('the cluster has no coordinator');
    return first;
  }

  async #serves(member: CoordinatorMember): Promise<boolean> {
    if (!member.isRunning) return false;
    try {
      return (await this.api(member).send('GET', '/api/v1/namespaces/default')).code === 200;
    } catch {
      // The kubeconfig is not written yet, or nothing listens.
      return false;
    }
  }

  /** Makes the empty data directory of `member` that of a further coordinator, with a token from `first`. */
  async join(first: CoordinatorMember, member: CoordinatorMember): Promise<void> {
    const path = `/apis/${FLEET_GROUP}/v1/coordinatortokens?ttlSeconds=600`;
    const { token } = await this.api(first).request<CoordinatorTokenDocument>('POST', path);
    const args = ['coordinator', 'join', first.server, ...addressFlags(member), ...member.etcdFlags];
    await command(args, { EVERYNODE_TOKEN: token });
  }
}

function addressFlags(member: CoordinatorMember): string[] {
  return ['--data', member.dataDir, '--advertise', member.address, '--port', String(member.port)];
}

/** Runs a command. Throws if it fails. */
async function command(args: readonly string[], environment: Record<string, string> = {}): Promise<void> {
  const { code, stderr } = await runEverynode(args, environment);
  if (code !== 0) throw new Error(`everynode ${args.join(' ')}: exit ${code}: ${stderr}`);
}
