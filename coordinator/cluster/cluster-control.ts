/** What a leader does for its API: admits and removes members, steps down, sends its database. */
import { VERSION } from '../../shared/process/release-version.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { type DatabaseSnapshot, takeSnapshot } from '../store/backup/take-snapshot.js';
import { LOG_FORMAT } from '../store/replica/log-entry.js';
import type { ClusterStorage } from '../store/replica/replicated-log.js';
import { memberKey, statusKey } from './cluster-member.js';
import { createClusterView } from './cluster-view.js';
import { CoordinatorTokens } from './join/coordinator-tokens.js';
import {
  answerJoin,
  type CoordinatorJoinAnswer,
  joinObstacle,
  readJoinRequest,
} from './join/join-exchange.js';
import { exportFleetKeys } from './keys/fleet-key-files.js';
import { packFleetKeys } from './keys/fleet-keys.js';
import type { MemberFile } from './member-file.js';
import { verifySnapshotProof } from './snapshot/snapshot-proof.js';
import { stepDownObstacle } from './step-down-obstacle.js';

interface ClusterControlDeps {
  dataDir: string;
  self: Pick<MemberFile, 'memberId' | 'clusterUID'>;
  storage: ClusterStorage;
  term: number;
  /** See `readClusterKey`. */
  clusterKey: Buffer;
  /** Ends the leadership of this process. Called after the answer to the request was decided. */
  stepDown: () => void;
  clock: Clock;
}

type CoordinatorJoinOutcome =
  | {
      readonly state: 'joined';
      readonly tokenId: string;
      readonly member: string;
      readonly answer: CoordinatorJoinAnswer;
    }
  | {
      readonly state: 'unsuitable';
      readonly tokenId: string;
      readonly member: string;
      /** A sentence without its period. */
      readonly why: string;
    }
  | {
      readonly state: 'malformed' | 'unauthorized' | 'otherFleet';
      readonly tokenId?: string;
      readonly member?: string;
    };

type SnapshotOutcome =
  | { readonly state: 'taken'; readonly member: string; readonly snapshot: DatabaseSnapshot }
  | { readonly state: 'unauthorized' }
  | { readonly state: 'busy'; readonly member: string };

/** All methods reject with LogUnavailable if etcd does not answer. */
export class ClusterControl {
  readonly #deps: ClusterControlDeps;
  readonly #tokens: CoordinatorTokens;
  readonly #view: ReturnType<typeof createClusterView>;
  #isCopying = false;

  constructor(deps: ClusterControlDeps) {
    const { storage, clusterKey, clock, self } = deps;
    this.#deps = deps;
    this.#tokens = new CoordinatorTokens({ keys: storage, clusterKey, clock, clusterUID: self.clusterUID });
    this.#view = createClusterView(storage, self.memberId);
  }

  /** Returns the addresses of etcd, as the coordinators use them. */
  async etcdEndpoints(): Promise<readonly string[]> {
    return (await this.#view.engine()).map(({ endpoint }) => endpoint);
  }

  get term(): number {
    return this.#deps.term;
  }

  createJoinToken(ttlMs: number): Promise<{ id: string; secret: string; expiresAt: number }> {
    return this.#tokens.create(ttlMs);
  }

  /** Sends the fleet's keys to the holder of an unused token. The token is spent if the outcome is `joined`. */
  async join(body: unknown): Promise<CoordinatorJoinOutcome> {
    const request = readJoinRequest(body);
    if (!request) return { state: 'malformed' };
    const about = { tokenId: request.tokenId, member: request.member.id };
    const token = await this.#tokens.find(request.tokenId);
    if (!token) return { state: 'unauthorized', ...about };
    const { version, files } = await exportFleetKeys(this.#deps.dataDir);
    // A leader that has not published its keys yet has version 0.
    const packed = packFleetKeys({ version: Math.max(1, version), files });
    const answer = answerJoin(token.key, request, packed);
    if (!answer) return { state: 'unauthorized', ...about };
    if (request.clusterUID !== this.#deps.self.clusterUID) return { state: 'otherFleet', ...about };
    const leader = { version: VERSION, logFormat: LOG_FORMAT, nowMs: this.#deps.clock.now() };
    const why = joinObstacle(request.member, leader);
    if (why !== undefined) return { state: 'unsuitable', ...about, why };
    // Spent before the keys are sent: of two callers with one token, one gets them.
    if (!(await this.#tokens.redeem(token))) return { state: 'unauthorized', ...about };
    return { state: 'joined', ...about, answer };
  }

  /** Returns why this member must stay the leader; undefined: the leadership ends now. */
  async stepDown(): Promise<string | undefined> {
    const obstacle = stepDownObstacle(await this.#view.members(), this.#view.self);
    if (obstacle === undefined) this.#deps.stepDown();
    return obstacle;
  }

  /** `leads`: the leader cannot be removed. A removed member must be stopped by the operator. */
  async removeMember(id: string): Promise<'removed' | 'absent' | 'leads'> {
    if (id === this.#view.self) return 'leads';
    const members = await this.#view.members();
    if (!members.some(({ member }) => member.id === id)) return 'absent';
    const { storage } = this.#deps;
    await storage.delete(memberKey(id));
    await storage.delete(statusKey(id));
    return 'removed';
  }

  /** `authorization`: see `snapshotProof`. One snapshot is taken at a time. Rejects with StoreError. */
  async snapshot(authorization: string | undefined): Promise<SnapshotOutcome> {
    const { clusterKey, self, clock, dataDir } = this.#deps;
    const member = verifySnapshotProof(clusterKey, self.clusterUID, authorization, clock.now());
    const isKnown = (await this.#view.members()).some((each) => each.member.id === member);
    if (member === undefined || !isKnown) return { state: 'unauthorized' };
    if (this.#isCopying) return { state: 'busy', member };
    this.#isCopying = true;
    try {
      return { state: 'taken', member, snapshot: await takeSnapshot(dataDir) };
    } finally {
      this.#isCopying = false;
    }
  }
}
