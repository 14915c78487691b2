/** The keys of a fleet in etcd: docs/design/scale-out.md. */
import type { EtcdRange } from './etcd-transport.js';

/** All keys of the product begin with it. */
export const ETCD_ROOT = '/everynode/';
/** The only cluster value outside the fleet's own keys: it says which fleet the etcd cluster belongs to. */
export const FLEET_NAME = 'cluster';

/** Names the log. A restore starts another generation. */
export interface LogName {
  readonly clusterUID: string;
  readonly generation: string;
}

export interface EtcdKeys {
  readonly leader: Buffer;
  /** The index of the last append. Watched instead of the records, which would be sent twice. */
  readonly head: Buffer;
  record(index: number): Buffer;
  /** Records from `from` on and before `before`. */
  records(from: number, before?: number): Required<EtcdRange>;
  indexOf(recordKey: Buffer): number;
  value(name: string): Buffer;
  /** All values with names that begin with `prefix`. */
  values(prefix: string): Required<EtcdRange>;
  nameOf(valueKey: Buffer): string;
  /** All keys of the fleet except the records. */
  readonly watched: readonly EtcdRange[];
}

/** 16 hex digits, so that the order of keys is the order of indexes. */
function indexText(index: number): string {
  return index.toString(16).padStart(16, '0');
}

/** Returns the end of the range of all keys that begin with `prefix`. Its last character is in ASCII. */
function prefixEnd(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  end[end.length - 1] = (end.at(-1) ?? 0) + 1;
  return end;
}

export function etcdKeys({ clusterUID, generation }: LogName): EtcdKeys {
  const fleet = `${ETCD_ROOT}${clusterUID}/`;
  const log = `${fleet}${generation}/log/`;
  const record = (index: number) => Buffer.from(log + indexText(index));
  return {
    leader: Buffer.from(`${fleet}leader`),
    head: Buffer.from(`${fleet}${generation}/head`),
    record,
    records: (from, before) => ({
      key: record(from),
      rangeEnd: before === undefined ? prefixEnd(log) : record(before),
    }),
    indexOf: (recordKey) => Number.parseInt(recordKey.toString('latin1').slice(log.length), 16),
    value: (name) => Buffer.from((name === FLEET_NAME ? ETCD_ROOT : fleet) + name),
    values: (prefix) => ({ key: Buffer.from(fleet + prefix), rangeEnd: prefixEnd(fleet + prefix) }),
    nameOf: (valueKey) => valueKey.toString().slice(fleet.length),
    watched: [
      { key: Buffer.from(fleet), rangeEnd: Buffer.from(log) },
      { key: prefixEnd(log), rangeEnd: prefixEnd(fleet) },
      { key: Buffer.from(ETCD_ROOT + FLEET_NAME) },
    ],
  };
}
