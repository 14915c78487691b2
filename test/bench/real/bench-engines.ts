/** The engines of one run, each in a network namespace of its own. */

import { until } from '../../harness/basics/wait-until.js';
import { startEngine, type TestEngine } from '../../harness/engines/test-engines.js';
import { loadTestImages } from '../../harness/engines/test-images.js';
import { BareEngine } from '../floors/bare-engine.js';
import { EngineEvents } from './engine-event-stream.js';

export const IMAGE = 'docker.io/library/bench:1';
const QUIET_MS = 60_000;

/** An engine, its API, and what it tells. */
export interface BenchEngine {
  engine: TestEngine;
  api: BareEngine;
  events: EngineEvents;
}

/** How a shell names an end by Ctrl-C. */
const INTERRUPTED = 130;

/** A sentence instead where this machine cannot have them. A Ctrl-C removes them, too. */
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

/** Adds one, or answers why there can be none. */
async function startOne(engines: BenchEngine[]): Promise<string | undefined> {
  const engine = await startEngine('docker');
  if (typeof engine === 'string') return engine;
  const { socketPath } = engine;
  engines.push({ engine, api: new BareEngine(socketPath), events: new EngineEvents(socketPath) });
  await loadTestImages(socketPath, [IMAGE]);
  return undefined;
}

/** One that cannot be stopped does not keep the others. */
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

/** Resolves when no container runs on any. */
export async function untilEmpty(engines: readonly BenchEngine[]): Promise<void> {
  const areEmpty = async () => {
    const running = await Promise.all(engines.map(({ api }) => api.running()));
    return running.every((ids) => ids.length === 0);
  };
  await until(areEmpty, { timeoutMs: QUIET_MS, what: 'all containers to be gone' });
}
