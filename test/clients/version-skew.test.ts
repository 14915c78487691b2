/**
 * An agent of an earlier commit with the current coordinator: it is built from its commit, joins, runs a Pod, and
 * restarts.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build } from 'esbuild';
import { apiClientFromKubeconfig } from '../../coordinator/cli/client/api-client.js';
import { createToken } from '../../coordinator/cli/commands/token-command.js';
import { CoordinatorApi } from '../harness/api/coordinator-api.js';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { until } from '../harness/basics/wait-until.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../harness/processes/everynode-processes.js';
import { applyEverywhere, conditionOf, numberReady } from '../harness/simulated/simulated-actions.js';

/** An early commit. Its agents already use certificates. */
const EARLIER_COMMIT = 'c1b2559';
const TIMEOUT_MS = 60_000;

const scratch = mkdtempSync(join(tmpdir(), 'everynode-skew-'));
/** Same depth as the earlier agent's modules: the agent searches the parent folders for its package.json. */
const BUNDLE = join(scratch, 'then/dist/agent/bundle/agent.mjs');
let coordinator: CoordinatorProcess;
let api: CoordinatorApi;
let agent: ChildProcess | undefined;
/** Reason why the earlier agent could not be built; undefined if it was built. */
let why: string | undefined;

before(async () => {
  why = await buildAgentOfThen();
  if (why !== undefined) return;
  coordinator = await startCoordinatorProcess(join(scratch, 'coordinator'));
  api = new CoordinatorApi(coordinator.kubeconfig);
});

after(async () => {
  await stopAgent();
  if (why === undefined) {
    api.close();
    await coordinator.end('SIGTERM');
  }
  rmSync(scratch, { recursive: true, force: true });
});

async function buildAgentOfThen(): Promise<string | undefined> {
  const source = join(scratch, 'then');
  mkdirSync(source);
  try {
    const archive = execFileSync('git', ['archive', EARLIER_COMMIT, 'agent', 'shared', 'package.json'], {
      maxBuffer: 2 ** 26,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    execFileSync('tar', ['-x', '-C', source], { input: archive });
  } catch {
    return `the history of this clone lacks ${EARLIER_COMMIT}`;
  }
  await build({
    entryPoints: [join(source, 'agent/program/agent-cli.ts')],
    outfile: BUNDLE,
    bundle: true,
    platform: 'node',
    format: 'esm',
    nodePaths: [join(process.cwd(), 'node_modules')],
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    logLevel: 'error',
  });
  return undefined;
}

async function startAgent(): Promise<void> {
  const client = apiClientFromKubeconfig(coordinator.kubeconfigPath);
  const token = await createToken(client, { ttlSeconds: 600, description: '' });
  const flags = ['--server', client.server, '--token', token.text, '--data', join(scratch, 'agent')];
  agent = spawn(process.execPath, [BUNDLE, ...flags, '--runtime', 'hollow', '--node-name', 'veteran'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  // The Node does not exist before the agent's first hello.
  const isReady = async () => {
    if (agent?.exitCode !== null) throw new Error(`the agent ended with ${agent?.exitCode}`);
    return (await conditionOf({ api }, 'veteran', 'Ready').catch(() => undefined)) === 'True';
  };
  await until(isReady, { timeoutMs: TIMEOUT_MS, what: 'the host to be Ready' });
}

async function stopAgent(): Promise<void> {
  if (agent?.exitCode !== null) return;
  const ended = once(agent, 'exit');
  agent.kill('SIGTERM');
  await ended;
}

test('an agent of an earlier commit joins, runs a Pod, and is recognised after its restart', async (context) => {
  if (why !== undefined) return leaveOut(context, 'an agent of the last release', why);
  await startAgent();
  await applyEverywhere({ api }, 'everywhere');
  const isThere = async () => (await numberReady({ api }, 'everywhere')) === 1;
  await until(isThere, { timeoutMs: TIMEOUT_MS, what: 'its Pod' });
  await stopAgent();
  const isGone = async () => (await conditionOf({ api }, 'veteran', 'Connected')) === 'False';
  await until(isGone, { timeoutMs: TIMEOUT_MS, what: 'the host to be shown as gone' });
  await startAgent();
  const isBack = async () => (await conditionOf({ api }, 'veteran', 'Connected')) === 'True';
  await until(isBack, { timeoutMs: TIMEOUT_MS, what: 'the host to be back' });
  assert.equal(await numberReady({ api }, 'everywhere'), 1);
});
