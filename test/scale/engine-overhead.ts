/**
 * Overhead of the engine driver over the engine's own time: create and start of a container, alternately by plain HTTP
 * on a kept-alive connection and through the driver, on new engines, in one run.
 *   node dist/test/scale/engine-overhead.js [ROUNDS]
 */
import { Agent, request } from 'node:http';
import { DockerEngine } from '../../agent/runtime/docker/docker-engine.js';
import { askEngine } from '../../agent/runtime/docker/find-engine.js';
import type { NetworkMode } from '../../agent/runtime/runtime-driver.js';
import { type EngineKind, startEngine } from '../harness/engines/test-engines.js';
import { loadTestImages, WAITS } from '../harness/engines/test-images.js';
import { config } from '../laws/driver-fixture.js';

const ROUNDS = Number(process.argv[2] ?? 12);
const IMAGE = 'docker.io/library/bench:1';
const OWNER = { clusterUID: 'bench', nodeName: 'bench' };
const agent = new Agent({ keepAlive: true });

function call(socketPath: string, method: string, path: string, body?: object): Promise<{ Id?: string }> {
  const text = body ? JSON.stringify(body) : undefined;
  return new Promise((resolve, reject) => {
    const headers = text
      ? { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
      : {};
    const sent = request({ agent, socketPath, method, path: `/v1.41${path}`, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve(chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}),
      );
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

/** The floor: only the two calls. Returns the time in ms and the id. */
async function bare(socketPath: string, network: string): Promise<[number, string]> {
  const from = performance.now();
  const body = { Image: IMAGE, Entrypoint: WAITS, HostConfig: { NetworkMode: network } };
  const { Id = '' } = await call(socketPath, 'POST', '/containers/create', body);
  await call(socketPath, 'POST', `/containers/${Id}/start`);
  return [performance.now() - from, Id];
}

async function driven(driver: DockerEngine, network: NetworkMode, round: string): Promise<[number, string]> {
  const from = performance.now();
  const id = await driver.create(
    config(round, { image: IMAGE, command: WAITS }, { network, ipc: { kind: 'shareable' } }),
  );
  await driver.start(id);
  return [performance.now() - from, id];
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

async function measure(kind: EngineKind): Promise<void> {
  const engine = await startEngine(kind);
  if (typeof engine === 'string') return void process.stdout.write(`${kind}: left out, ${engine}\n`);
  const { socketPath } = engine;
  await loadTestImages(socketPath, [IMAGE]);
  const driver = new DockerEngine(await askEngine({ socketPath }), OWNER);
  for (const network of [{ kind: 'bridge' }, { kind: 'host' }] as const) {
    const floor: number[] = [];
    const ours: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const byApi = async () => {
        const [ms, id] = await bare(socketPath, network.kind);
        await call(socketPath, 'DELETE', `/containers/${id}?force=1`);
        return ms;
      };
      const byDriver = async () => {
        const [ms, id] = await driven(driver, network, `${network.kind}-${round}`);
        await driver.remove(id);
        return ms;
      };
      // Alternate the order: a removal still slows the next operation down.
      const floorFirst = round % 2 === 0 ? await byApi() : undefined;
      const ourMs = await byDriver();
      const floorMs = floorFirst ?? (await byApi());
      // The first round warms both up and is not counted.
      if (round > 0) floor.push(floorMs);
      if (round > 0) ours.push(ourMs);
    }
    const paired = median(ours.map((value, index) => value - (floor[index] ?? 0)));
    process.stdout.write(
      `${kind} ${network.kind}: create and start ${median(ours).toFixed(0)} ms, bare API ${median(floor).toFixed(0)} ms, ` +
        `paired difference ${paired.toFixed(1)} ms (median of ${ROUNDS})\n`,
    );
  }
  driver.close();
  await engine.stop();
}

await measure('docker');
await measure('podman');
agent.destroy();
