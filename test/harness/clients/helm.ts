/** A real Helm for tests, with a home directory of its own. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const RUN_TIMEOUT_MS = 120_000;

interface HelmResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Helm {
  /** Directory for this client's home, kubeconfig and charts. */
  readonly home: string;
  /** Runs a space-separated command, whatever its exit code. */
  run(command: string): Promise<HelmResult>;
  /** Returns stdout. Throws if the command fails. */
  ok(command: string): Promise<string>;
  remove(): void;
}

/** Returns a client of one server, in the namespace `default`. */
export function createHelm(kubeconfig: string, binary: string): Helm {
  const home = mkdtempSync(join(tmpdir(), 'everynode-helm-'));
  const config = join(home, 'kubeconfig');
  writeFileSync(config, kubeconfig, { mode: 0o600 });
  const env = { PATH: process.env.PATH ?? '', HOME: home, KUBECONFIG: config };
  const run = (command: string) =>
    new Promise<HelmResult>((resolve) => {
      const options = { cwd: home, env, timeout: RUN_TIMEOUT_MS };
      execFile(binary, command.split(' '), options, (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : 1) : 0;
        resolve({ code, stdout, stderr });
      });
    });
  const ok = async (command: string) => {
    const { code, stdout, stderr } = await run(command);
    if (code !== 0) throw new Error(`helm ${command}: exit ${code}: ${stderr}${stdout}`);
    return stdout;
  };
  return { home, run, ok, remove: () => rmSync(home, { recursive: true, force: true }) };
}
