/** A program on a pseudo-terminal, by util-linux' `script`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Kubectl } from '../clients/kubectl.js';

export class Terminal {
  readonly #child: ChildProcess;
  #printed = '';
  /** Exit code of the program, or null after a signal. */
  readonly ended: Promise<number | null>;

  /** Runs a shell command line in a terminal of 33 rows and 99 columns, with this kubectl's environment. */
  constructor(kubectl: Kubectl, commandLine: string) {
    this.#child = spawn('script', ['-qfec', `stty rows 33 cols 99; exec ${commandLine}`, '/dev/null'], {
      cwd: kubectl.home,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: kubectl.home,
        KUBECONFIG: join(kubectl.home, 'kubeconfig'),
        TERM: 'dumb',
        SHELL: '/bin/sh',
      },
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#printed += chunk.toString('utf8');
    });
    this.ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  get printed(): string {
    return this.#printed;
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Ends the program as if its window was closed. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
