/**
 * Time from a container's exit to its restart, by the engine's own timestamps: through the agent, and by plain HTTP
 * that waits for the same event and starts the next container at once, alternately on one engine.
 *   node dist/test/scale/restart-latency.js docker|podman [ROUNDS]
 */
import { DockerApi, jsonLines } from '../../agent/runtime/docker/docker-api.js';
import { EngineFixture } from '../harness/engines/engine-fixture.js';
import type { EngineKind } from '../harness/engines/test-engines.js';
import { shell } from '../harness/engines/test-images.js';

const LIFE = 'busybox sleep 0.5; [ -e /dev/shm/never ]';

interface State {
  State: { StartedAt: string; FinishedAt: string };
}

const [kind = 'docker', rounds = '15'] = process.argv.slice(2);
const bench = await EngineFixture.open(kind as EngineKind);
if (typeof bench === 'string') throw new Error(bench);
const { socketPath } = bench.engine;
const api = new DockerApi({ socketPath });
const otherwise = { fallback: 'EngineDown' };

async function throughAgent(open: EngineFixture, name: string): Promise<number> {
  open.assignPod(name, {
    containers: [{ name: 'app', image: 'app:1', command: shell(LIFE) }],
    terminationGracePeriodSeconds: 2,
  });
  await open.until('restarted', async () => (await started(open, name)).length === 2);
  const [next, first] = await started(open, name);
  await open.delete(name);
  return (next?.startedAt ?? 0) - (first?.finishedAt ?? 0);
}

async function started(open: EngineFixture, name: string) {
  const containers = await open.driver.inspectPod(name);
  return containers
    .filter(({ startedAt }) => startedAt !== undefined)
    .sort((a, b) => b.identity.attempt - a.identity.attempt);
}

async function bare(name: string): Promise<number> {
  const body = { Image: 'app:1', Entrypoint: shell(LIFE), HostConfig: { IpcMode: 'shareable' } };
  const create = async (suffix: string): Promise<string> => {
    const query = { name: `${name}-${suffix}` };
    const made = await api.json<{ Id: string }>(
      { method: 'POST', path: '/containers/create', query, body },
      otherwise,
    );
    return made.Id;
  };
  const start = (id: string) => api.json({ method: 'POST', path: `/containers/${id}/start` }, otherwise);
  const abort = new AbortController();
  const filters = JSON.stringify({ type: ['container'], event: ['die', 'died'] });
  const events = await api.stream(
    { method: 'GET', path: '/events', query: { filters }, signal: abort.signal },
    otherwise,
  );
  const first = await create('0');
  await start(first);
  for await (const event of jsonLines<{ Actor: { ID: string } }>(events)) if (event.Actor.ID === first) break;
  const next = await create('1');
  await start(next);
  const [ended, began] = await Promise.all(
    [first, next].map((id) => api.json<State>({ method: 'GET', path: `/containers/${id}/json` }, otherwise)),
  );
  abort.abort();
  for (const id of [first, next]) {
    await api.json({ method: 'DELETE', path: `/containers/${id}`, query: { force: '1' } }, otherwise);
  }
  return Date.parse(began?.State.StartedAt ?? '') - Date.parse(ended?.State.FinishedAt ?? '');
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

try {
  const agent: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < Number(rounds); round += 1) {
    floor.push(await bare(`bare-${round}`));
    agent.push(await throughAgent(bench, `pod-${round}`));
  }
  const differences = agent.map((value, index) => value - (floor[index] ?? 0));
  process.stdout.write(
    `${kind}, ${rounds} rounds, median ms: agent ${median(agent)}, floor ${median(floor)}, difference ${median(differences)}\n`,
  );
} finally {
  api.close();
  await bench.close();
}
