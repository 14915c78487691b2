/** A coordinator that shares its fleet with others: stands by, and serves as `main.ts` does while it leads. */
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import type { Logger } from '../shared/process/output/logger.js';
import { VERSION } from '../shared/process/release-version.js';
import { whileAlive } from '../shared/process/service/keep-alive.js';
import { type Clock, every } from '../shared/process/time/clock.js';
import { bootId } from './cluster/boot-id.js';
import { ClusterControl } from './cluster/cluster-control.js';
import type { ClusterView } from './cluster/cluster-member.js';
import { createClusterView, serverOf } from './cluster/cluster-view.js';
import { CoordinatorFeed } from './cluster/coordinator-feed.js';
import type { FrontDoor } from './cluster/front-door/front-door.js';
import type { FleetKeySync } from './cluster/keys/fleet-key-sync.js';
import { httpsTermReader } from './cluster/leader-request.js';
import { LogTrimmer } from './cluster/log-trimmer.js';
import { MemberAddresses } from './cluster/member-addresses.js';
import type { MemberFile } from './cluster/member-file.js';
import { RivalWatch } from './cluster/rival-watch.js';
import { LeaderProbe } from './cluster/standby/leader-probe.js';
import { type Elected, Standby } from './cluster/standby/standby.js';
import { keepStandbySmall } from './cluster/standby/standby-memory.js';
import { leaderSource, StatusReporter, type StatusSource } from './cluster/status-reporter.js';
import type { CoordinatorSettings } from './coordinator-settings.js';
import { withExitErrors } from './exit-errors.js';
import { type RunningCoordinator, startCoordinator } from './main.js';
import { machineNames } from './server-addresses.js';
import { acquireDataLock, DATABASE_FILE } from './store/data-files.js';
import { LeaderLog } from './store/replica/leader-log.js';
import type { ClusterStorage, Leader, Leadership } from './store/replica/replicated-log.js';
import { openMemberDatabase } from './store/sqlite/member-database.js';

/** A stop waits this long for etcd at most twice. systemd ends the process after 60 s. */
const GIVE_UP_MS = 15_000;

/** What a member needs of its surroundings. */
interface MemberDeps {
  readonly settings: CoordinatorSettings;
  readonly member: MemberFile;
  /** See `readClusterKey`. */
  readonly clusterKey: Buffer;
  readonly door: FrontDoor;
  readonly keys: FleetKeySync;
  /** Replaces the database by a snapshot of the leader at this address. */
  takeSnapshot(server: string, signal: AbortSignal): Promise<void>;
  readonly storage: ClusterStorage;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Runs one member: first as standby, then, once elected, as leader until the process ends. */
export class RunningMember implements RunningCoordinator {
  readonly #deps: MemberDeps;
  readonly #standby: Standby;
  readonly #reporter: StatusReporter;
  readonly #view: ClusterView;
  #source: StatusSource;
  #leadership: Leadership | undefined;
  #coordinator: RunningCoordinator | undefined;
  #ended: Promise<void> = Promise.resolve();
  #isStopping = false;
  #endCollections: () => void = () => undefined;
  #isResigning = false;
  /** The leader that connections are forwarded to. */
  #forwarded: { server: string; term: number } | undefined;

  constructor(deps: MemberDeps) {
    const { settings, member, storage, clock, log } = deps;
    const { memberId, generation } = member;
    this.#deps = deps;
    this.#view = createClusterView(storage, memberId);
    this.#standby = new Standby({
      ...{ memberId, bootId: bootId(settings.data, clock), generation, storage, clock, log },
      acquireLock: () => acquireDataLock(settings.data),
      openDatabase: () => openMemberDatabase(join(settings.data, DATABASE_FILE)),
      takeSnapshot: (leader, signal) => this.#takeSnapshot(leader, signal),
      syncKeys: async () => void (await deps.keys.pull()),
      onLeader: (leader) => this.#forwardTo(leader),
      isMember: async () => (await serverOf(storage, memberId)) !== undefined,
      onStateChange: () => void this.#reporter.report(),
    });
    this.#source = this.#standby;
    const probe = new LeaderProbe({
      server: () => this.#forwarded?.server,
      connect: httpsTermReader(settings.data),
      clock,
    });
    this.#reporter = new StatusReporter({
      ...{ keys: storage, memberId, version: VERSION, clock, log },
      source: () => this.#source,
      names: machineNames,
      leaderTrouble: () => probe.trouble(),
    });
  }

  get server(): string {
    return this.#deps.member.server;
  }

  /** Starts to follow the log. Errors of the data directory end the process. */
  start(): void {
    this.#reporter.start();
    this.#endCollections = keepStandbySmall(this.#deps.clock);
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await whileAlive(() => this.#stop());
  }

  async #stop(): Promise<void> {
    this.#standby.stop();
    this.#endCollections();
    const endWait = this.#giveUpWithoutEtcd();
    await this.#ended;
    // A follower no longer follows. The leader must not regard it as one that can take over.
    if (!this.#leadership) await this.#reporter.withdraw();
    // Clients are served to the end of their requests. Then another member can lead at once.
    await this.#coordinator?.stop();
    this.#reporter.stop();
    await this.#deps.door.close();
    await this.#resign();
    if (this.#leadership) await this.#reporter.withdraw();
    endWait();
    await this.#deps.storage.close();
  }

  /**
   * An append waits for etcd without a limit, and the store closes after it. Without etcd, the stop ends such an append.
   * Its outcome is unknown then, as its caller was told. Returns a function that ends the wait.
   */
  #giveUpWithoutEtcd(): () => void {
    const { clock, storage, log } = this.#deps;
    return every(clock, GIVE_UP_MS, () => {
      if (this.#leadership?.state !== 'unproven') return;
      log.warn('etcd does not answer: stopping without waiting for it');
      void storage.close();
    });
  }

  async #resign(): Promise<void> {
    this.#isResigning = true;
    await this.#leadership?.resign();
  }

  async #run(): Promise<void> {
    const { log } = this.#deps;
    try {
      const elected = await withExitErrors(() => this.#standby.untilElected());
      if (elected) await this.#lead(elected);
    } catch (error) {
      log.error({ err: error }, 'this coordinator cannot serve');
      await this.#resign();
      this.#exit(error instanceof ExitError ? error.sentence : String(error));
    }
  }

  async #lead({ leadership, nextRecord }: Elected): Promise<void> {
    const { settings, log, clock, storage, member, door, keys } = this.#deps;
    const { term } = leadership;
    this.#leadership = leadership;
    this.#endCollections();
    this.#forwarded = undefined;
    log.info({ term }, 'this coordinator leads');
    const view = this.#view;
    const addresses = new MemberAddresses({ view, clock, log });
    // Known before etcd can fail: without etcd, the other coordinators are asked who leads.
    await Promise.all([keys.publish(), addresses.refresh()]);
    const trimmer = new LogTrimmer({ storage, term, view, clock, log });
    const rival = new RivalWatch({
      ...{ term, clock, addresses, own: member.server },
      termAt: httpsTermReader(settings.data),
    });
    leadership.onState((state) => this.#onLeadership(state, rival));
    if (leadership.state !== 'proven') this.#onLeadership(leadership.state, rival);
    let leaderLog: LeaderLog | undefined;
    this.#coordinator = await startCoordinator(settings, log, {
      openReplication: (position, database, observer) => {
        leaderLog = new LeaderLog({
          ...{
            log: storage,
            term,
            memberId: member.memberId,
            position,
            nextRecord,
            database,
            clock,
            logger: log,
          },
          onFailed: (error) => void this.#handOver(error.message),
          onAppend: observer.onAppend,
          onRecord: (index, bytes) => {
            trimmer.add(index, bytes);
            observer.onRecord(index, bytes);
          },
        });
        this.#source = leaderSource(leaderLog, term);
        return leaderLog;
      },
      begin: () => withExitErrors(async () => leaderLog?.start()),
      frontDoor: door.leading(term),
      cluster: this.#control(leadership),
      ...{ leadership, addresses, coordinators: new CoordinatorFeed({ view, log: storage, clock }) },
      components: [trimmer, addresses, keys.component()],
      publishKeys: () => keys.publish(),
    });
    await this.#reporter.report();
  }

  #control({ term }: Leadership): ClusterControl {
    const { settings, member, storage, clusterKey, clock } = this.#deps;
    return new ClusterControl({
      ...{ dataDir: settings.data, self: member, storage, term, clusterKey, clock },
      stepDown: () => void this.#stepDown(),
    });
  }

  /** The answer to the request that asked for it is sent while the API stops. */
  async #stepDown(): Promise<void> {
    this.#isStopping = true;
    const endWait = this.#giveUpWithoutEtcd();
    await this.#coordinator?.stop();
    await this.#resign();
    endWait();
    this.#isStopping = false;
    this.#exit('it stepped down');
  }

  /**
   * Ends the process after its database has failed, such as on a full disk. The store refuses writes already, and the log
   * has all entries, so another coordinator need not wait for the lease.
   */
  async #handOver(why: string): Promise<void> {
    await this.#resign();
    this.#exit(why);
  }

  /** Without etcd, the other coordinators' addresses tell whether another one leads. */
  #onLeadership(state: Leadership['state'], rival: RivalWatch): void {
    const { log } = this.#deps;
    if (this.#isResigning) return;
    if (state === 'unproven') {
      log.error('etcd does not answer: writes are refused, and another coordinator may lead soon');
      rival.start(() => this.#exit('another coordinator leads'));
      return;
    }
    rival.stop();
    if (state === 'proven') log.info('etcd answers again, and this coordinator still leads');
    else this.#exit('another coordinator leads');
  }

  async #forwardTo(leader: Leader | undefined): Promise<void> {
    const { door, storage, member } = this.#deps;
    // The standby looks twice a second. A member's address does not change within a term.
    if (leader !== undefined && leader.term === this.#forwarded?.term) return;
    // Of this member before a reboot, or of a copy of its directory: nothing is forwarded to either.
    const hasOwnId = leader?.memberId === member.memberId;
    const server = hasOwnId ? undefined : leader && (await serverOf(storage, leader.memberId));
    this.#forwarded = leader && server ? { server, term: leader.term } : undefined;
    door.spliceTo(this.#forwarded);
  }

  async #takeSnapshot(leader: Leader, signal: AbortSignal): Promise<void> {
    const server = await serverOf(this.#deps.storage, leader.memberId);
    if (server === undefined) throw new Error('the leader is not a member');
    await this.#deps.takeSnapshot(server, signal);
  }

  /** The service manager starts the process again, as a follower. */
  #exit(why: string): void {
    if (this.#isStopping) return;
    this.#deps.log.error({ why }, 'this process ends, to be started again as a follower');
    process.exit(EXIT_CODES.unexpected);
  }
}
