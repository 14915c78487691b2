/** Runs the program `everynode-agent` as a child process. The two programs share no code but `shared/`. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printErrorLine } from '../../../shared/process/output/terminal-output.js';
import { agentNodeFlags } from '../../../shared/process/service/child-program.js';

const AGENT_PROGRAM = fileURLToPath(new URL('../../../agent/everynode-agent.cjs', import.meta.url));

function nodeArguments(args: readonly string[]): string[] {
  return [...agentNodeFlags(args), AGENT_PROGRAM, ...args];
}

/** Runs an agent command in the foreground. Throws `ExitError` with its exit code if it fails. */
export function runAgentCommand(args: readonly string[]): void {
  const done = spawnSync(process.execPath, nodeArguments(args), {
    stdio: 'inherit',
  });
  if (done.error)
    throw new ExitError(EXIT_CODES.environment, `Cannot start the agent: ${done.error.message}.`);
  // The agent has printed the error.
  if (done.status !== 0) throw new ExitError((done.status ?? 1) as 1, '');
}

/**
 * Runs an agent command until it ends. It gets the signals of this process, and it ends when this process ends, even by
 * SIGKILL.
 */
export async function runAgentUntilStopped(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, nodeArguments(args), {
    // No message is sent over the IPC channel. The child detects its end.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  // A terminal sends Ctrl-C to both processes. The agent treats two signals at the same time as one.
  const forwardSignal = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', forwardSignal).on('SIGTERM', forwardSignal);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) =>
      reject(new ExitError(EXIT_CODES.environment, `Cannot start the agent: ${error.message}.`)),
    );
    child.on('exit', resolve);
  });
  if (code !== 0) throw new ExitError((code ?? 1) as 1, '');
}

export interface AgentProcess {
  /** Resolves with the exit code when the agent has ended or was stopped. */
  readonly ended: Promise<number | string>;
  /** Sends SIGTERM and resolves when the agent has ended. Its containers keep running. */
  stop(): Promise<void>;
}

/** Enough for the last error. */
const MOST_ERROR_TEXT = 2_000;

/** Pause before a killed agent is restarted. */
const RESTART_MS = 1_000;

/**
 * Runs an agent and restarts it if it is killed. The agent shares this process's stderr and ends with it, even by
 * SIGKILL. The token is passed in the environment, because every user of a host can read the arguments of a process.
 */
export function startAgent(args: readonly string[], token: string): AgentProcess {
  let child: ChildProcess;
  let stopping = false;
  const ended = new Promise<number | string>((resolve, reject) => {
    const start = (): void => {
      child = spawnAgent(args, token)
        .on('error', reject)
        .on('exit', (code, signal) => {
          if (stopping || signal === null) return resolve(code ?? signal ?? 1);
          printErrorLine(`The agent was killed by ${signal} and is started again.`);
          setTimeout(() => (stopping ? resolve(signal) : start()), RESTART_MS);
        });
    };
    start();
  });
  return {
    ended,
    stop: async () => {
      stopping = true;
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function spawnAgent(args: readonly string[], token: string): ChildProcess {
  return spawn(process.execPath, nodeArguments([...args, '--end-with-input']), {
    // Nothing is written to its input. The end of the input tells the agent that this process has ended.
    stdio: ['pipe', 'inherit', 'inherit'],
    // Only this process handles Ctrl-C. It stops the agent itself.
    detached: true,
    env: { ...process.env, EVERYNODE_TOKEN: token },
  });
}

export interface Simulation {
  /** Resolves with the exit code when the simulation has ended or was stopped. */
  readonly ended: Promise<number | string>;
  /** Sends a command of the simulation, such as `offline node-3`. */
  command(line: string): void;
  stop(): Promise<void>;
}

/** Runs `simulate` until `stop`. It ends with this process, even by SIGKILL. Its progress is discarded. */
export function startSimulation(args: readonly string[], token: string): Simulation {
  const child = spawn(process.execPath, nodeArguments(['simulate', ...args]), {
    // The child detects the end of the IPC channel.
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    // Only this process handles Ctrl-C.
    detached: true,
    env: { ...process.env, EVERYNODE_TOKEN: token },
  });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-MOST_ERROR_TEXT);
  });
  child.stdin?.on('error', () => child.stdin?.destroy());
  const ended = new Promise<number | string>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code === 0 ? 0 : errors.trim() || (signal ?? code ?? 1)));
  });
  return {
    ended,
    command: (line) => void child.stdin?.write(`${line}\n`),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
