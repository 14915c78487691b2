/**
 * What the API needs of a cluster of coordinators; coordinator/cluster/cluster-control.ts implements it. A single
 * coordinator has none.
 */
import type { Readable } from 'node:stream';
import { ApiError } from '../../../shared/kube/objects/api-status.js';

export interface ClusterPort {
  /** The term in which this coordinator leads. */
  readonly term: number;
  /** Returns the addresses of etcd, as the coordinators use them. */
  etcdEndpoints(): Promise<readonly string[]>;
  /** Makes a token for one coordinator. `expiresAt` in ms since the epoch. */
  createJoinToken(ttlMs: number): Promise<{ id: string; secret: string; expiresAt: number }>;
  /** `body`: decoded JSON, not validated. */
  join(body: unknown): Promise<CoordinatorJoin>;
  /** Returns why this member must stay the leader; undefined: its leadership ends now. */
  stepDown(): Promise<string | undefined>;
  removeMember(id: string): Promise<'removed' | 'absent' | 'leads'>;
  /** `authorization`: the whole header. */
  snapshot(authorization: string | undefined): Promise<SnapshotAnswer>;
}

/** `answer` contains the fleet's keys, encrypted for the caller. `member`: the id that the caller claims. */
export type CoordinatorJoin =
  | { readonly state: 'joined'; readonly tokenId: string; readonly member: string; readonly answer: object }
  | {
      readonly state: 'unsuitable';
      readonly tokenId: string;
      readonly member: string;
      /** A sentence without its period. */
      readonly why: string;
    }
  | {
      readonly state: 'malformed' | 'unauthorized' | 'otherFleet';
      readonly tokenId?: string | undefined;
      readonly member?: string | undefined;
    };

type SnapshotAnswer =
  | { readonly state: 'taken'; readonly member: string; readonly snapshot: SnapshotBody }
  | { readonly state: 'unauthorized' }
  | { readonly state: 'busy'; readonly member: string };

interface SnapshotBody {
  readonly bytes: Readable;
  readonly size: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Throws ApiError 404 for a single coordinator. */
export function clusterOf({ cluster }: { cluster?: ClusterPort }): ClusterPort {
  if (cluster) return cluster;
  throw new ApiError(
    'NotFound',
    'this fleet has a single coordinator; "everynode coordinator clusterize" lets others join',
  );
}

/** Converts the error of an etcd that does not answer, or has no space, to ApiError 503. */
export async function withEtcd<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const retry = { retryAfterSeconds: 1 };
    if (error.name === 'LogUnavailable')
      throw new ApiError('ServiceUnavailable', `etcd does not answer: ${error.message}`, retry);
    if (error.name === 'LogFull')
      throw new ApiError('ServiceUnavailable', `etcd refuses writes: ${error.message}`, retry);
    throw error;
  }
}
