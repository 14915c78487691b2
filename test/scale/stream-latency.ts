/**
 * Overhead of streams beyond the engine: the first byte of a command, and a long log, through API, link and agent,
 * alternately with the engine's own API. Arguments: docker | podman (default docker).
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { DockerApi } from '../../agent/runtime/docker/docker-api.js';
import { LABEL } from '../../agent/runtime/docker/docker-convert.js';
import { DockerEngine } from '../../agent/runtime/docker/docker-engine.js';
import { askEngine } from '../../agent/runtime/docker/find-engine.js';
import { untilPasses } from '../harness/basics/wait-until.js';
import type { EngineKind } from '../harness/engines/test-engines.js';
import { shell } from '../harness/engines/test-images.js';
import { TourFixture } from '../harness/hosts/tour-fixture.js';

const ROUNDS = 30;
const LOG_LINES = 100_000;
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'c',
        image: 'app:1',
        command: shell(
          `i=0; l=$(/bin/busybox printf '%090d' 0); while [ $i -lt ${LOG_LINES} ]; do i=$((i+1)); echo $l $i; done; exec /bin/busybox sleep 3600`,
        ),
      },
    ],
  },
};

async function main(kind: EngineKind): Promise<void> {
  const bench = await TourFixture.open(kind, { images: ['app:1'] });
  if (typeof bench === 'string') throw new Error(bench);
  try {
    await bench.kubectl.ok('apply -f -', JSON.stringify(POD));
    const last = new RegExp(` ${LOG_LINES}$`);
    await untilPasses(async () => void expectMatch(await bench.kubectl.ok('logs p --tail=1'), last), 120_000);
    const api = accessOf(bench);
    const engine = await engineOf(bench);
    const [own, ours]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      own.push(await timed(() => engine.exec()));
      ours.push(await timed(() => firstByte(api)));
    }
    const [logOwn, logOurs] = [await timedBytes(() => engine.log()), await timedBytes(() => readLog(api))];
    process.stdout.write(
      `${kind}: first byte of exec ${median(own)} ms by the engine, ${median(ours)} ms through Everynode (median of ${ROUNDS})\n` +
        `${kind}: log ${logOwn} MB/s by the engine, ${logOurs} MB/s through Everynode\n`,
    );
    engine.close();
  } finally {
    await bench.close();
  }
}

function expectMatch(text: string, pattern: RegExp): void {
  if (!pattern.test(text)) throw new Error(`${text} does not match ${pattern}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function timedBytes(work: () => Promise<number>): Promise<string> {
  const began = performance.now();
  const bytes = await work();
  return (bytes / 1000 / (performance.now() - began)).toFixed(1);
}

function median(values: number[]): string {
  return ([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(1);
}

async function engineOf(bench: TourFixture) {
  const found = await askEngine({ socketPath: bench.engine.socketPath });
  const [container] = await bench.containers.ofPods('p');
  const id = container?.id ?? '';
  const owner = await ownerOf(bench, id);
  const driver = new DockerEngine(found, owner);
  return {
    exec: async () => {
      const request = { command: ['busybox', 'echo', 'x'], stdin: false, tty: false };
      const process = await driver.exec(id, request, new AbortController().signal);
      for await (const _ of process.output) return;
    },
    log: async () => {
      let bytes = 0;
      const signal = new AbortController().signal;
      for await (const chunk of driver.logs(id, { follow: false, timestamps: false }, signal))
        bytes += chunk.length;
      return bytes;
    },
    close: () => driver.close(),
  };
}

async function ownerOf(bench: TourFixture, id: string): Promise<{ clusterUID: string; nodeName: string }> {
  const api = new DockerApi({ socketPath: bench.engine.socketPath });
  const answer = await api.json<{ Config: { Labels: Record<string, string> } }>(
    { method: 'GET', path: `/containers/${id}/json` },
    { fallback: 'EngineDown' },
  );
  api.close();
  const { Labels } = answer.Config;
  return { clusterUID: Labels[LABEL.cluster] ?? '', nodeName: Labels[LABEL.node] ?? '' };
}

interface Access {
  host: string;
  ca: string;
  token: string;
}

function accessOf(bench: TourFixture): Access {
  const text = readFileSync(join(bench.dataDir, 'kubeconfig'), 'utf8');
  const value = (name: string) => new RegExp(`${name}: "?([^"\\s]+)`).exec(text)?.[1] ?? '';
  return {
    host: value('server').replace('https://', ''),
    ca: Buffer.from(value('certificate-authority-data'), 'base64').toString(),
    token: value('token'),
  };
}

const PODS = '/api/v1/namespaces/default/pods/p';

function firstByte({ host, ca, token }: Access): Promise<void> {
  const url = `wss://${host}${PODS}/exec?command=busybox&command=echo&command=x&stdout=true`;
  const socket = new WebSocket(url, 'v5.channel.k8s.io', {
    ca,
    headers: { authorization: `Bearer ${token}` },
  });
  return new Promise((resolve, reject) => {
    socket.once('message', () => {
      resolve();
      socket.terminate();
    });
    socket.once('error', reject);
  });
}

function readLog({ host, ca, token }: Access): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const outgoing = request(`https://${host}${PODS}/log`, { ca, headers }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      answer.on('end', () => resolve(bytes));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

await main(process.argv[2] === 'podman' ? 'podman' : 'docker');
