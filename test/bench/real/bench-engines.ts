/** The engines of one run, each in its own network namespace. */

import { until } from '../../harness/basics/wait-until.js';
import { startEngine, type TestEngine } from '../../harness/engines/test-engines.js';
import { loadTestImages } from '../../harness/engines/test-images.js';
import { BareEngine } from '../floors/bare-engine.js';
import { EngineEvents } from './engine-event-stream.js';

export const IMAGE = 'docker.io/library/bench:1';
const QUIET_MS = 60_000;

/** An engine, its API, and its events. */
export interface BenchEngine {
  engine: TestEngine;
  api: BareEngine;
  events: EngineEvents;
}

/** Exit code of a shell after Ctrl-C. */
const INTERRUPTED = 130;

/** Resolves with the reason if this machine cannot run them. Ctrl-C also removes them. */
export async function startEngines(count: number): Promise<BenchEngine[] | string> {
  const engines: BenchEngine[] = [];
  const leave = () => process.exit(INTERRUPTED);
  process.once('SIGINT', () => void stopEngines(engines).then(leave, leave));
  const refusals = await Promise.all(Array.from({ length: count }, () => startOne(engines)));
  const refusal = refusals.find((each) => each !== undefined);
  if (refusal === undefined) return engines;
  await stopEngines(engines);
  return refusal;
}

/** Adds one engine, or returns the reason why that is not possible. */
async function startOne(engines: BenchEngine[]): Promise<string | undefined> {
  const engine = await startEngine('docker');
  if (typeof engine === 'string') return engine;
  const { socketPath } = engine;
  engines.push({ engine, api: new BareEngine(socketPath), events: new EngineEvents(socketPath) });
  await loadTestImages(socketPath, [IMAGE]);
  return undefined;
}

/** Stops the remaining engines even if one of them fails to stop. */
export async function stopEngines(engines: readonly BenchEngine[]): Promise<void> {
  const stopped = await Promise.allSettled(
    engines.map(({ engine, api, events }) => {
      events.close();
      api.close();
      return engine.stop();
    }),
  );
  const failed = stopped.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

/** Resolves when no container runs on any engine. */
export async function untilEmpty(engines: readonly BenchEngine[]): Promise<void> {
  const areEmpty = async () => {
    const running = await Promise.all(engines.map(({ api }) => api.running()));
    return running.every((ids) => ids.length === 0);
  };
  await until(areEmpty, { timeoutMs: QUIET_MS, what: 'all containers to be gone' });
}
