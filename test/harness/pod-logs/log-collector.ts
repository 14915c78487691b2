/**
 * Substitute for a log daemon. It reads exactly what the Helm chart of fluent-bit reads: `[INPUT] tail` with the path
 * `/var/log/containers/*.log` and the parser `cri`, and `[FILTER] kubernetes`, which takes the Pod's name from the file
 * name and its labels from the API, with a ServiceAccount's token.
 */
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The chart's regular expressions (fluent-bit's conf/parsers.conf `cri`, plugins/filter_kubernetes/kube_regex.h). */
const CRI = /^(?<time>[^ ]+) (?<stream>stdout|stderr) (?<logtag>[^ ]*) (?<message>.*)$/;
const FILE_NAME =
  /^(?<pod>[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)_(?<namespace>[^_]+)_(?<container>.+)-(?<id>[a-z0-9]{64})\.log$/;
const POLL_MS = 200;
/** The chart's Rotate_Wait: a rotated file is read for this long. */
const ROTATE_WAIT_MS = 5_000;
const CHUNK_BYTES = 64 * 1024;

export interface CollectedLine {
  time: string;
  stream: string;
  message: string;
  namespace: string;
  pod: string;
  container: string;
  labels: Record<string, string>;
}

interface OpenFile {
  fd: number;
  inode: number;
  offset: number;
  rest: string;
  /** Parts of a line that is not complete, by stream. */
  parts: Map<string, string>;
  rotatedAt?: number;
}

/** Returns the labels of a Pod; undefined if the API does not return it. */
export type FindLabels = (namespace: string, pod: string) => Promise<Record<string, string> | undefined>;

export class LogCollector {
  readonly lines: CollectedLine[] = [];
  /** Lines that the parser does not match. */
  readonly unparsed: string[] = [];
  readonly #files = new Map<string, OpenFile[]>();
  readonly #labels = new Map<string, Record<string, string>>();
  #stopped = false;
  readonly #done: Promise<void>;

  /** `folder` has the links: `/var/log/containers` on a host. */
  constructor(
    private readonly folder: string,
    private readonly findLabels: FindLabels,
  ) {
    this.#done = this.#run();
  }

  /** Returns the messages of one container of a Pod, in the order of their arrival. */
  messages(pod: string, container: string): string[] {
    return this.lines
      .filter((line) => line.pod === pod && line.container === container)
      .map(({ message }) => message);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
    for (const { fd } of [...this.#files.values()].flat()) closeSync(fd);
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#readAll();
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async #readAll(): Promise<void> {
    for (const name of namesIn(this.folder)) this.#find(name);
    for (const [name, files] of this.#files) {
      const source = FILE_NAME.exec(name)?.groups;
      if (!source) continue;
      const { namespace = '', pod = '', container = '' } = source;
      const labels = await this.#labelsOf(namespace, pod);
      for (const file of files)
        for (const line of readLines(file)) this.#parse(line, file, { namespace, pod, container, labels });
      this.#closeRotated(name, files);
    }
  }

  /** Opens the file behind a link, and the next one after its rotation. */
  #find(name: string): void {
    const path = join(this.folder, name);
    const files = this.#files.get(name) ?? [];
    this.#files.set(name, files);
    try {
      // Follows the link.
      const inode = statSync(path).ino;
      if (files.some((file) => file.inode === inode)) return;
      for (const file of files) file.rotatedAt ??= performance.now();
      const fd = openSync(path, 'r');
      files.push({ fd, inode: fstatSync(fd).ino, offset: 0, rest: '', parts: new Map() });
    } catch (error) {
      // The file is missing for a moment while it is rotated.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  #closeRotated(name: string, files: readonly OpenFile[]): void {
    const isOver = ({ rotatedAt }: OpenFile) =>
      rotatedAt !== undefined && performance.now() - rotatedAt > ROTATE_WAIT_MS;
    for (const file of files.filter(isOver)) closeSync(file.fd);
    this.#files.set(
      name,
      files.filter((file) => !isOver(file)),
    );
  }

  #parse(
    line: string,
    { parts }: OpenFile,
    source: Pick<CollectedLine, 'namespace' | 'pod' | 'container' | 'labels'>,
  ): void {
    const found = CRI.exec(line)?.groups;
    if (!found) {
      this.unparsed.push(line);
      return;
    }
    const { time = '', stream = '', logtag, message = '' } = found;
    const text = (parts.get(stream) ?? '') + message;
    parts.set(stream, logtag === 'P' ? text : '');
    if (logtag !== 'P') this.lines.push({ time, stream, message: text, ...source });
  }

  async #labelsOf(namespace: string, pod: string): Promise<Record<string, string>> {
    const key = `${namespace}/${pod}`;
    const known = this.#labels.get(key) ?? (await this.findLabels(namespace, pod));
    if (known) this.#labels.set(key, known);
    return known ?? {};
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readLines(file: OpenFile): string[] {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let text = file.rest;
  for (let count = -1; count !== 0; ) {
    count = readSync(file.fd, buffer, 0, buffer.length, file.offset);
    file.offset += count;
    text += buffer.toString('latin1', 0, count);
  }
  const lines = text.split('\n');
  file.rest = lines.pop() ?? '';
  return lines;
}
