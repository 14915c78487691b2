/**
 * Keeps a transport on one etcd cluster. An address may belong to another etcd cluster, by a wrong `--etcd` or because a
 * member was created anew. Its empty log would look as if another coordinator had overtaken the leader.
 */
import { EtcdCallError } from './etcd-transport.js';

export interface ReplyWithHeader {
  readonly header?: { readonly clusterId: string } | null;
}

export class ClusterGuard {
  #clusterId: string | undefined;

  /** `clusterId`: absent = that of the first reply. */
  constructor(clusterId?: string) {
    this.#clusterId = clusterId;
  }

  get clusterId(): string | undefined {
    return this.#clusterId;
  }

  /** Returns the error for a reply of another cluster. Its effect, if any, was there. */
  refuse({ header }: ReplyWithHeader): EtcdCallError | undefined {
    if (!header) return undefined;
    this.#clusterId ??= header.clusterId;
    if (header.clusterId === this.#clusterId) return undefined;
    return new EtcdCallError(
      'notSent',
      `this member belongs to the etcd cluster ${hexId(header.clusterId)}, the others to ${hexId(this.#clusterId)}`,
    );
  }
}

/** An id as etcdctl prints it. */
export function hexId(decimal: string): string {
  return BigInt(decimal).toString(16);
}
