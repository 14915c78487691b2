/** Three machines with a coordinator and a member of etcd each, hosts with hollow engines, and what faults need of them. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { withServers } from '../../../coordinator/cluster/keys/member-kubeconfig.js';
import { openEtcdCluster } from '../../../coordinator/store/replica/etcd/open-etcd-cluster.js';
import type { ClusterStorage } from '../../../coordinator/store/replica/replicated-log.js';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { type ApiAnswer, CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { until } from '../../harness/basics/wait-until.js';
import { CoordinatorCluster } from '../../harness/cluster/coordinator-cluster.js';
import type { CoordinatorMember } from '../../harness/cluster/coordinator-member.js';
import { missingEtcd } from '../../harness/etcd/etcd-process.js';
import { etcdTestPki } from '../../harness/etcd/etcd-test-pki.js';
import { mountSmallDisk, type SmallDisk } from '../../harness/pods/small-disk.js';
import { fakeTimeLibrary, MovedClock } from '../libfaketime-clock.js';
import { MACHINES, MachineNetwork, whyNoMachines } from './machine-network.js';

export const COORDINATORS = `/apis/${FLEET_GROUP}/v1/coordinators`;
/** A database with its history, the write-ahead log and a snapshot. */
const DISK_MEBIBYTES = 256;
/** Small enough to be filled within seconds. */
const ETCD_QUOTA_BYTES = 50_331_648;
/** A client that receives no answer for so long uses another address. */
const REQUEST_TIMEOUT_MS = 3_000;
const PATIENCE_MS = 120_000;
const DAY_BACK = { FAKETIME: '-1d' };

export class ChaosCluster {
  readonly hosts: readonly string[];
  readonly disks: SmallDisk[] = [];
  readonly clocks: MovedClock[] = [];
  readonly network = new MachineNetwork();
  readonly folder = mkdtempSync(join(tmpdir(), 'everynode-machines-'));
  #cluster: CoordinatorCluster | undefined;
  #storage: ClusterStorage | undefined;
  #apis: CoordinatorApi[] = [];

  private constructor(hosts: number) {
    this.hosts = Array.from({ length: hosts }, (_, index) => `host-${index + 1}`);
  }

  /** Resolves when all serve and all hosts have joined, or with the reason if this machine cannot run them. */
  static async open(hosts: number): Promise<ChaosCluster | string> {
    const why = whyNoMachines() ?? missingEtcd();
    if (why !== undefined) return why;
    const chaos = new ChaosCluster(hosts);
    try {
      const reason = await chaos.#open();
      if (reason === undefined) return chaos;
      await chaos.close();
      return reason;
    } catch (error) {
      await chaos.close();
      throw error;
    }
  }

  get cluster(): CoordinatorCluster {
    if (!this.#cluster) throw new Error('the cluster was not opened');
    return this.#cluster;
  }

  /** This process's own connection to etcd. */
  get storage(): ClusterStorage {
    if (!this.#storage) throw new Error('the cluster was not opened');
    return this.#storage;
  }

  member(index: number): CoordinatorMember {
    const member = this.cluster.members[index];
    if (!member) throw new RangeError(`no coordinator ${index}`);
    return member;
  }

  /** A client of the address of a member, which gives up after 3 s. */
  api(index: number): CoordinatorApi {
    const api = this.#apis[index];
    if (!api) throw new RangeError(`no coordinator ${index}`);
    return api;
  }

  dataDirOf(host: string): string {
    return join(this.cluster.folder, host);
  }

  /** Index of the coordinator that leads, according to etcd. Rejects without an answer. */
  async leader(): Promise<number | undefined> {
    const leader = await this.storage.leader();
    const index = this.cluster.members.findIndex(({ id }) => id !== undefined && id === leader?.memberId);
    return index === -1 ? undefined : index;
  }

  /** Index of the leading member of etcd. */
  async etcdLeader(): Promise<number | undefined> {
    const leader = (await this.storage.health()).find(({ isLeader }) => isLeader);
    const index = this.cluster.etcd.endpoints.indexOf(leader?.endpoint ?? '');
    return index === -1 ? undefined : index;
  }

  /** Sends a request to one address after the other until one answers it, or until the timeout. */
  async send(method: string, path: string, body?: unknown, contentType?: string): Promise<ApiAnswer> {
    let answer: ApiAnswer | undefined;
    let turn = 0;
    await until(
      async () => {
        answer = await this.api(turn++ % MACHINES)
          .send(method, path, body, contentType)
          .catch(() => undefined);
        return answer !== undefined && answer.code < 500;
      },
      { timeoutMs: PATIENCE_MS, what: `${method} ${path}`, pollMs: 100 },
    );
    return answer as ApiAnswer;
  }

  /** What the coordinators report at the address of a member; undefined = no answer. */
  async reportAt(index: number): Promise<readonly Coordinator[] | undefined> {
    try {
      return (await this.api(index).items<Coordinator>(COORDINATORS)).items;
    } catch {
      return undefined;
    }
  }

  /** Digest of all objects in the database of a member. */
  databaseDigest(index: number): string {
    const path = join(this.member(index).dataDir, 'everynode.db');
    const database = new Database(path, { readonly: true, fileMustExist: true });
    try {
      const hash = createHash('sha256');
      const rows = database.prepare('SELECT key, revision, value FROM objects ORDER BY key');
      for (const row of rows.raw().iterate()) hash.update(JSON.stringify(row));
      return hash.digest('hex');
    } finally {
      database.close();
    }
  }

  /** The last lines of each coordinator's log and of each member of etcd. */
  lastLogLines(): string {
    const last = (text: string) => text.trimEnd().split('\n').slice(-25).join('\n');
    return this.cluster.members
      .map(
        (member, index) =>
          `— coordinator ${member.number}\n${last(member.log)}\n— etcd ${index}\n${last(this.cluster.etcd.log(index))}`,
      )
      .join('\n');
  }

  async close(): Promise<void> {
    for (const api of this.#apis) api.close();
    await this.#storage?.close();
    await this.#cluster?.close();
    for (const disk of this.disks) disk.unmount();
    this.network.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async #open(): Promise<string | undefined> {
    this.network.open();
    const library = fakeTimeLibrary();
    for (let index = 0; index < MACHINES; index += 1) {
      const disk = mountSmallDisk(join(this.folder, `machine-${index + 1}`), DISK_MEBIBYTES);
      if (typeof disk === 'string') return disk;
      this.disks.push(disk);
      this.clocks.push(new MovedClock(join(this.folder, `clock-${index + 1}`)));
    }
    const machines = this.disks.map((disk, index) => ({
      address: this.network.address(index),
      enter: this.network.enter(index),
      dataDir: disk.path,
      environment: this.clocks[index]?.environment ?? {},
    }));
    const pki = etcdTestPki(mkdtempSync(join(this.folder, 'pki-')), {
      addresses: machines.map(({ address }) => address),
      // With a clock that is behind, certificates of today are not valid yet.
      environment: library ? { LD_PRELOAD: library, ...DAY_BACK } : {},
    });
    const cluster = await CoordinatorCluster.open({
      ...{ coordinators: MACHINES, etcdMembers: 3, machines, pki },
      etcdArgs: [`--quota-backend-bytes=${ETCD_QUOTA_BYTES}`],
    });
    if (typeof cluster === 'string') return cluster;
    this.#cluster = cluster;
    const file = JSON.parse(readFileSync(join(this.member(0).dataDir, 'member.json'), 'utf8'));
    this.#storage = openEtcdCluster({ access: cluster.etcd.access, name: file });
    const kubeconfig = readFileSync(join(this.member(0).dataDir, 'kubeconfig'), 'utf8');
    this.#apis = cluster.members.map(
      ({ server }) => new CoordinatorApi(withServers(kubeconfig, [server]), REQUEST_TIMEOUT_MS),
    );
    for (const host of this.hosts) await cluster.startAgent(host, { enter: this.network.enter('hosts') });
    return undefined;
  }
}

/** Deletes the content of a data directory, which may be a mount point. */
export function wipe(dataDir: string): void {
  for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name), { recursive: true, force: true });
}
