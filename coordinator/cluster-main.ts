/** A coordinator that shares its fleet with others: stands by, and serves as `main.ts` does while it leads. */
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import type { Logger } from '../shared/process/output/logger.js';
import { VERSION } from '../shared/process/release-version.js';
import type { Clock } from '../shared/process/time/clock.js';
import type { MemberState } from './cluster/cluster-member.js';
import { LogTrimmer } from './cluster/log-trimmer.js';
import { MemberDirectory } from './cluster/member-directory.js';
import { type Elected, Standby } from './cluster/standby.js';
import { StatusReporter, type StatusSource } from './cluster/status-reporter.js';
import type { CoordinatorSettings } from './coordinator-settings.js';
import { withExitErrors } from './exit-errors.js';
import { type RunningCoordinator, startCoordinator } from './main.js';
import { LeaderLog } from './store/replica/leader-log.js';
import type { ClusterStorage, Leadership } from './store/replica/replicated-log.js';
import type { StoreError } from './store/store-error.js';

/** What a member needs of its surroundings. */
export interface MemberDeps {
  readonly settings: CoordinatorSettings;
  readonly memberId: string;
  readonly generation: string;
  readonly storage: ClusterStorage;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the process: another member may lead. */
  exit(why: string): void;
}

/** Runs one member: first as standby, then, once elected, as leader until the process ends. */
export class RunningMember {
  readonly #deps: MemberDeps;
  readonly #standby: Standby;
  readonly #reporter: StatusReporter;
  readonly #directory: MemberDirectory;
  #source: StatusSource;
  #leadership: Leadership | undefined;
  #coordinator: RunningCoordinator | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(
    deps: MemberDeps,
    standby: Omit<ConstructorParameters<typeof Standby>[0], keyof MemberDeps | 'dataDir'>,
  ) {
    const { settings, memberId, generation, storage, clock, log } = deps;
    this.#deps = deps;
    this.#directory = new MemberDirectory(storage, memberId);
    this.#standby = new Standby({ ...standby, dataDir: settings.data, memberId, generation, storage, log });
    this.#source = this.#standby;
    const source = () => this.#source;
    this.#reporter = new StatusReporter({ keys: storage, memberId, version: VERSION, source, clock, log });
  }

  /** Starts to follow the log. Errors of the data directory end the process. */
  start(): void {
    this.#reporter.start();
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#standby.stop();
    await this.#ended;
    // Clients are served to the end of their requests. Then another member can lead at once.
    await this.#coordinator?.stop();
    this.#reporter.stop();
    await this.#leadership?.resign();
    await this.#deps.storage.close();
  }

  async #run(): Promise<void> {
    const { log, exit } = this.#deps;
    try {
      const elected = await withExitErrors(() => this.#standby.untilElected());
      if (elected) await this.#lead(elected);
    } catch (error) {
      log.error({ err: error }, 'this coordinator cannot serve');
      await this.#leadership?.resign();
      exit(error instanceof ExitError ? error.sentence : String(error));
    }
  }

  async #lead({ leadership, nextRecord }: Elected): Promise<void> {
    const { settings, log, exit, clock, storage, memberId } = this.#deps;
    const { term } = leadership;
    this.#leadership = leadership;
    log.info({ term }, 'this coordinator leads');
    leadership.onState((state) => {
      if (state === 'lost') exit('another coordinator leads');
    });
    const trimmer = new LogTrimmer({ storage, term, view: this.#directory, clock, log });
    let leaderLog: LeaderLog | undefined;
    this.#coordinator = await startCoordinator(settings, log, {
      openReplication: (position, database) => {
        leaderLog = new LeaderLog({
          ...{ log: storage, term, memberId, position, nextRecord, database, clock, logger: log },
          onFailed: (error: StoreError) => exit(error.message),
          onRecord: (index, bytes) => trimmer.add(index, bytes),
        });
        this.#source = leaderSource(leaderLog, term);
        return leaderLog;
      },
      begin: async () => withExitErrors(async () => leaderLog?.start()),
    });
    trimmer.start();
    await this.#reporter.report();
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

/** Ends the process in a way that makes the service manager start it again as a follower. */
export function exitForRestart(log: Logger): (why: string) => void {
  return (why) => {
    log.error({ why }, 'this process ends and is started again as a follower');
    process.exit(EXIT_CODES.unexpected);
  };
}
