/**
 * A host that boots in 1970, whose time is set back a year while it runs, or that starts a year ahead; and a
 * coordinator that is initialised in 1970. Nothing may depend on their clocks.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { fakeTimeLibrary } from '../../chaos/libfaketime-clock.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { pause, until, untilPasses } from '../../harness/basics/wait-until.js';
import {
  type RunningProgram,
  runEverynode,
  startAgentProcess,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

const PATIENCE_MS = 60_000;
const YEAR_S = 365 * 86_400;
const PODS = '/api/v1/namespaces/default/pods';
/** Longer than libfaketime caches the time that it has read. */
const HEARD_MS = 2_000;
/** The hub derives times from messages, and a busy machine sends them late. */
const NEAR_MS = 60_000;

function endOfCertificate(identityFile: string): number {
  const { certificate } = JSON.parse(readFileSync(identityFile, 'utf8')) as { certificate: string };
  return Date.parse(new X509Certificate(certificate).validTo);
}

/** Environment of a program with a clock that is wrong by the offset in the file. */
function clockOf(library: string, file: string): Record<string, string> {
  return {
    ...{ LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_CACHE_DURATION: '1' },
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

/** A folder and programs that are removed at the end of the test. */
function openBench(context: TestContext): { folder: string; running: RunningProgram[] } {
  const running: RunningProgram[] = [];
  context.after(async () => {
    for (const program of running.reverse()) await program.end('SIGKILL');
  });
  return { folder: temporaryDirectory(), running };
}

test("a host with a wrong clock runs its Pods, uses the coordinator's time, and reports its clock", async (context) => {
  const library = fakeTimeLibrary();
  if (!library) return leaveOut(context, 'wrong clocks', 'needs faketime (see .ci/packages)');
  const { folder, running } = openBench(context);
  const clock = join(folder, 'clock');
  const set = (seconds: number) => writeFileSync(clock, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  set(60 - Math.floor(Date.now() / 1_000));
  const coordinator = await startCoordinatorProcess(join(folder, 'coordinator'));
  running.push(coordinator);
  const api = apiClientFromKubeconfig(coordinator.kubeconfigPath);
  const { text: token } = await createToken(api, { ttlSeconds: 0, description: 'clock', reusable: true });
  const environment = clockOf(library, clock);
  const dataDir = join(folder, 'host');
  const start = () => startAgentProcess({ node: 'n1', server: api.server, token, dataDir, environment });
  const agent = start();
  running.push(agent);
  const startedAt = async (name: string): Promise<string | undefined> => {
    const { status } = await api.request<Pod>('GET', `${PODS}/${name}`);
    return status?.containerStatuses?.[0]?.state?.running?.startedAt ?? undefined;
  };
  const run = async (name: string): Promise<string> => {
    const spec = { nodeName: 'n1', containers: [{ name: 'main', image: 'app:1' }] };
    await api.request('POST', PODS, { metadata: { name }, spec });
    await until(async () => (await startedAt(name)) !== undefined, { timeoutMs: PATIENCE_MS, what: name });
    const told = (await startedAt(name)) ?? '';
    assert.ok(Math.abs(Date.parse(told) - Date.now()) < NEAR_MS, `${name} started at ${told}`);
    return told;
  };
  // Wait for the Node: a Pod that is bound to an unknown node is never sent to a host of that name.
  await untilPasses(async () => void (await api.request<Node>('GET', '/api/v1/nodes/n1')));
  const first = await run('first');
  const { status } = await api.request<Node>('GET', '/api/v1/nodes/n1');
  const skew = findCondition(status?.conditions, 'ClockSkewed');
  assert.match(`${skew?.status} ${skew?.message}`, /^True The host's clock is \d\d years behind/);

  set(-YEAR_S);
  await pause(HEARD_MS);
  await run('second');
  assert.equal(await startedAt('first'), first);
  const isTold = async (words: RegExp) => {
    const node = await api.request<Node>('GET', '/api/v1/nodes/n1');
    return words.test(findCondition(node.status?.conditions, 'ClockSkewed')?.message ?? '');
  };
  // The second report states the clock's current offset.
  await until(() => isTold(/365 days behind/), { timeoutMs: PATIENCE_MS, what: 'the skew' });

  await agent.end('SIGKILL');
  // By this clock, both the host's certificate and the coordinator's have expired.
  set(YEAR_S);
  running.push(start());
  await run('third');
  await until(() => isTold(/365 days ahead/), { timeoutMs: PATIENCE_MS, what: 'the other skew' });
});

test('a coordinator initialised in 1970 admits users, hosts and new hosts after its clock is corrected', async (context) => {
  const library = fakeTimeLibrary();
  if (!library) return leaveOut(context, 'wrong clocks', 'needs faketime (see .ci/packages)');
  const { folder, running } = openBench(context);
  const dataDir = join(folder, 'coordinator');
  const clock = join(folder, 'clock');
  writeFileSync(clock, `${60 - Math.floor(Date.now() / 1_000)}\n`);
  const wrong = await startCoordinatorProcess(dataDir, [], clockOf(library, clock));
  running.push(wrong);
  const { server } = apiClientFromKubeconfig(wrong.kubeconfigPath);
  const made = await runEverynode(
    ['token', 'create', '--data', dataDir, '--reusable', '--ttl', '0'],
    clockOf(library, clock),
  );
  const [token = ''] = /[a-z0-9]{6}\.[a-z0-9]{16}\.[0-9a-f]{64}/.exec(made.stdout) ?? [];
  assert.ok(token, made.stderr);
  const start = (node: string) => {
    const program = startAgentProcess({ node, server, token, dataDir: join(folder, node) });
    running.push(program);
    return program;
  };
  const early = start('early');
  const identity = join(folder, 'early', 'identity.json');
  const hasJoined = () => existsSync(identity) && readFileSync(identity, 'utf8').includes('clusterUID');
  await until(hasJoined, { timeoutMs: PATIENCE_MS, what: 'the join' });
  await early.end('SIGKILL');
  await wrong.end('SIGTERM');

  const right = await startCoordinatorProcess(dataDir, ['--port', new URL(server).port]);
  running.push(right);
  start('early');
  start('late');
  // The certificate of 1970 has expired: the host renewed it without an approval.
  await until(() => endOfCertificate(identity) > Date.now(), {
    timeoutMs: PATIENCE_MS,
    what: 'a certificate',
  });
  // Uses the rewritten kubeconfig and a correct clock to verify the coordinator's certificate.
  const api = apiClientFromKubeconfig(right.kubeconfigPath);
  const isConnected = async (node: string) => {
    const { items } = await api.request<{ items: Node[] }>('GET', '/api/v1/nodes');
    const { status } = items.find(({ metadata }) => metadata.name === node) ?? {};
    return findCondition(status?.conditions, 'Connected')?.status === 'True';
  };
  for (const node of ['early', 'late'])
    await until(() => isConnected(node), { timeoutMs: PATIENCE_MS, what: node });
});
