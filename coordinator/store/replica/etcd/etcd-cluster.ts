/** ClusterStorage in etcd. */
import type { Clock } from '../../../../shared/process/time/clock.js';
import type {
  Candidate,
  ClusterStorage,
  ClusterValue,
  EngineHealth,
  Leader,
  Leadership,
  LogBounds,
  LogRecord,
  PutOptions,
} from '../replicated-log.js';
import { type EndpointFailure, EtcdConnection } from './etcd-connection.js';
import { EtcdElection } from './etcd-election.js';
import { etcdHealth } from './etcd-health.js';
import { etcdKeys, type LogName } from './etcd-keys.js';
import { EtcdLog } from './etcd-log.js';
import type { EtcdTransport } from './etcd-transport.js';
import { EtcdValues } from './etcd-values.js';
import { EtcdWatch } from './etcd-watch.js';
import { MemberLease } from './member-lease.js';

/** The storage over a transport: gRPC, or a simulation of etcd. */
export class EtcdCluster implements ClusterStorage {
  readonly #connection: EtcdConnection;
  readonly #log: EtcdLog;
  readonly #election: EtcdElection;
  readonly #lease: MemberLease;
  readonly #values: EtcdValues;
  readonly #watch: EtcdWatch;

  constructor(
    transport: EtcdTransport,
    name: LogName,
    clock: Clock,
    onFailure: EndpointFailure = () => undefined,
  ) {
    const keys = etcdKeys(name);
    this.#connection = new EtcdConnection(transport, clock, onFailure);
    this.#log = new EtcdLog(this.#connection, keys);
    this.#election = new EtcdElection(this.#connection, keys, clock);
    this.#lease = new MemberLease(this.#connection, clock);
    this.#values = new EtcdValues(this.#connection, keys, this.#lease);
    this.#watch = new EtcdWatch(this.#connection, keys.watched);
  }

  append(record: LogRecord, term: number): Promise<'appended' | 'overtaken'> {
    return this.#log.append(record, term);
  }

  read(from: number, limit: number): Promise<readonly LogRecord[]> {
    return this.#log.read(from, limit);
  }

  bounds(): Promise<LogBounds> {
    return this.#log.bounds();
  }

  trim(index: number, term: number): Promise<void> {
    return this.#log.trim(index, term);
  }

  onChange(listener: () => void): () => void {
    return this.#watch.add(listener);
  }

  leader(): Promise<Leader | undefined> {
    return this.#election.leader();
  }

  campaign(candidate: Candidate): Promise<Leadership | undefined> {
    return this.#election.campaign(candidate);
  }

  evict(leader: Leader): Promise<void> {
    return this.#election.evict(leader);
  }

  get(name: string): Promise<ClusterValue | undefined> {
    return this.#values.get(name);
  }

  list(prefix: string): Promise<readonly ClusterValue[]> {
    return this.#values.list(prefix);
  }

  put(name: string, value: Buffer, options?: PutOptions): Promise<boolean> {
    return this.#values.put(name, value, options);
  }

  delete(name: string): Promise<void> {
    return this.#values.delete(name);
  }

  health(): Promise<readonly EngineHealth[]> {
    return etcdHealth(this.#connection.transport);
  }

  async close(): Promise<void> {
    this.#election.close();
    this.#lease.close();
    this.#watch.close();
    this.#connection.close();
  }
}
