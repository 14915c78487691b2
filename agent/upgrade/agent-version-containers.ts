/**
 * Represents the agent's own version as a container: its image is a release, and starting it upgrades the agent. So a
 * DaemonSet can upgrade agents, with the same waves, health checks and rollback as any other rollout.
 */
import { readFileSync } from 'node:fs';
import { writePrivateFile } from '../../shared/process/files/private-file.js';
import { isReleaseVersion } from '../../shared/process/release-version.js';
import type { InstalledVersions } from '../install/installed-versions.js';
import {
  type ContainerConfig,
  type ContainerIdentity,
  type EngineImage,
  type ObservedContainer,
  type PullRequest,
  RuntimeError,
} from '../runtime/runtime-driver.js';
import type { ReleaseSource } from './release-source.js';
import type { UpgradeTrialFile } from './upgrade-trial.js';

/** Images of this repository are versions of the agent. They come from the coordinator, not from a registry. */
const REPOSITORY = 'everynode.dev/agent';
/** Only Pods of this namespace may upgrade agents: its administrators have control over the hosts anyway. */
const NAMESPACE = 'kube-system';

/** Delay before a worker continues while this process exits. */
const RESTART_DELAY_MS = 100;

/** Returns the version that the image names, or undefined for other images. Throws `InvalidImageName`. */
export function agentVersionOf(image: string): string | undefined {
  if (!image.startsWith(`${REPOSITORY}:`)) return undefined;
  const version = image.slice(REPOSITORY.length + 1);
  if (isReleaseVersion(version)) return version;
  throw new RuntimeError('InvalidImageName', `${version} is not a version of the agent`, false);
}

interface Record {
  id: string;
  identity: ContainerIdentity;
  image: string;
  version: string;
  labels: { [key: string]: string };
  state: 'created' | 'running' | 'exited';
  /** All times here are wall clock times. */
  createdAt: number;
  startedAt?: number;
  finishedAt?: number;
  error?: string;
  /** The Pod's attempt at this version failed. The same Pod does not try it again. */
  hasFailed?: boolean;
}

interface AgentVersionContainersOptions {
  /** File that stores the containers. */
  path: string;
  /** The running version. */
  version: string;
  versions: InstalledVersions;
  source: Pick<ReleaseSource, 'fetch' | 'requireAllowed'>;
  trial: UpgradeTrialFile;
  /** Returns why this agent cannot be upgraded, or undefined if it can. */
  whyNotUpgradable: () => string | undefined;
  /** Runs the program briefly. Throws if it does not work on this host. */
  checkProgram: (program: string, version: string) => Promise<void>;
  /** Schedules a check of the trial by the running version's program, which does not depend on the new version. */
  guardTrial: (program: string, id: string) => Promise<void>;
  /** Ends this process, so that systemd starts the selected version. */
  restart: () => void;
  /** Resolves after this delay. */
  pause: (delayMs: number) => Promise<void>;
  newId: () => string;
  /** Wall clock, ms. */
  now: () => number;
  /** Monotonic clock minus wall clock, ms. */
  clockOffsetMs: () => number;
}

export class AgentVersionContainers {
  readonly #options: AgentVersionContainersOptions;
  #records: Record[];
  #isRestarting = false;

  constructor(options: AgentVersionContainersOptions) {
    this.#options = options;
    this.#records = readRecords(options.path).map((record) => this.#withOutcome(record));
  }

  /** Returns whether the id belongs to one of these containers. */
  has(id: string): boolean {
    return this.#records.some((record) => record.id === id);
  }

  list(): ObservedContainer[] {
    const shift = this.#options.clockOffsetMs();
    return this.#records.map(({ id, identity, image, labels, state, error, version, ...times }) => ({
      id,
      identity,
      image,
      imageID: `${REPOSITORY}@${version}`,
      labels,
      state,
      oomKilled: false,
      createdAt: times.createdAt + shift,
      ...(times.startedAt === undefined ? {} : { startedAt: times.startedAt + shift }),
      ...(times.finishedAt === undefined ? {} : { finishedAt: times.finishedAt + shift }),
      ...(state === 'exited' ? { exitCode: error === undefined ? 0 : 1 } : {}),
      ...(error === undefined ? {} : { error }),
    }));
  }

  findImage(version: string): EngineImage | undefined {
    const { versions, version: own } = this.#options;
    if (version !== own && !versions.has(version)) return undefined;
    return { id: `${REPOSITORY}@${version}`, user: '', sizeBytes: 0 };
  }

  async pull(version: string, { signal, onProgress }: PullRequest): Promise<void> {
    const { source, versions } = this.#options;
    if (this.findImage(version)) return;
    await source.fetch(version, versions.program(version), signal, onProgress);
  }

  async create({ identity, image, labels }: ContainerConfig, version: string): Promise<string> {
    if (identity.podNamespace !== NAMESPACE) {
      throw new RuntimeError('CreateContainerError', `only Pods of ${NAMESPACE} may upgrade agents`, false);
    }
    if (this.#records.some((record) => isSame(record.identity, identity))) {
      throw new RuntimeError('Conflict', 'the container exists already', false);
    }
    const id = this.#options.newId().replaceAll('-', '');
    const createdAt = this.#options.now();
    const hasFailed = this.#records.some(
      (record) =>
        record.hasFailed && record.identity.podUid === identity.podUid && record.version === version,
    );
    const created: Record = { id, identity, image, version, labels, state: 'created', createdAt };
    this.#records.push({ ...created, ...(hasFailed ? { hasFailed } : {}) });
    await this.#save(this.#records);
    return id;
  }

  /** Upgrades to the version by a restart, on trial. Does nothing else if it already runs. */
  async start(id: string): Promise<void> {
    const {
      version: own,
      versions,
      trial,
      source,
      whyNotUpgradable: whyFixed,
      checkProgram,
      guardTrial: guard,
      restart,
      now,
    } = this.#options;
    // This process is about to exit. Do not change the state meanwhile.
    if (this.#isRestarting) return this.#options.pause(RESTART_DELAY_MS);
    const record = this.#record(id);
    const started: Record = { ...record, state: 'running', startedAt: now() };
    const others = this.#records.filter((other) => other !== record);
    if (record.version === own) {
      this.#records = [...others, started];
      return this.#save(this.#records);
    }
    // Each attempt may take the host offline for minutes.
    const failedBefore =
      record.hasFailed &&
      `agent ${record.version} has failed on this host; create another Pod to try it again`;
    const why = failedBefore || whyFixed();
    if (why !== undefined) throw new RuntimeError('RunContainerError', why, false);
    // Check a version on disk as well: the coordinator may have raised its minimum version.
    await source.requireAllowed(record.version);
    await checkProgram(versions.program(record.version), record.version);
    await guard(versions.program(own), id);
    await trial.write({ id, from: own, to: record.version, starts: 0 });
    // Stored as running, but not reported by this process: the new version reads the file and reports it.
    await this.#save([...others, started]);
    versions.activate(record.version);
    this.#isRestarting = true;
    restart();
  }

  /** Only marks the container as exited: a host must never be without an agent. */
  async stop(id: string): Promise<void> {
    const record = this.#record(id);
    if (record.state !== 'exited')
      Object.assign(record, { state: 'exited', finishedAt: this.#options.now() });
    await this.#save(this.#records);
  }

  async remove(id: string): Promise<void> {
    this.#records = this.#records.filter((record) => record.id !== id);
    await this.#save(this.#records);
  }

  /** A version that should run but does not has failed: the previous one was restored. */
  #withOutcome(record: Record): Record {
    const { version, now } = this.#options;
    if (record.state !== 'running' || record.version === version) return record;
    const error = `agent ${record.version} did not reach the coordinator; rolled back to ${version}`;
    return { ...record, state: 'exited', finishedAt: now(), error, hasFailed: true };
  }

  #record(id: string): Record {
    const record = this.#records.find((each) => each.id === id);
    if (!record) throw new RuntimeError('NotFound', `no container ${id}`, false);
    return record;
  }

  async #save(records: readonly Record[]): Promise<void> {
    await writePrivateFile(this.#options.path, JSON.stringify(records));
  }
}

function isSame(one: ContainerIdentity, other: ContainerIdentity): boolean {
  return one.podUid === other.podUid && one.container === other.container && one.attempt === other.attempt;
}

function readRecords(path: string): Record[] {
  try {
    const records: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(records) ? records : [];
  } catch {
    // The file is missing or damaged. Pods then create their containers again, which costs nothing for the running
    // version.
    return [];
  }
}
