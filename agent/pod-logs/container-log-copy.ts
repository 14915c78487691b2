/** Copies one container's log from the engine's file to its log file in CRI format. */
import type { FileHandle } from 'node:fs/promises';
import { countWrittenBytes } from '../../shared/process/files/private-file.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { type EngineLogFormat, LOG_ENCODING, toCriLines } from '../decisions/pod-logs/cri-lines.js';
import {
  type RotationLimits,
  rotatedFiles,
  rotatedName,
  rotationStep,
} from '../decisions/pod-logs/log-rotation.js';
import type { PodLogPaths } from '../decisions/pod-logs/pod-log-paths.js';
import type { ContainerIdentity } from '../runtime/runtime-driver.js';
import { EngineLogFile, type LogPlace } from './engine-log-file.js';
import type { LogPosition, LogPositions } from './log-positions.js';
import { linkPodLog, PodLogFolder } from './pod-log-folder.js';
import { cleanRotatedFiles } from './rotated-log-files.js';

/** The container whose log is copied. */
export interface LoggedContainer {
  id: string;
  identity: ContainerIdentity;
  /** Path of the engine's log file. */
  logPath: string;
  paths: PodLogPaths;
}

/** What all copies of a host share. */
export interface LogCopyDeps {
  directory: string;
  format: EngineLogFormat;
  limits: RotationLimits;
  positions: LogPositions;
  /** For ages of files. */
  clock: Pick<Clock, 'monotonic'>;
  /** The wall clock, for names of rotated files. */
  wallClock: Pick<Clock, 'now'>;
  /** For one copy at a time. */
  buffer: Buffer;
  onWritten(bytes: number): void;
  /** Called if lines were lost: the engine had removed them, or they were not in its format. */
  onLost(container: LoggedContainer, lost: LostLines): void;
}

export type LostLines = { kind: 'gap' } | { kind: 'malformed'; lines: number };

/** `behind`: the limit was reached and there is more. */
type CopyResult = 'behind' | 'copied' | 'nothing';

/** After a kill of the agent at most this much of the engine's log is converted again, to find the place. */
const POSITION_EVERY_BYTES = 1024 * 1024;

interface Target {
  folder: PodLogFolder;
  file: FileHandle;
  inode: number;
  size: number;
}

export class ContainerLogCopy {
  readonly #deps: LogCopyDeps;
  #position: LogPosition | undefined;
  #source: EngineLogFile | undefined;
  #target: Target | undefined;
  /** Bytes of the conversion that the target already has. */
  #present = 0;
  #sincePosition = 0;
  /** Monotonic times, for the rotation. */
  #createdAt: number;
  #writtenAt = 0;

  constructor(
    readonly container: LoggedContainer,
    deps: LogCopyDeps,
  ) {
    this.#deps = deps;
    this.#createdAt = deps.clock.monotonic();
  }

  /**
   * Copies about `maxBytes` of the engine's log at most. Pauses before a rotation unless it is `urgent`. After an error
   * the next call continues at the same place.
   */
  async copy(maxBytes: number, isUrgent = false): Promise<CopyResult> {
    try {
      let copied = 0;
      while (copied < maxBytes) {
        const source = await this.#openSource();
        if (!source) return 'nothing';
        if (!isUrgent && !(await this.#rotateIfDue(source))) return 'copied';
        const { bytes, skipped } = await source.read(this.#deps.buffer);
        copied += bytes.length + skipped;
        if (bytes.length > 0) await this.#write(bytes);
        if (skipped > 0) this.#lost({ kind: 'malformed', lines: 1 });
        if (bytes.length + skipped > 0) continue;
        const after = await source.afterEnd();
        if (after.kind === 'end') return copied > 0 ? 'copied' : 'nothing';
        if (after.isGap) this.#lost({ kind: 'gap' });
      }
      return 'behind';
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Closes the log file while the container writes nothing. The engine's file stays open, so that no line is lost. */
  async rest(): Promise<void> {
    const target = this.#target;
    this.#target = undefined;
    await target?.file.close();
    await target?.folder.close();
  }

  /** Stores the position, so that the next start of the agent need not search for it. */
  async stop(): Promise<void> {
    if (this.#source && this.#present === 0) await this.#storePosition(this.#source.place);
    await this.close();
  }

  async close(): Promise<void> {
    const source = this.#source;
    this.#source = undefined;
    await this.rest();
    await source?.close();
  }

  /** Opens the engine's log at the stored position. Resolves with undefined while the engine has written none. */
  async #openSource(): Promise<EngineLogFile | undefined> {
    if (this.#source) return this.#source;
    const { id, logPath, identity, paths } = this.container;
    const { positions, directory, format } = this.#deps;
    this.#position ??= await positions.read(id);
    const opened = await EngineLogFile.open(logPath, format, this.#position?.source);
    if (!opened) return undefined;
    if (opened.isGap) this.#lost({ kind: 'gap' });
    this.#source = opened.log;
    // The record of the file is stored before the file exists. Otherwise nothing would ever remove the file.
    if (!this.#position) await this.#keep({ identity, directory });
    await linkPodLog(directory, paths);
    const target = await this.#openTarget();
    this.#present = opened.isGap ? 0 : await this.#bytesAfter(target, this.#position?.target);
    if (this.#position?.source === undefined || opened.isGap) await this.#storePosition(opened.log.place);
    return opened.log;
  }

  async #openTarget(): Promise<Target> {
    if (this.#target) return this.#target;
    const { directory } = this.#deps;
    const folder = await PodLogFolder.open(directory, this.container.paths);
    try {
      const file = await folder.append(this.container.paths.file);
      const { ino: inode, size } = await file.stat();
      this.#target = { folder, file, inode, size };
      return this.#target;
    } catch (error) {
      await folder.close();
      throw error;
    }
  }

  /** Returns how many bytes follow a place in the log files. The place may be in a file that was rotated since. */
  async #bytesAfter({ folder, inode, size }: Target, place: LogPlace | undefined): Promise<number> {
    if (!place) return 0;
    if (place.inode === inode) return Math.max(size - place.offset, 0);
    const { file } = this.container.paths;
    const [latest] = rotatedFiles(file, await folder.names()).slice(-1);
    const rotated = latest === undefined ? undefined : await folder.stat(latest);
    if (rotated?.inode !== place.inode) return 0;
    return Math.max(rotated.size - place.offset, 0) + size;
  }

  async #write(bytes: Buffer): Promise<void> {
    const { format, clock, onWritten } = this.#deps;
    const encoding = LOG_ENCODING[format];
    const { text, malformed } = toCriLines(bytes.toString(encoding), format);
    const converted = Buffer.from(text, encoding);
    const known = Math.min(this.#present, converted.length);
    this.#present -= known;
    if (malformed > 0 && known === 0) this.#lost({ kind: 'malformed', lines: malformed });
    const left = converted.subarray(known);
    if (left.length > 0) {
      await writeAll(await this.#openTarget(), left);
      this.#writtenAt = clock.monotonic();
      countWrittenBytes(left);
      onWritten(left.length);
    }
    this.#sincePosition += bytes.length;
    if (this.#sincePosition >= POSITION_EVERY_BYTES && this.#present === 0 && this.#source)
      await this.#storePosition(this.#source.place);
  }

  /** Resolves with false if nothing may be written before the rotation. */
  async #rotateIfDue(source: EngineLogFile): Promise<boolean> {
    const { limits, clock, wallClock } = this.#deps;
    const target = this.#target;
    if (!target || this.#present > 0) return true;
    const state = { size: target.size, createdAt: this.#createdAt, writtenAt: this.#writtenAt };
    const step = rotationStep(state, clock.monotonic(), limits);
    if (step !== 'rotate') return step === 'write';
    const { file } = this.container.paths;
    const rotated = rotatedName(file, wallClock.now());
    // The clock was set back, to the second of another rotation.
    if (await target.folder.stat(rotated)) return true;
    await this.#storePosition(source.place);
    await target.folder.rename(file, rotated);
    this.#createdAt = clock.monotonic();
    await this.rest();
    const { folder } = await this.#openTarget();
    await cleanRotatedFiles(folder, file, limits);
    return true;
  }

  /** `source` is the place whose conversion ends at the end of the target. */
  async #storePosition(source: LogPlace): Promise<void> {
    const { inode, size } = await this.#openTarget();
    const { identity, directory } = this.#position ?? { ...this.container, ...this.#deps };
    await this.#keep({ identity, directory, source, target: { inode, offset: size } });
    this.#sincePosition = 0;
  }

  async #keep(position: LogPosition): Promise<void> {
    await this.#deps.positions.write(this.container.id, position);
    this.#position = position;
  }

  #lost(lost: LostLines): void {
    this.#deps.onLost(this.container, lost);
  }
}

/** A full disk may take a part of the bytes. `target.size` counts what was written. */
async function writeAll(target: Target, bytes: Buffer): Promise<void> {
  for (let start = 0; start < bytes.length; ) {
    const { bytesWritten } = await target.file.write(bytes, start, bytes.length - start);
    target.size += bytesWritten;
    start += bytesWritten;
  }
}
