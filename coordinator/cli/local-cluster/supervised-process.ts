/** Runs a program as a child process and starts it again whenever it exits, as a service manager does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { EXIT_CODES, type ExitCode, ExitError } from '../../../shared/process/exit-error.js';
import { printErrorLine } from '../../../shared/process/output/terminal-output.js';

interface ProcessSpec {
  /** For messages. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Gets the program's output. Emptied at the first start. */
  readonly logFile: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Part of util-linux. With it the child gets SIGTERM when this process ends, even by SIGKILL. */
const SETPRIV = '/usr/bin/setpriv';
const RESTART_MS = 1_000;
/** After this time a child that is stopped gets SIGKILL. */
const STOP_MS = 12_000;
/** A child that exits this often while it starts will not start. */
const MOST_EXITS = 5;
const POLL_MS = 100;

export class SupervisedProcess {
  readonly #spec: ProcessSpec;
  #child: ChildProcess | undefined;
  #isStopping = false;
  /** Exits since the start. */
  #exits = 0;
  #lastExit: number | string = '';
  #isReady = false;

  constructor(spec: ProcessSpec) {
    this.#spec = spec;
  }

  start(): void {
    closeSync(openSync(this.#spec.logFile, 'w', 0o600));
    this.#spawn();
  }

  /**
   * Resolves when `isReady` does with true; errors of it count as false. Throws `ExitError` with the end of the log if
   * the program exits with a cause that an operator can fix, or exits again and again.
   */
  async untilReady(isReady: () => Promise<boolean>, timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!(await isReady().catch(() => false))) {
      const { name, logFile } = this.#spec;
      if (this.#isStopping) throw new ExitError(EXIT_CODES.environment, `${name} is being stopped.`);
      if (isOperatorError(this.#lastExit) || this.#exits >= MOST_EXITS) throw this.#startFailure();
      if (performance.now() > deadline) {
        const waited = `${name} did not serve within ${Math.round(timeoutMs / 1000)} s`;
        throw new ExitError(EXIT_CODES.environment, `${waited}; its log: ${logFile}.`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    this.#isReady = true;
  }

  /** Sends SIGTERM, later SIGKILL, and resolves when the program has exited. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(timer);
  }

  #spawn(): void {
    const { program, args, logFile, environment } = this.#spec;
    const withParent = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'TERM', '--'] : [];
    const [command = program, ...rest] = [...withParent, program, ...args];
    const log = openSync(logFile, 'a');
    this.#child = spawn(command, rest, {
      stdio: ['ignore', log, log],
      // Only this process handles Ctrl-C. It stops its children in order.
      detached: true,
      env: environment,
    });
    closeSync(log);
    this.#child.on('error', (error) => this.#onExit(error.message));
    this.#child.on('exit', (code, signal) => this.#onExit(code ?? signal ?? EXIT_CODES.unexpected));
  }

  #onExit(exit: number | string): void {
    if (this.#isStopping) return;
    this.#exits += 1;
    this.#lastExit = exit;
    // While it starts, `untilReady` reports the cause.
    if (this.#isReady) {
      const { name, logFile } = this.#spec;
      const how = typeof exit === 'number' ? `exited with code ${exit}` : `ended: ${exit}`;
      printErrorLine(`${name} ${how} and is started again; its log: ${logFile}`);
    }
    setTimeout(() => this.#isStopping || this.#spawn(), RESTART_MS);
  }

  #startFailure(): ExitError {
    const { name, logFile } = this.#spec;
    const why = lastLine(readFileSync(logFile, 'utf8')) || `exit ${this.#lastExit}`;
    const code = isOperatorError(this.#lastExit) ? this.#lastExit : EXIT_CODES.environment;
    return new ExitError(code, `${name} does not start: ${why} Its log: ${logFile}.`);
  }
}

/** True for the exit code of an `ExitError`. */
function isOperatorError(exit: number | string): exit is ExitCode {
  return typeof exit === 'number' && exit > EXIT_CODES.unexpected && exit <= EXIT_CODES.refused;
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
