/** Small values in etcd, some of them under a lease of this process. */
import type { ClusterKeys, ClusterValue, PutOptions } from '../replicated-log.js';
import type { EtcdConnection } from './etcd-connection.js';
import type { EtcdKeys } from './etcd-keys.js';
import { isLeaseGone } from './etcd-lease.js';
import type { EtcdCompare, EtcdKeyValue } from './etcd-transport.js';
import type { MemberLease } from './member-lease.js';

export class EtcdValues implements ClusterKeys {
  readonly #connection: EtcdConnection;
  readonly #keys: EtcdKeys;
  readonly #lease: MemberLease;

  constructor(connection: EtcdConnection, keys: EtcdKeys, lease: MemberLease) {
    this.#connection = connection;
    this.#keys = keys;
    this.#lease = lease;
  }

  async get(name: string): Promise<ClusterValue | undefined> {
    const { kvs } = await this.#connection.call('Range', { key: this.#keys.value(name) });
    return kvs[0] && toValue(name, kvs[0]);
  }

  async list(prefix: string): Promise<readonly ClusterValue[]> {
    if (prefix === '') throw new RangeError('the prefix of a list must not be empty');
    const { kvs } = await this.#connection.call('Range', this.#keys.values(prefix));
    return kvs.map((kv) => toValue(this.#keys.nameOf(kv.key), kv));
  }

  async put(name: string, value: Buffer, options: PutOptions = {}): Promise<boolean> {
    if (!options.isEphemeral) return this.#put(name, value, options, undefined);
    const lease = await this.#lease.id();
    try {
      return await this.#put(name, value, options, lease);
    } catch (error) {
      if (!isLeaseGone(error)) throw error;
      this.#lease.forget(lease);
      return this.#put(name, value, options, await this.#lease.id());
    }
  }

  async delete(name: string): Promise<void> {
    const range = { key: this.#keys.value(name) };
    await this.#connection.call('Txn', {
      compare: [],
      success: [{ requestDeleteRange: range }],
      failure: [],
    });
  }

  async #put(
    name: string,
    value: Buffer,
    { version }: PutOptions,
    lease: string | undefined,
  ): Promise<boolean> {
    const key = this.#keys.value(name);
    const isVersion: EtcdCompare[] =
      version === undefined ? [] : [{ key, result: 'EQUAL', target: 'MOD', modRevision: version }];
    let mayBeWritten = false;
    const request = {
      compare: isVersion,
      success: [{ requestPut: lease === undefined ? { key, value } : { key, value, lease } }],
      failure: [{ requestRange: { key } }],
    };
    const reply = await this.#connection.call('Txn', request, () => {
      mayBeWritten = true;
    });
    if (reply.succeeded) return true;
    const stored = reply.responses[0]?.responseRange?.kvs[0];
    return mayBeWritten && stored?.value.equals(value) === true;
  }
}

function toValue(name: string, { value, modRevision }: EtcdKeyValue): ClusterValue {
  return { name, value, version: Number(modRevision) };
}
