/** The coordinator and the agent as processes, started like a user starts them and stopped by process id. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../basics/wait-until.js';
import { AMPLE_HOST } from '../pods/ample-host.js';

const DIST = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
/** Long enough for a busy machine. An early exit is noticed at once. */
const START_TIMEOUT_MS = 120_000;

/** A running program. */
export interface RunningProgram {
  readonly pid: number;
  readonly running: boolean;
  /** Exit code, or the signal that ended it. Undefined while it runs. */
  readonly exitStatus: number | NodeJS.Signals | undefined;
  /** Resolves when the process has exited. */
  readonly ended: Promise<void>;
  /** Sends the signal and resolves when the process has exited. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Starts a compiled program with its output in `logFile`. Its host has no resource pressure unless `environment`
 * changes that. `enter` is a command that replaces itself by the program, such as `nsenter` with its arguments.
 */
export function startProgram(
  module: string,
  args: readonly string[],
  logFile: string,
  environment: Readonly<Record<string, string>> = {},
  enter: readonly string[] = [],
): RunningProgram {
  // A file instead of a pipe, because the program's children may outlive it and this process.
  const log = openSync(logFile, 'a');
  const [command = process.execPath, ...words] = [...enter, process.execPath, join(DIST, module), ...args];
  const child: ChildProcess = spawn(command, words, {
    stdio: ['ignore', log, log],
    env: { ...process.env, ...AMPLE_HOST, ...environment },
  });
  closeSync(log);
  const ended = new Promise<void>((done) => child.on('exit', () => done()));
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    ended,
    get running() {
      return isRunning();
    },
    get exitStatus() {
      return child.exitCode ?? child.signalCode ?? undefined;
    },
    end: async (signal) => {
      if (isRunning()) child.kill(signal);
      await ended;
    },
  };
}

/** A coordinator with its data in `dataDir`. */
export interface CoordinatorProcess extends RunningProgram {
  /** Text of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly kubeconfigPath: string;
}

/** Starts `everynode coordinator` on a free port of loopback and waits for its kubeconfig. */
export async function startCoordinatorProcess(
  dataDir: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<CoordinatorProcess> {
  const kubeconfigPath = join(dataDir, 'kubeconfig');
  const logFile = `${dataDir}-coordinator.log`;
  const program = startProgram(
    'coordinator/cli/everynode.js',
    ['coordinator', '--data', dataDir, '--host', '127.0.0.1', '--port', '0', ...args],
    logFile,
    environment,
  );
  const pidFile = join(dataDir, 'coordinator.pid');
  await until(
    () => {
      if (!program.running) throw new Error(`the coordinator ended: ${readFileSync(logFile, 'utf8')}`);
      return existsSync(pidFile) && readFileSync(pidFile, 'utf8').trim() === String(program.pid);
    },
    { timeoutMs: START_TIMEOUT_MS, what: 'the coordinator to serve' },
  );
  return Object.assign(program, { kubeconfigPath, kubeconfig: readFileSync(kubeconfigPath, 'utf8') });
}

export interface AgentProcessOptions {
  node: string;
  server: string;
  token: string;
  dataDir: string;
  runtime?: string;
  labels?: string;
  taints?: string;
  args?: readonly string[];
  /** Variables in addition to this process's own. */
  environment?: Readonly<Record<string, string>>;
  /** See `startProgram`. */
  enter?: readonly string[];
}

/** Starts `everynode agent`. The same `dataDir` is the same host. */
export function startAgentProcess(wish: AgentProcessOptions): RunningProgram {
  const args = ['--server', wish.server, '--data', wish.dataDir];
  args.push('--node-name', wish.node, '--runtime', wish.runtime ?? 'hollow');
  if (wish.labels) args.push('--labels', wish.labels);
  if (wish.taints) args.push('--taints', wish.taints);
  args.push(...(wish.args ?? []));
  const environment = { ...wish.environment, EVERYNODE_TOKEN: wish.token };
  const logFile = `${wish.dataDir}-agent.log`;
  return startProgram('agent/everynode-agent.cjs', args, logFile, environment, wish.enter);
}

/** Runs one command of `everynode` to its end. */
export function runEverynode(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = join(DIST, 'coordinator/cli/everynode.js');
  const options = { env: { ...process.env, ...environment }, timeout: START_TIMEOUT_MS };
  return new Promise((done) => {
    const child = execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : 1) : 0;
      done({ code, stdout, stderr });
    });
    child.stdin?.end();
  });
}

/** Returns the processes with this word in their arguments. */
export function processesNaming(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid).includes(word))
    .map(Number);
}

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    // The process exited after it was listed.
    return [];
  }
}
