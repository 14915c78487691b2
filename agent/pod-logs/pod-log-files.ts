/**
 * The log files of the host's Pods in CRI format, `pods/NAMESPACE_NAME_UID/CONTAINER/ATTEMPT.log`, copied from the
 * engine's own files. They are removed with their containers.
 */
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import { podLogPaths } from '../decisions/pod-logs/pod-log-paths.js';
import { type ContainerIdentity, type ObservedContainer, SANDBOX } from '../runtime/runtime-driver.js';
import {
  ContainerLogCopy,
  type LogCopyDeps,
  type LoggedContainer,
  type LostLines,
} from './container-log-copy.js';
import { LogCopyRounds, type LogCopyTask } from './log-copy-rounds.js';
import { LogPositions } from './log-positions.js';
import { removePodLog } from './pod-log-folder.js';

interface PodLogFilesDeps extends Pick<LogCopyDeps, 'directory' | 'format' | 'limits' | 'wallClock'> {
  /** Positions are stored there. */
  dataDir: string;
  clock: Clock;
  log: Logger;
}

const BUFFER_BYTES = 256 * 1024;
/** Time for programs to read the last lines. The kubelet's garbage collection also runs once a minute. */
const REMOVAL_DELAY_MS = 60_000;
/** Limit of a copy that the removal of a container waits for. */
const DRAIN_MS = 5_000;

interface Entry extends LogCopyTask {
  /** Number of the first inspection that showed the container. */
  since: number;
  removal?: Timer;
}

interface PodLogCounts {
  writtenBytes: number;
  /** Times that the engine rotated lines away before they were copied. */
  gaps: number;
  malformedLines: number;
}

export class PodLogFiles {
  readonly #deps: PodLogFilesDeps;
  readonly #copyDeps: LogCopyDeps;
  readonly #positions: LogPositions;
  readonly #rounds: LogCopyRounds;
  readonly #entries = new Map<string, Entry>();
  /** Ids of containers that have no log file: each is logged once. */
  #refused = new Set<string>();
  #inspections = 0;
  #isStopped = false;
  #lastError = '';
  readonly #counts: PodLogCounts = { writtenBytes: 0, gaps: 0, malformedLines: 0 };

  constructor(deps: PodLogFilesDeps) {
    this.#deps = deps;
    this.#positions = new LogPositions(deps.dataDir);
    this.#rounds = new LogCopyRounds({
      clock: deps.clock,
      onError: (error, { copy }) => this.#onError(error, copy.container.identity),
      onSuccess: () => this.#onSuccess(),
    });
    this.#copyDeps = {
      ...deps,
      positions: this.#positions,
      buffer: Buffer.allocUnsafeSlow(BUFFER_BYTES),
      onWritten: (bytes) => {
        this.#counts.writtenBytes += bytes;
      },
      onLost: (container, lost) => this.#onLost(container, lost),
    };
  }

  get counts(): Readonly<PodLogCounts> {
    return this.#counts;
  }

  /** Returns a number for `observe`. Call before each inspection of the engine. */
  nextInspection(): number {
    this.#inspections += 1;
    return this.#inspections;
  }

  /**
   * Applies an inspection's result: the containers of one Pod, or all. The log files of containers that the engine no
   * longer has are removed after a delay.
   */
  observe(inspection: number, containers: readonly ObservedContainer[], podUid?: string): void {
    if (this.#isStopped) return;
    const present = new Set(containers.map(({ id }) => id));
    for (const container of containers) this.#add(inspection, container);
    for (const [id, { since, copy }] of this.#entries) {
      const isInspected = podUid === undefined || copy.container.identity.podUid === podUid;
      // An older inspection does not show a container that was created since.
      if (isInspected && since <= inspection && !present.has(id)) this.onRemoved(id);
    }
    if (podUid !== undefined) return;
    this.#refused = new Set([...this.#refused].filter((id) => present.has(id)));
    void this.#removeForgotten(present);
  }

  /** Copies what is left of a container's log before the engine removes it. Resolves also if that fails. */
  async drain(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry) await this.#rounds.drain(entry, DRAIN_MS);
  }

  /** The engine has removed the container. */
  onRemoved(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry || entry.removal) return;
    entry.hasExited = true;
    this.#rounds.activate(entry);
    entry.removal = this.#deps.clock.after(REMOVAL_DELAY_MS, () => void this.#remove(id, entry));
  }

  /** Stores all positions. The log files stay. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#rounds.stop();
    for (const entry of this.#entries.values()) {
      entry.removal?.cancel();
      this.#rounds.forget(entry);
      const { identity } = entry.copy.container;
      await entry.copy.stop().catch((error: unknown) => this.#onError(error, identity));
    }
    this.#entries.clear();
  }

  #add(inspection: number, container: ObservedContainer): void {
    const { id, identity, state } = container;
    if (identity.container === SANDBOX || state === 'created' || this.#refused.has(id)) return;
    const hasExited = state === 'exited';
    const known = this.#entries.get(id);
    if (!known) {
      const logged = this.#logged(container);
      if (!logged) return;
      const copy = new ContainerLogCopy(logged, this.#copyDeps);
      const entry = { copy, since: inspection, hasExited, quietPolls: 0, retryAt: 0 };
      this.#entries.set(id, entry);
      this.#rounds.activate(entry);
      return;
    }
    known.removal?.cancel();
    delete known.removal;
    if (hasExited === known.hasExited) return;
    known.hasExited = hasExited;
    this.#rounds.activate(known);
  }

  /** Returns undefined for a container that cannot have a log file, and logs why. */
  #logged({ id, identity, logPath }: ObservedContainer): LoggedContainer | undefined {
    const paths = podLogPaths(identity, id);
    if (logPath && paths) return { id, identity, logPath, paths };
    this.#refused.add(id);
    const why = logPath ? 'a name is too long or invalid' : 'the engine keeps its log in no file';
    this.#deps.log.warn({ ...nameOf(identity), why }, 'a container has no log file for other programs');
    return undefined;
  }

  async #remove(id: string, entry: Entry): Promise<void> {
    this.#entries.delete(id);
    this.#rounds.forget(entry);
    const { identity, paths } = entry.copy.container;
    try {
      await this.#rounds.exclusively(() => entry.copy.close());
      await removePodLog(this.#deps.directory, paths);
      await this.#positions.remove(id);
    } catch (error) {
      this.#onError(error, identity);
    }
  }

  /** Removes the log files of containers that were removed while the agent did not run. */
  async #removeForgotten(present: ReadonlySet<string>): Promise<void> {
    try {
      for (const id of await this.#positions.ids()) {
        if (this.#isStopped) return;
        if (present.has(id) || this.#entries.has(id)) continue;
        const position = await this.#positions.read(id);
        const paths = position && podLogPaths(position.identity, id);
        if (paths) await removePodLog(position.directory, paths);
        await this.#positions.remove(id);
      }
    } catch (error) {
      this.#onError(error);
    }
  }

  #onLost({ identity }: LoggedContainer, lost: LostLines): void {
    const { log } = this.#deps;
    if (lost.kind === 'gap') {
      this.#counts.gaps += 1;
      log.warn(nameOf(identity), 'lines are missing in a log file: the engine rotated them away');
      return;
    }
    if (this.#counts.malformedLines === 0)
      log.warn(nameOf(identity), "malformed lines of the engine's log are left out");
    this.#counts.malformedLines += lost.lines;
  }

  /** Logs an error once until a copy succeeds: on a full disk every copy fails. */
  #onError(error: unknown, identity?: ContainerIdentity): void {
    const text = error instanceof Error ? error.message : String(error);
    const cause = (error as NodeJS.ErrnoException).code ?? text;
    if (cause === this.#lastError) return;
    this.#lastError = cause;
    const fields = { ...(identity ? nameOf(identity) : {}), directory: this.#deps.directory, err: error };
    this.#deps.log.warn(
      fields,
      'log files of Pods cannot be written; the lines wait in the logs of the engine',
    );
  }

  #onSuccess(): void {
    if (this.#lastError === '') return;
    this.#lastError = '';
    this.#deps.log.info('log files of Pods are written again');
  }
}

function nameOf({ podNamespace, podName, container }: ContainerIdentity): Record<string, string> {
  return { namespace: podNamespace, pod: podName, container };
}
