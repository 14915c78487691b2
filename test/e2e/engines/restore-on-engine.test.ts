/** Restores a coordinator with hosts on real engines: no container stops, and the Pods keep their owners and UIDs. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { EngineContainers } from '../../harness/engines/engine-containers.js';
import { type EngineKind, startEngine, type TestEngine } from '../../harness/engines/test-engines.js';
import { loadTestImages } from '../../harness/engines/test-images.js';
import { runEverynode } from '../../harness/processes/everynode-processes.js';
import { DAEMON_SETS, daemonSetBody, RestoreFleet, runOf } from '../../harness/processes/restore-fleet.js';

const KINDS: EngineKind[] = ['docker', 'podman'];
const UNTOUCHED = ['later:1', 'later:1', 'web:2', 'web:2'];
const IMAGES = ['web:1', 'web:2', 'later:1', 'probe:1'];

/** A host's engine, queried without the agent. */
interface Host {
  engine: TestEngine;
  containers: EngineContainers;
}

/** One line for each running container: its id, its Pod, its start time. */
async function runningIn(hosts: readonly Host[]): Promise<string[]> {
  const lines = await Promise.all(
    hosts.map(async ({ containers }) => {
      const running = (await containers.all()).filter(({ state }) => state === 'running');
      return Promise.all(
        running.map(async ({ id, podUID }) => `${id} ${podUID} ${await containers.startedAt(id)}`),
      );
    }),
  );
  return lines.flat().sort();
}

describe('a restored coordinator with hosts on real engines', () => {
  const fleet = new RestoreFleet();
  const hosts: Host[] = [];
  let why: string | undefined;
  let runsBefore: string[] = [];
  let containersBefore: string[] = [];

  const startHost = async (kind: EngineKind): Promise<Host | string> => {
    const engine = await startEngine(kind);
    if (typeof engine === 'string') return `${kind} ${engine}`;
    const host = { engine, containers: new EngineContainers(engine.socketPath) };
    hosts.push(host);
    await loadTestImages(engine.socketPath, IMAGES);
    return host;
  };
  const join = async ({ engine }: Host): Promise<void> => {
    const environment = { DOCKER_HOST: `unix://${engine.socketPath}` };
    await fleet.join(engine.kind, 'lost', { runtime: engine.kind, environment });
  };

  before(async () => {
    const [docker, podman] = [await startHost('docker'), await startHost('podman')];
    if (typeof docker === 'string' || typeof podman === 'string') {
      why = [docker, podman].find((host) => typeof host === 'string') as string;
      return;
    }
    await fleet.startCoordinator('lost');
    await join(docker);
    await fleet.api.request('POST', DAEMON_SETS, daemonSetBody('web', 'web:1'));
    await fleet.running(['web:1']);
    await fleet.backUp('lost');
    await join(podman);
    await fleet.running(['web:1', 'web:1']);
    await fleet.setImage('web', 'web:2');
    await fleet.api.request('POST', DAEMON_SETS, daemonSetBody('later', 'later:1'));
    runsBefore = (await fleet.running(UNTOUCHED)).map(runOf).sort();
    containersBefore = await runningIn(hosts);
    await fleet.restore('new');
  });
  after(async () => {
    await fleet.close();
    for (const { engine, containers } of hosts) {
      containers.close();
      await engine.stop();
    }
  });

  /** Registers the test, or the reason why this machine cannot run it. */
  const onEngines = (name: string, check: () => Promise<void>): void => {
    test(name, async (context: TestContext) => {
      if (why === undefined) await check();
      else leaveOut(context, `restore on ${KINDS.join(' and ')}`, why);
    });
  };

  onEngines('the Pods of both hosts return with their UIDs and containers', async () => {
    const pods = await fleet.running(UNTOUCHED);
    assert.deepEqual(pods.map(runOf).sort(), runsBefore);
    const nodes = new Set(pods.map(({ spec }) => spec.nodeName));
    assert.deepEqual([...nodes].sort(), KINDS);
  });

  onEngines(
    'a restore sends the engines no request: the same containers run since the same time',
    async () => {
      assert.ok(containersBefore.length >= UNTOUCHED.length);
      assert.deepEqual(await runningIn(hosts), containersBefore);
    },
  );

  onEngines('an unconfirmed restore accepts new changes and leaves restored Pods alone', async () => {
    await fleet.startProbes('probe:1');
    await fleet.running([...UNTOUCHED, 'probe:1', 'probe:1']);
    const now = await runningIn(hosts);
    assert.deepEqual(
      containersBefore.filter((line) => !now.includes(line)),
      [],
    );
  });

  onEngines('a confirmed restore removes containers of objects that the backup lacks', async () => {
    const { code, stderr } = await runEverynode(['confirm-restore', '--data', fleet.path('new')]);
    assert.deepEqual([code, stderr], [0, '']);
    await fleet.running(['web:1', 'web:1', 'probe:1', 'probe:1']);
    const now = await runningIn(hosts);
    assert.deepEqual(
      containersBefore.filter((line) => now.includes(line)),
      [],
    );
  });
});
