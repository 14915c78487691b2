/** The other program, `everynode-agent`, as a process of this one. The two never share code but `shared/`. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printErrorLine } from '../../../shared/process/output/terminal-output.js';
import { SMALL_HEAP_FLAGS } from '../../../shared/process/service/small-heap.js';

const AGENT_PROGRAM = fileURLToPath(new URL('../../../agent/everynode-agent.cjs', import.meta.url));

/** Runs an agent command in the foreground and ends as it ends. Throws `ExitError` with its code when it failed. */
export function runAgentCommand(args: readonly string[]): void {
  const done = spawnSync(process.execPath, [...SMALL_HEAP_FLAGS, AGENT_PROGRAM, ...args], {
    stdio: 'inherit',
  });
  if (done.error)
    throw new ExitError(EXIT_CODES.environment, `Cannot start the agent: ${done.error.message}.`);
  // What went wrong has been said by the agent itself.
  if (done.status !== 0) throw new ExitError((done.status ?? 1) as 1, '');
}

/**
 * The same for a command that runs until it is told to end. It is told whatever this process is told, and that this
 * process is gone, even when it is killed.
 */
export async function runAgentUntilStopped(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [...SMALL_HEAP_FLAGS, AGENT_PROGRAM, ...args], {
    // Nothing is said on the channel: its end is the message.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  // A terminal sends both a Ctrl-C; the agent takes two at once for one.
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

/** A running agent. */
export interface AgentProcess {
  /** Resolves with the exit code when it has ended by itself, or was stopped. */
  readonly ended: Promise<number | string>;
  /** SIGTERM, and waits for the end. The agent leaves its containers running. */
  stop(): Promise<void>;
}

/** An agent that was killed is started again after so long, ms. */
const RESTART_MS = 1_000;

/**
 * Keeps an agent running that shares this process's stderr and ends with it, even when it is killed.
 * The token goes by environment: arguments are public on a host.
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
          printErrorLine(`The agent was ended by ${signal}; it is started again.`);
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
  return spawn(process.execPath, [...SMALL_HEAP_FLAGS, AGENT_PROGRAM, ...args, '--end-with-input'], {
    // Nothing is ever written to its input: its end tells the agent that this process has gone.
    stdio: ['pipe', 'inherit', 'inherit'],
    // A Ctrl-C is for this process to handle: it stops the agent when the time has come.
    detached: true,
    env: { ...process.env, EVERYNODE_TOKEN: token },
  });
}
