/** Progress of a simulated fleet: one line of a terminal, elsewhere a new line for each change. */

import type { WriteStream } from 'node:tty';
import { countText } from '../../shared/kube/objects/meta.js';
import { escapeLine } from '../../shared/process/output/terminal-output.js';
import type { NodeCounts } from './simulated-node.js';

const EVERY_MS = 1_000;

export class ProgressLine {
  readonly #out: Pick<WriteStream, 'write' | 'isTTY'>;
  readonly #counts: () => NodeCounts;
  readonly #nodes: number;
  #timer: NodeJS.Timeout | undefined;
  #shown = '';

  constructor(out: Pick<WriteStream, 'write' | 'isTTY'>, counts: () => NodeCounts, nodes: number) {
    this.#out = out;
    this.#counts = counts;
    this.#nodes = nodes;
  }

  start(): void {
    this.#timer = setInterval(() => this.#show(), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    if (this.#out.isTTY) this.#out.write('\n');
  }

  /** Prints a line above the progress. */
  print(text: string): void {
    const line = escapeLine(text);
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${line}\n${this.#shown}` : `${line}\n`);
  }

  #show(): void {
    const { live, refused, pods, running } = this.#counts();
    const away = refused > 0 ? ` (${refused} refused)` : '';
    const text = `${live}/${this.#nodes} nodes connected${away}, ${countText(pods, 'pod')}, ${countText(running, 'container')} running`;
    if (text === this.#shown) return;
    this.#shown = text;
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
  }
}
