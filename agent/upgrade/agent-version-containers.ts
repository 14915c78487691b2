/**
 * The agent's own version as a container that a Pod asks for: its image is a release, to start it is to become that version. What
 * rolls DaemonSets out over hosts, waits for them and takes them back does so with agents as well.
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

/** Images of this repository are versions of the agent; no registry is asked for them. */
const REPOSITORY = 'everynode.dev/agent';
/** Who may decide about hosts may decide about their agents. */
const NAMESPACE = 'kube-system';

/** How soon a worker looks again while this process ends. */
const RESTART_LOOK_MS = 100;

/** The version that an image names; undefined for every other image. Throws `InvalidImageName`. */
export function agentVersionOf(image: string): string | undefined {
  if (!image.startsWith(`${REPOSITORY}:`)) return undefined;
  const version = image.slice(REPOSITORY.length + 1);
  if (isReleaseVersion(version)) return version;
  throw new RuntimeError('InvalidImageName', `${version} is no version of the agent`, false);
}

interface Record {
  id: string;
  identity: ContainerIdentity;
  image: string;
  version: string;
  labels: { [key: string]: string };
  state: 'created' | 'running' | 'exited';
  /** By the wall clock, as all times here. */
  createdAt: number;
  startedAt?: number;
  finishedAt?: number;
  error?: string;
  /** The Pod has tried this version here before, in vain: it is not tried again for the same Pod. */
  isBarred?: boolean;
}

interface AgentVersionContainersOptions {
  /** File of the containers. */
  path: string;
  /** The version that runs. */
  version: string;
  versions: InstalledVersions;
  source: Pick<ReleaseSource, 'fetch' | 'requireAllowed'>;
  trial: UpgradeTrialFile;
  /** Why this agent cannot become another version; undefined when it can. */
  whyNotUpgradable: () => string | undefined;
  /** Runs the program of a version for a moment; throws when it is not one that works here. */
  checkProgram: (program: string, version: string) => Promise<void>;
  /** Has the program of the version that runs now look at the trial later, whatever becomes of the new one. */
  guardTrial: (program: string, id: string) => Promise<void>;
  /** Ends this process, for what starts it again to start the version that is current then. */
  restart: () => void;
  /** Resolves after so many ms. */
  pause: (delayMs: number) => Promise<void>;
  newId: () => string;
  /** Wall clock, ms. */
  now: () => number;
  /** What is added to a wall time to make it one of the steady clock, ms. */
  clockOffsetMs: () => number;
}

export class AgentVersionContainers {
  readonly #options: AgentVersionContainersOptions;
  #records: Record[];
  #isRestarting = false;

  constructor(options: AgentVersionContainersOptions) {
    this.#options = options;
    this.#records = readRecords(options.path).map((record) => this.#seen(record));
  }

  /** Whether a container is one of these. */
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
      throw new RuntimeError(
        'CreateContainerError',
        `agents are upgraded by Pods of ${NAMESPACE} alone`,
        false,
      );
    }
    if (this.#records.some((record) => isSame(record.identity, identity))) {
      throw new RuntimeError('Conflict', 'this container exists', false);
    }
    const id = this.#options.newId().replaceAll('-', '');
    const createdAt = this.#options.now();
    const isBarred = this.#records.some(
      (record) => record.isBarred && record.identity.podUid === identity.podUid && record.version === version,
    );
    const created: Record = { id, identity, image, version, labels, state: 'created', createdAt };
    this.#records.push({ ...created, ...(isBarred ? { isBarred } : {}) });
    await this.#save(this.#records);
    return id;
  }

  /** Becomes the version: at once when it runs already, else by a restart, on trial. */
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
    // The end of this process is under way; whoever looks meanwhile sees what is true of it.
    if (this.#isRestarting) return this.#options.pause(RESTART_LOOK_MS);
    const record = this.#record(id);
    const started: Record = { ...record, state: 'running', startedAt: now() };
    const others = this.#records.filter((other) => other !== record);
    if (record.version === own) {
      this.#records = [...others, started];
      return this.#save(this.#records);
    }
    // Each try may cut the host off for minutes.
    const failedBefore =
      record.isBarred && `agent ${record.version} has failed here; another Pod may try it again`;
    const why = failedBefore || whyFixed();
    if (why !== undefined) throw new RuntimeError('RunContainerError', why, false);
    // Also for a version that is on this disk already: the coordinator may have set its floor above it since.
    await source.requireAllowed(record.version);
    await checkProgram(versions.program(record.version), record.version);
    await guard(versions.program(own), id);
    await trial.write({ id, from: own, to: record.version, starts: 0 });
    // It runs once the new version does: that one reads this, and is the first to say so.
    await this.#save([...others, started]);
    versions.activate(record.version);
    this.#isRestarting = true;
    restart();
  }

  /** Nothing ends: a host is never without an agent. */
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

  /** A version that was asked for and does not run has failed: the one before it has come back. */
  #seen(record: Record): Record {
    const { version, now } = this.#options;
    if (record.state !== 'running' || record.version === version) return record;
    const error = `agent ${record.version} did not reach the coordinator; ${version} goes on`;
    return { ...record, state: 'exited', finishedAt: now(), error, isBarred: true };
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
    // Never written, or cut off: Pods ask anew, and to become what one is costs nothing.
    return [];
  }
}
