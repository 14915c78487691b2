/**
 * A real kubectl for tests: $KUBECTL, else a kubectl of 1.34 or newer on the PATH, else a pinned one. Each run has its
 * own home directory, because kubectl caches by host:port.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientBinary } from './client-binaries.js';

const PINNED = 'kubectl-1.35.2';
const LEAST_MINOR = 34;
const RUN_TIMEOUT_MS = 150_000;

/** Returns the minor version of a kubectl binary, or undefined if it does not run. */
export function kubectlMinor(path: string): number | undefined {
  try {
    const text = execFileSync(path, ['version', '--client', '-o', 'json'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { clientVersion }: { clientVersion?: { gitVersion?: string } } = JSON.parse(text.toString());
    const minor = /^v1\.(\d+)\./.exec(clientVersion?.gitVersion ?? '')?.[1];
    return minor === undefined ? undefined : Number(minor);
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

let found: string | undefined;

/** Returns the path of a kubectl. Throws an Error that states why there is none. */
export function findKubectl(): string {
  const named = process.env.KUBECTL;
  if (named) return named;
  if (!found) found = (kubectlMinor('kubectl') ?? 0) >= LEAST_MINOR ? 'kubectl' : clientBinary(PINNED);
  return found;
}

/** Returns the reason why there is no kubectl, or undefined. */
export function whyNoKubectl(): string | undefined {
  try {
    findKubectl();
    return undefined;
  } catch (error) {
    return `no kubectl: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
  }
}

interface KubectlResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Kubectl {
  readonly binary: string;
  readonly minor: number;
  /** Directory for this client's home, kubeconfig and manifests. */
  readonly home: string;
  /** Runs to the end, whatever the exit code. `input` is the standard input. */
  run(args: readonly string[], input?: string): Promise<KubectlResult>;
  /** Runs a space-separated command and returns stdout without the last line break. Throws if it fails. */
  ok(command: string, input?: string): Promise<string>;
  /** Starts a command that keeps running, for example a watch. */
  start(command: string): RunningKubectl;
  remove(): void;
}

interface RunningKubectl {
  /** The output so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves with the exit code, or with null if it was stopped. */
  readonly ended: Promise<number | null>;
  stop(): void;
}

/** Returns a client of one server. `more` is added to its environment. */
export function createKubectl(
  kubeconfig: string,
  binary: string = findKubectl(),
  more: Record<string, string> = {},
): Kubectl {
  const home = mkdtempSync(join(tmpdir(), 'everynode-kubectl-'));
  const config = join(home, 'kubeconfig');
  writeFileSync(config, kubeconfig, { mode: 0o600 });
  const env = { PATH: process.env.PATH ?? '', HOME: home, KUBECONFIG: config, TERM: 'dumb', ...more };
  const run = (args: readonly string[], input = '') =>
    new Promise<KubectlResult>((resolve) => {
      const child = execFile(
        binary,
        [...args],
        { cwd: home, env, timeout: RUN_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => {
          const code = error ? (typeof error.code === 'number' ? error.code : 1) : 0;
          resolve({ code, stdout, stderr });
        },
      );
      // kubectl may exit before it has read its input.
      child.stdin?.on('error', () => child.stdin?.destroy());
      child.stdin?.end(input);
    });
  const ok = async (command: string, input?: string) => {
    const { code, stdout, stderr } = await run(command.split(' '), input);
    if (code !== 0) throw new Error(`kubectl ${command}: exit ${code}: ${stderr}${stdout}`);
    return stdout.trimEnd();
  };
  return {
    binary,
    minor: kubectlMinor(binary) ?? 0,
    home,
    run,
    ok,
    start: (command) => startKubectl(binary, command, home, env),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

function startKubectl(
  binary: string,
  command: string,
  cwd: string,
  env: Record<string, string>,
): RunningKubectl {
  const child = spawn(binary, command.split(' '), { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  return {
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    ended,
    stop: () => void child.kill(),
  };
}
