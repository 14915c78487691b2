/**
 * Protects against CVE-2021-25741: a container swaps a directory of its volume for a symbolic link while its neighbours
 * start with that directory as their `subPath`. No neighbour may see the target of the link, and the agent may create
 * nothing there. `EVERYNODE_RACE_SECONDS=60` runs the race for longer.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import { type EnginePods, onEachEngine, scripted } from '../../harness/engines/engine-pods.js';

const RACE_MS = Number(process.env.EVERYNODE_RACE_SECONDS ?? 10) * 1000;
const NEIGHBOURS = 8;
const SAW_THE_HOST = 42;
const bb = '/bin/busybox';

/** Counts of one round: neighbours that ran and neighbours that were refused. */
interface Round {
  started: number;
  refused: number;
  hits: number;
}

onEachEngine('subPath with a directory that is swapped for a link', (pods) => {
  pods.law(`no container sees the host's files in ${RACE_MS / 1000} s of swaps`, async () => {
    const host = join(pods.folder, 'host');
    mkdirSync(host);
    writeFileSync(join(host, 'marker'), 'of the host');
    const sum: Round = { started: 0, refused: 0, hits: 0 };
    const end = Date.now() + RACE_MS;
    for (let round = 0; Date.now() < end; round += 1) {
      const { started, refused, hits } = await race(pods, `race-${round}`, host);
      sum.started += started;
      sum.refused += refused;
      sum.hits += hits;
    }
    const left = readdirSync(host);
    process.stdout.write(`# ${pods.kind}: ${JSON.stringify({ ...sum, createdOutside: left.length - 1 })}\n`);
    assert.deepEqual(
      [sum.hits, left],
      [0, ['marker']],
      'containers that saw the host; files in its directory',
    );
    assert.ok(sum.started > 0, 'containers were started at all');
  });
});

/** Runs one Pod: a container that swaps the directory, and neighbours that print their mount and exit. */
async function race(pods: EnginePods, pod: string, host: string): Promise<Round> {
  const swap = `${bb} mv p q; ${bb} ln -s ${host} p; ${bb} rm p; ${bb} mv q p`;
  const look = `if [ -e /v/marker ]; then exit ${SAW_THE_HOST}; fi; echo x >/v/x`;
  const volumeMounts = (subPath: string) => [{ name: 'shared', mountPath: '/v', subPath }];
  const neighbours = Array.from({ length: NEIGHBOURS }, (_, at): Container => {
    // Every second neighbour uses a directory that does not exist yet, so the agent creates it.
    const subPath = at % 2 === 0 ? 'p' : `p/made-by-the-agent-${at}`;
    return scripted(`n${at}`, look, { volumeMounts: volumeMounts(subPath) });
  });
  const swapper = scripted('swapper', `cd /v; ${bb} mkdir p; while :; do ${swap}; done`, {
    volumeMounts: [{ name: 'shared', mountPath: '/v' }],
  });
  const volumes = [{ name: 'shared', emptyDir: {} }];
  const spec = { volumes, restartPolicy: 'Never' as const, terminationGracePeriodSeconds: 0 };
  pods.assignPod(pod, [swapper, ...neighbours], spec);
  const ends = () => neighbours.map(({ name }) => pods.fixture.container(pod, name)?.state);
  await pods.until(`every neighbour in ${pod} has ended or was refused`, () =>
    ends().every((state) => state?.terminated ?? state?.waiting?.message),
  );
  const exits = ends().flatMap((state) => (state?.terminated ? [state.terminated.exitCode] : []));
  pods.fixture.deletePod(`uid-${pod}`);
  await pods.until(`${pod} is removed`, () => !pods.fixture.assignedPods.has(`uid-${pod}`));
  return {
    started: exits.length,
    refused: NEIGHBOURS - exits.length,
    hits: exits.filter((code) => code === SAW_THE_HOST).length,
  };
}
