/** Log files as an engine writes them, and the log files of Pods that are made of them. */
import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { EngineLogFormat } from '../../../agent/decisions/pod-logs/cri-lines.js';
import type { EngineState, ObservedContainer } from '../../../agent/runtime/runtime-driver.js';

const ZONE = { 'json-file': 'Z', 'k8s-file': '+00:00' } as const;
/** Like `max-file` of the agent's containers on Docker. */
const MAX_FILES = 5;

/** The log of one container, written by the test. Each line is `line N`. */
export class EngineLog {
  readonly path: string;
  #count = 0;

  constructor(
    folder: string,
    readonly id: string,
    private readonly format: EngineLogFormat,
  ) {
    this.path = join(folder, `${id}-json.log`);
  }

  get count(): number {
    return this.#count;
  }

  /** Appends lines with consecutive numbers. `padding` makes each line longer. */
  write(lines: number, padding = ''): void {
    let text = '';
    for (let index = 0; index < lines; index += 1) {
      this.#count += 1;
      const time = `2016-10-06T00:17:09.${String(this.#count).padStart(9, '0')}${ZONE[this.format]}`;
      const log = `line ${this.#count}${padding}`;
      text +=
        this.format === 'json-file'
          ? `${JSON.stringify({ log: `${log}\n`, stream: 'stdout', time })}\n`
          : `${time} stdout F ${log}\n`;
    }
    appendFileSync(this.path, text);
  }

  append(text: string): void {
    appendFileSync(this.path, text);
  }

  /** Starts a new file. Docker keeps the old ones, Podman replaces the old one. */
  rotate(): void {
    if (this.format === 'k8s-file') {
      rmSync(this.path);
      return;
    }
    rmSync(`${this.path}.${MAX_FILES - 1}`, { force: true });
    for (let index = MAX_FILES - 2; index >= 0; index -= 1) {
      const from = index === 0 ? this.path : `${this.path}.${index}`;
      if (existsSync(from)) renameSync(from, `${this.path}.${index + 1}`);
    }
  }

  /** As an inspection of the engine shows it. */
  observed(state: EngineState = 'running', attempt = 0): ObservedContainer {
    return {
      id: this.id,
      identity: { podUid: 'uid-1', podNamespace: 'shop', podName: 'web', container: 'main', attempt },
      state,
      image: 'app:1',
      imageID: 'sha256:1',
      createdAt: 0,
      oomKilled: false,
      labels: {},
      logPath: this.path,
    };
  }
}

/** Returns all lines of an attempt of a container, from the oldest rotated file on. */
export function criLines(folder: string, file: string): string[] {
  const names = readdirSync(folder).filter((name) => name.startsWith(file) && !name.endsWith('.tmp'));
  // The current file has the shortest name and is the newest.
  const ordered = [...names.filter((name) => name !== file).sort(), file];
  const texts = ordered.map((name) => {
    const bytes = readFileSync(join(folder, name));
    return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  });
  const text = texts.join('');
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Returns the texts of CRI lines. */
export function textsOf(lines: readonly string[]): string[] {
  return lines.map((line) => line.split(' ').slice(3).join(' '));
}
