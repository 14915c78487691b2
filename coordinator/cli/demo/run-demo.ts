/** Runs the demo: a coordinator in this process, and simulated hosts in a child process. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError, orUndefined } from '../../../shared/kube/objects/api-status.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { writePrivateFile } from '../../../shared/process/files/private-file.js';
import { pause } from '../../../shared/process/time/clock.js';
import type { ApiClient } from '../client/api-client.js';
import { createToken } from '../commands/token-command.js';
import type { Simulation } from '../machine/agent-process.js';
import type { Progress } from '../terminal/terminal-progress.js';
import {
  DEMO_NAMESPACE,
  demoNodes,
  demoPolicies,
  HOSTS,
  OFFLINE_SITE,
  SIGNAGE,
  signageDaemonSet,
  TILL,
  tillDaemonSet,
} from './demo-fleet.js';

const POLL_INTERVAL_MS = 500;
const NODES = '/api/v1/nodes';
const DAEMON_SETS = `/apis/apps/v1/namespaces/${DEMO_NAMESPACE}/daemonsets`;
const FLEET = `/apis/${FLEET_GROUP}/v1/namespaces/${DEMO_NAMESPACE}`;

/** Paths of the demo's files. The file of Nodes marks a data directory as one of a demo. */
export function demoFiles(dataDir: string): { nodes: string; fix: string; token: string } {
  const path = (name: string): string => join(dataDir, 'demo', name);
  return { nodes: path('nodes.json'), fix: path('till-1.2.json'), token: path('token') };
}

/** JSON is YAML, so that kubectl, `plan` and `simulate` read the files. */
export function writeDemoFiles(dataDir: string): void {
  const { nodes, fix } = demoFiles(dataDir);
  mkdirSync(dirname(nodes), { recursive: true, mode: 0o700 });
  writeFileSync(nodes, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: demoNodes() }));
  writeFileSync(fix, JSON.stringify(tillDaemonSet('1.2'), undefined, 2));
}

/** Returns the token of the simulated hosts. Their keys are derived from it, so a demo that continues needs the same one. */
export async function demoToken(api: ApiClient, dataDir: string): Promise<string> {
  const { token: path } = demoFiles(dataDir);
  if (existsSync(path)) return readFileSync(path, 'utf8');
  const { text } = await createToken(api, { ttlSeconds: 0, description: 'everynode demo', reusable: true });
  await writePrivateFile(path, text);
  return text;
}

interface Demo {
  api: ApiClient;
  hosts: Simulation;
  progress: Progress;
}

/**
 * Builds the state of the tour. Each step checks what exists, so that a demo that was interrupted at any point continues
 * at its next start.
 */
export async function buildDemo(demo: Demo): Promise<void> {
  const { api, progress } = demo;
  await progress.step(`connecting ${HOSTS} simulated hosts in five sites`, (show) =>
    untilAll(async () => {
      const { items } = await api.request<{ items: Node[] }>('GET', NODES);
      return items.filter((node) => isConditionTrue(node.status?.conditions, 'Ready')).length;
    }, show),
  );
  await create(api, '/api/v1/namespaces', { metadata: { name: DEMO_NAMESPACE } });
  for (const each of [tillDaemonSet('1.0'), signageDaemonSet('1.0')]) await create(api, DAEMON_SETS, each);
  for (const policy of demoPolicies()) await create(api, `${FLEET}/rolloutpolicies`, policy);
  if (!(await isReleased(api))) await release(demo);
  demo.hosts.command(`offline site=${OFFLINE_SITE}`);
  await progress.step(
    `taking the site ${OFFLINE_SITE} offline, and waiting for release 1.1 to fail`,
    async () => {
      while (!(await hasFailed(api)) || !(await isOffline(api))) await pause(POLL_INTERVAL_MS);
    },
  );
}

/** Throws ApiError, except if the object exists. */
async function create(api: ApiClient, path: string, body: object): Promise<void> {
  try {
    await api.request('POST', path, body);
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
  }
}

async function isReleased(api: ApiClient): Promise<boolean> {
  const { spec } = await api.request<DaemonSet>('GET', `${DAEMON_SETS}/${TILL}`);
  return (
    spec.template.spec.containers[0]?.image !== tillDaemonSet('1.0').spec.template.spec.containers[0]?.image
  );
}

/** Rolls out the first releases everywhere, and starts the next ones. */
async function release({ api, progress }: Demo): Promise<void> {
  await progress.step('rolling out the first releases on all hosts', (show) =>
    untilAll(async () => {
      const sets = await Promise.all(
        [TILL, SIGNAGE].map((name) => api.request<DaemonSet>('GET', `${DAEMON_SETS}/${name}`)),
      );
      return Math.min(...sets.map(({ status }) => status?.numberReady ?? 0));
    }, show),
  );
  await api.request('PATCH', `${DAEMON_SETS}/${SIGNAGE}`, { spec: signageDaemonSet('2.0').spec });
  // Last: a demo that continues takes this release as the end of the step.
  await api.request('PATCH', `${DAEMON_SETS}/${TILL}`, { spec: tillDaemonSet('1.1').spec });
}

async function hasFailed(api: ApiClient): Promise<boolean> {
  const found = await orUndefined(() => api.request<Rollout>('GET', `${FLEET}/rollouts/${TILL}`));
  return found?.status?.phase === 'Failed' || found?.status?.aborted !== undefined;
}

async function isOffline(api: ApiClient): Promise<boolean> {
  const query = new URLSearchParams({ labelSelector: `site=${OFFLINE_SITE}` });
  const { items } = await api.request<{ items: Node[] }>('GET', `${NODES}?${query}`);
  return items.every((node) => !isConditionTrue(node.status?.conditions, 'Ready'));
}

/** Resolves when the count has reached the number of hosts. */
async function untilAll(count: () => Promise<number>, show: (text: string) => void): Promise<void> {
  for (;;) {
    const reached = await count();
    if (reached >= HOSTS) return;
    show(`${reached} of ${HOSTS}`);
    await pause(POLL_INTERVAL_MS);
  }
}
