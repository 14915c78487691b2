/** A coordinator that shares its fleet with others: stands by, and serves as `main.ts` does while it leads. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import type { Logger } from '../shared/process/output/logger.js';
import { VERSION } from '../shared/process/release-version.js';
import type { Clock } from '../shared/process/time/clock.js';
import { ClusterControl } from './cluster/cluster-control.js';
import type { ClusterView, MemberState } from './cluster/cluster-member.js';
import { createClusterView, serverOf } from './cluster/cluster-view.js';
import { CoordinatorFeed } from './cluster/coordinator-feed.js';
import type { FrontDoor } from './cluster/front-door/front-door.js';
import type { FleetKeySync } from './cluster/keys/fleet-key-sync.js';
import { LogTrimmer } from './cluster/log-trimmer.js';
import { MemberAddresses } from './cluster/member-addresses.js';
import type { MemberFile } from './cluster/member-file.js';
import { type Elected, Standby } from './cluster/standby.js';
import { StatusReporter, type StatusSource } from './cluster/status-reporter.js';
import type { CoordinatorSettings } from './coordinator-settings.js';
import { withExitErrors } from './exit-errors.js';
import { type RunningCoordinator, startCoordinator } from './main.js';
import { acquireDataLock, DATABASE_FILE } from './store/data-files.js';
import { LeaderLog } from './store/replica/leader-log.js';
import type { ClusterStorage, Leader, Leadership } from './store/replica/replicated-log.js';
import { openMemberDatabase } from './store/sqlite/member-database.js';

/** What a member needs of its surroundings. */
interface MemberDeps {
  readonly settings: CoordinatorSettings;
  readonly member: MemberFile;
  /** See `readClusterKey`. */
  readonly clusterKey: Buffer;
  readonly door: FrontDoor;
  readonly keys: FleetKeySync;
  /** Replaces the database by a snapshot of the leader at this address. */
  takeSnapshot(server: string): Promise<void>;
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

  constructor(deps: MemberDeps) {
    const { settings, member, storage, clock, log } = deps;
    const { memberId, generation } = member;
    this.#deps = deps;
    this.#view = createClusterView(storage, memberId);
    this.#standby = new Standby({
      ...{ memberId, bootId: bootId(), generation, storage, clock, log },
      acquireLock: () => acquireDataLock(settings.data),
      openDatabase: () => openMemberDatabase(join(settings.data, DATABASE_FILE)),
      takeSnapshot: (leader) => this.#takeSnapshot(leader),
      syncKeys: async () => void (await deps.keys.pull()),
      onLeader: (leader) => this.#forwardTo(leader),
      isMember: async () => (await serverOf(storage, memberId)) !== undefined,
    });
    this.#source = this.#standby;
    const source = () => this.#source;
    this.#reporter = new StatusReporter({ keys: storage, memberId, version: VERSION, source, clock, log });
  }

  get server(): string {
    return this.#deps.member.server;
  }

  /** Starts to follow the log. Errors of the data directory end the process. */
  start(): void {
    this.#reporter.start();
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#standby.stop();
    await this.#ended;
    // Clients are served to the end of their requests. Then another member can lead at once.
    await this.#coordinator?.stop();
    this.#reporter.stop();
    await this.#deps.door.close();
    await this.#leadership?.resign();
    await this.#deps.storage.close();
  }

  async #run(): Promise<void> {
    const { log } = this.#deps;
    try {
      const elected = await withExitErrors(() => this.#standby.untilElected());
      if (elected) await this.#lead(elected);
    } catch (error) {
      log.error({ err: error }, 'this coordinator cannot serve');
      await this.#leadership?.resign();
      this.#exit(error instanceof ExitError ? error.sentence : String(error));
    }
  }

  async #lead({ leadership, nextRecord }: Elected): Promise<void> {
    const { settings, log, clock, storage, member, door, keys } = this.#deps;
    const { term } = leadership;
    this.#leadership = leadership;
    log.info({ term }, 'this coordinator leads');
    leadership.onState((state) => this.#onLeadership(state));
    await keys.publish();
    const view = this.#view;
    const trimmer = new LogTrimmer({ storage, term, view, clock, log });
    const addresses = new MemberAddresses({ view, clock, log });
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
          onFailed: (error) => this.#exit(error.message),
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
      components: [trimmer, addresses, keys.component('leader')],
    });
    await this.#reporter.report();
  }

  #control(leadership: Leadership): ClusterControl {
    const { settings, member, storage, clusterKey, clock } = this.#deps;
    return new ClusterControl({
      ...{ dataDir: settings.data, self: member, storage, clusterKey, clock },
      stepDown: () => void this.#stepDown(leadership),
    });
  }

  /** The answer to the request that asked for it is sent while the API stops. */
  async #stepDown(leadership: Leadership): Promise<void> {
    this.#isStopping = true;
    await this.#coordinator?.stop();
    await leadership.resign();
    this.#isStopping = false;
    this.#exit('it stepped down');
  }

  #onLeadership(state: Leadership['state']): void {
    const { log } = this.#deps;
    if (state === 'unproven') log.error('etcd does not answer: another coordinator may lead soon');
    else if (state === 'proven') log.info('this coordinator still leads');
    else this.#exit('another coordinator leads');
  }

  async #forwardTo(leader: Leader | undefined): Promise<void> {
    const { door, storage, member } = this.#deps;
    // The key of an earlier process of this member, which has ended.
    const isStale = leader?.memberId === member.memberId;
    const server = isStale ? undefined : leader && (await serverOf(storage, leader.memberId));
    door.spliceTo(leader && server ? { server, term: leader.term } : undefined);
  }

  async #takeSnapshot(leader: Leader): Promise<void> {
    const server = await serverOf(this.#deps.storage, leader.memberId);
    if (server === undefined) throw new Error('the leader is not a member');
    await this.#deps.takeSnapshot(server);
  }

  /** The service manager starts the process again, as a follower. */
  #exit(why: string): void {
    if (this.#isStopping) return;
    this.#deps.log.error({ why }, 'this process ends, to be started again as a follower');
    process.exit(EXIT_CODES.unexpected);
  }
}

/** Without one, such as in a container without /proc, no ended process is recognized. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return randomUUID();
  }
}

function leaderSource(leaderLog: LeaderLog, term: number): StatusSource {
  const state: MemberState = { role: 'leader', term };
  return {
    state,
    get durableRecord() {
      return leaderLog.durableRecord;
    },
    sync: () => leaderLog.sync(),
  };
}
