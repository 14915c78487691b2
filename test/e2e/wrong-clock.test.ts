/** A host that believes in 1970 as it boots, and whose time is set back a year while it runs: nothing depends on either. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { apiClientFromKubeconfig } from '../../coordinator/cli/api-client.js';
import { createToken } from '../../coordinator/cli/token.js';
import { findCondition } from '../../shared/kube/conditions.js';
import type { Node } from '../../shared/kube/node.js';
import type { Pod } from '../../shared/kube/pod.js';
import { leaveOut } from '../harness/leave-out.js';
import { type RunningProgram, startAgentProcess, startCoordinatorProcess } from '../harness/processes.js';
import { pause, until } from '../harness/until.js';

const PATIENCE_MS = 60_000;
const PODS = '/api/v1/namespaces/default/pods';
/** Longer than libfaketime goes on with the time that it has read. */
const HEARD_MS = 2_000;
/** The hub learns times by messages, and a busy machine takes a while to send them. */
const NEAR_MS = 60_000;

/** Debian's libfaketime, for a program's wall clock; undefined where it is not installed. */
function fakeTimeLibrary(): string | undefined {
  const paths = readdirSync('/usr/lib').map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`);
  return paths.find((path) => existsSync(path));
}

test('a host in 1970, set back a year: its Pods run, their times are the coordinator’s, its clock is told', async (context) => {
  const library = fakeTimeLibrary();
  if (!library) return leaveOut(context, 'wrong clocks', 'needs faketime (see .ci/packages)');
  const folder = mkdtempSync(join(tmpdir(), 'everynode-clock-'));
  const running: RunningProgram[] = [];
  context.after(async () => {
    for (const program of running.reverse()) await program.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const clock = join(folder, 'clock');
  const setBack = (seconds: number) => writeFileSync(clock, `-${seconds}\n`);
  setBack(Math.floor(Date.now() / 1_000) - 60);
  const coordinator = await startCoordinatorProcess(join(folder, 'coordinator'));
  running.push(coordinator);
  const api = apiClientFromKubeconfig(coordinator.kubeconfigPath);
  const { text: token } = await createToken(api, { ttlSeconds: 0, description: 'clock', reusable: true });
  const environment = {
    ...{ LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_CACHE_DURATION: '1' },
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  running.push(
    startAgentProcess({ node: 'n1', server: api.server, token, dataDir: join(folder, 'host'), environment }),
  );
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
  const first = await run('first');
  const { status } = await api.request<Node>('GET', '/api/v1/nodes/n1');
  const skew = findCondition(status?.conditions, 'ClockSkewed');
  assert.match(`${skew?.status} ${skew?.message}`, /^True The host's clock is \d\d years behind/);

  setBack(365 * 86_400);
  await pause(HEARD_MS);
  await run('second');
  assert.equal(await startedAt('first'), first);
  // The report of the second one told what the clock says by now.
  const isTold = async () => {
    const node = await api.request<Node>('GET', '/api/v1/nodes/n1');
    return /365 days behind/.test(findCondition(node.status?.conditions, 'ClockSkewed')?.message ?? '');
  };
  await until(isTold, { timeoutMs: PATIENCE_MS, what: 'the skew' });
});
