/** `everynode simulate` with several processes: controlled by a script, ended by Ctrl-C or SIGKILL. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { apiClientFromKubeconfig } from '../../coordinator/cli/client/api-client.js';
import { createToken } from '../../coordinator/cli/commands/token-command.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../shared/kube/objects/conditions.js';
import { EXIT_CODES } from '../../shared/process/exit-error.js';
import { CoordinatorApi } from '../harness/api/coordinator-api.js';
import { until } from '../harness/basics/wait-until.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../harness/processes/everynode-processes.js';
import { applyEverywhere, conditionOf, numberReady } from '../harness/simulated/simulated-actions.js';

const EVERYNODE = fileURLToPath(new URL('../../coordinator/cli/everynode.js', import.meta.url));
const NODES = 30;
const PROCESSES = 3;
const TIMEOUT_MS = 60_000;

const scratch = mkdtempSync(join(tmpdir(), 'everynode-test-'));
let coordinator: CoordinatorProcess;
let api: CoordinatorApi;
let token: string;
let simulation: ChildProcess;
let output: string;
/** The only folder that the simulation may use. */
let home: string;

before(async () => {
  coordinator = await startCoordinatorProcess(join(scratch, 'coordinator'));
  api = new CoordinatorApi(coordinator.kubeconfig);
  const client = apiClientFromKubeconfig(coordinator.kubeconfigPath);
  token = (await createToken(client, { ttlSeconds: 0, description: '', reusable: true, anyLabels: true }))
    .text;
});

afterEach(() => {
  killFamily(simulation.pid ?? 0);
});

after(async () => {
  api.close();
  await coordinator.end('SIGTERM');
  rmSync(scratch, { recursive: true, force: true });
});

/** Starts the simulation in its own process group, like a terminal. Resolves when all its nodes are connected. */
async function simulate(name: string, ...more: string[]): Promise<void> {
  home = join(scratch, name);
  mkdirSync(home);
  const server = apiClientFromKubeconfig(coordinator.kubeconfigPath).server;
  const flags = ['--server', server, ...withToken(token), '--name', name];
  flags.push('--nodes', String(NODES), '--processes', String(PROCESSES), ...more);
  simulation = spawn(process.execPath, [EVERYNODE, 'simulate', ...flags], {
    ...{ detached: true, cwd: home, stdio: ['pipe', 'pipe', 'pipe'] },
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: home },
  });
  output = '';
  for (const stream of [simulation.stdout, simulation.stderr]) {
    stream?.on('data', (bytes: Buffer) => {
      output += bytes;
    });
  }
  const areConnected = async () => {
    if (simulation.exitCode !== null) throw new Error(`the simulation exited: ${output}`);
    return (await connected(name)) === NODES;
  };
  await until(areConnected, { timeoutMs: TIMEOUT_MS, what: `${NODES} nodes to be connected` });
}

/** Flags with the path of a token file, so that no argument contains the token. */
function withToken(text: string): string[] {
  const file = join(scratch, `token-${text}`);
  writeFileSync(file, `${text}\n`, { mode: 0o600 });
  return ['--token-file', file];
}

async function connected(name: string): Promise<number> {
  const { items } = await api.items<Node>(
    `/api/v1/nodes?labelSelector=simulate.everynode.dev%2Ffleet%3D${name}`,
  );
  return items.filter(({ status }) => isConditionTrue(status?.conditions, 'Connected')).length;
}

/** The process and all its descendants that run; [] if the process has exited. */
function familyOf(pid: number): number[] {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const children = tasks.flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' '),
    );
    return [pid, ...children.filter((child) => child !== '').flatMap((child) => familyOf(Number(child)))];
  } catch {
    return [];
  }
}

/** Descendants exit by themselves once the process is killed, possibly before the loop reaches them. */
function killFamily(pid: number): void {
  for (const each of familyOf(pid)) {
    try {
      process.kill(each, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

function untilGone(pids: readonly number[]): Promise<void> {
  const areGone = () => pids.every((pid) => familyOf(pid).length === 0);
  return until(areGone, { timeoutMs: TIMEOUT_MS, what: 'all processes of the simulation to end' });
}

test('simulate spreads hosts over several processes, and commands reach the right hosts', async () => {
  const script = join(scratch, 'script');
  writeFileSync(
    script,
    `# waits until all are there\nwait 1ms\ncondition DiskPressure=True shared-${NODES}\n`,
  );
  await simulate('shared', '--script', script);
  const holders = familyOf(simulation.pid ?? 0).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('fleet-worker'),
  );
  assert.equal(holders.length, PROCESSES);
  await applyEverywhere({ api }, 'everywhere');
  const areReady = async () => (await numberReady({ api }, 'everywhere')) === NODES;
  await until(areReady, { timeoutMs: TIMEOUT_MS, what: 'a Pod on each host' });
  const isPressed = (node: string) => async () =>
    (await conditionOf({ api }, node, 'DiskPressure')) === 'True';
  await until(isPressed(`shared-${NODES}`), { timeoutMs: TIMEOUT_MS, what: 'the script to be obeyed' });
  simulation.stdin?.write('condition DiskPressure=True shared-1,shared-15\n');
  await until(isPressed('shared-1'), { timeoutMs: TIMEOUT_MS, what: 'a host of the first process' });
  await until(isPressed('shared-15'), { timeoutMs: TIMEOUT_MS, what: 'a host of another' });
  await until(() => output.includes('shared-1,shared-15: 2 nodes'), {
    timeoutMs: TIMEOUT_MS,
    what: 'the answer',
  });
});

test('Ctrl-C ends all processes of simulate and leaves no file, and the nodes remain', async () => {
  await simulate('ended');
  const family = familyOf(simulation.pid ?? 0);
  const ended = once(simulation, 'exit');
  // A terminal sends the signal to the whole process group.
  process.kill(-(simulation.pid ?? 0), 'SIGINT');
  assert.deepEqual(await ended, [0, null], output);
  await untilGone(family);
  assert.deepEqual(readdirSync(home), []);
  assert.match(output, /kubectl delete nodes -l simulate.everynode.dev\/fleet=ended/);
  await until(async () => (await connected('ended')) === 0, {
    timeoutMs: TIMEOUT_MS,
    what: 'all links to end',
  });
});

test('simulate ends all processes when its first one is killed', async () => {
  await simulate('killed');
  const family = familyOf(simulation.pid ?? 0);
  assert.ok(family.length > PROCESSES + 1);
  process.kill(simulation.pid ?? 0, 'SIGKILL');
  await untilGone(family);
  assert.deepEqual(readdirSync(home), []);
});

/** Runs `everynode` until it exits. Returns its exit code and stderr. */
async function ended(...words: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [EVERYNODE, ...words], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: scratch },
  });
  let text = '';
  child.stderr.on('data', (bytes: Buffer) => {
    text += bytes;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: text };
}

test('a wrong use of simulate prints one sentence with the right exit code, and no stack trace', async () => {
  const { server } = apiClientFromKubeconfig(coordinator.kubeconfigPath);
  const script = join(scratch, 'wrong-script');
  writeFileSync(script, 'offline *\nfrob\n');
  const otherToken = token.replace(/\.[^.]*\./, '.0000000000000000.');
  const to = ['--server', server];
  const cases: [flags: string[], code: number, output: RegExp][] = [
    [[], EXIT_CODES.usage, /^No coordinator given/],
    [to, EXIT_CODES.usage, /^No join token given/],
    [[...to, ...withToken(token), '--nodes', '/none.yaml'], EXIT_CODES.usage, /^--nodes: .*ENOENT/],
    [
      [...to, ...withToken(token), '--script', script],
      EXIT_CODES.usage,
      /^--script: .*line 2: unknown command "frob"/,
    ],
    // On a busy machine a line with the progress comes first.
    [[...to, ...withToken('x')], EXIT_CODES.refused, /^The token is not of the form/m],
    [[...to, ...withToken(otherToken), '--nodes', '1'], EXIT_CODES.refused, /refused to let this host join/],
  ];
  for (const [flags, code, output] of cases) {
    const result = await ended('simulate', ...flags);
    assert.match(result.output, output);
    assert.doesNotMatch(result.output, /\n {4}at /);
    assert.equal(result.code, code, result.output);
  }
});

/** Starts a simulation. Resolves when its output matches `words`. */
async function untilPrinted(words: RegExp, ...flags: string[]): Promise<void> {
  simulation = spawn(process.execPath, [EVERYNODE, 'simulate', ...flags], {
    ...{ detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
    env: { PATH: process.env.PATH, HOME: scratch },
  });
  output = '';
  simulation.stderr?.on('data', (bytes: Buffer) => {
    output += bytes;
  });
  await until(() => words.test(output), { timeoutMs: TIMEOUT_MS, what: `output to match ${words}` });
}

/**
 * Starts a simulation with a host that the coordinator rejects. Resolves when the output has the reason and the count.
 */
async function untilRejected(reason: string, ...flags: string[]): Promise<void> {
  const { server } = apiClientFromKubeconfig(coordinator.kubeconfigPath);
  const words = new RegExp(`${reason}[^]*0/1 nodes connected \\(1 refused\\)`);
  await untilPrinted(words, '--server', server, ...withToken(token), ...flags);
}

test('simulate reports a rejected host with the reason and counts it', async () => {
  const nodes = join(scratch, 'refused.yaml');
  writeFileSync(nodes, 'kind: Node\nmetadata: {name: refused, labels: {"bad key!": x}}\n');
  await untilRejected('refused was rejected: refused: .*bad key!', '--nodes', nodes);
});

test('a second simulation of the same hosts fails because they are connected', async () => {
  await simulate('twice');
  const first = simulation;
  try {
    await untilRejected('twice-1 was rejected: duplicate: ', '--name', 'twice', '--nodes', '1');
  } finally {
    killFamily(first.pid ?? 0);
  }
});

test('node names stay bound to their token until they are revoked and their Nodes deleted', async () => {
  const client = apiClientFromKubeconfig(coordinator.kubeconfigPath);
  await simulate('kept');
  killFamily(simulation.pid ?? 0);
  const one = ['--server', client.server, '--nodes', '1', '--name', 'kept'];
  const other = await createToken(client, { ttlSeconds: 0, description: '', reusable: true });
  const refused = await ended('simulate', ...one, ...withToken(other.text));
  assert.match(refused.output, /node "kept-1" has already joined/);
  assert.equal(refused.code, EXIT_CODES.refused);
  const data = ['--data', join(scratch, 'coordinator')];
  const revoked = await ended('node', 'revoke', 'kept-0', 'kept-1', ...data);
  assert.equal(revoked.output, 'There is no joined host kept-0.\n');
  // Delete the node's Pods too. A remaining Pod would block the name until the garbage collector removes it, 40 s after
  // its Node.
  const options = 'gracePeriodSeconds=0&fieldSelector=spec.nodeName%3Dkept-1';
  await client.request('DELETE', '/apis/apps/v1/namespaces/default/daemonsets/everywhere');
  await client.request('DELETE', `/api/v1/namespaces/default/pods?${options}`);
  await client.request('DELETE', '/api/v1/nodes/kept-1');
  await untilPrinted(/^1\/1 nodes connected/m, ...one, ...withToken(other.text));
});
