/** One value each, ms, of any fleet: from the request to the engine's own event. The engines are empty before and after. */
import { type BenchEngine, untilEmpty } from './bench-engines.js';
import type { MeasuredFleet } from './measured-fleet.js';
import { waitForIdleMachine } from './wait-for-idle-machine.js';

/** Durations in one container's lifetime. */
export interface ContainerLifetime {
  /** From the label to the container's start. */
  started: number;
  /** From `kill -9` of its first process to its restart. */
  restarted: number;
  /** From the label's removal to the container's exit. */
  ended: number;
}

export async function timeContainerLifetime(
  fleet: MeasuredFleet,
  engines: readonly BenchEngine[],
): Promise<ContainerLifetime> {
  const [first] = engines;
  if (!first) throw new Error('there is no engine');
  const labelled = performance.now();
  await fleet.label(true);
  const start = await first.events.first('start', labelled);
  await waitForIdleMachine();
  const init = await first.api.initOf(start.id);
  const killed = performance.now();
  process.kill(init, 'SIGKILL');
  const again = await first.events.first('start', killed);
  await waitForIdleMachine();
  const unlabelled = performance.now();
  await fleet.label(false);
  const end = await first.events.first('die', unlabelled);
  await untilEmpty(engines);
  return { started: start.at - labelled, restarted: again.at - killed, ended: end.at - unlabelled };
}

/** Duration of an update, and the longest time that one engine was without a container. */
export interface Rollout {
  all: number;
  gap: number;
}

export interface Deployment {
  /** From the request until all containers run and are shown as running. */
  shown: number;
  one: Rollout;
  together: Rollout;
}

/**
 * Runs one container lifetime on each engine and one update with all fleets at once. The first run is slow and not
 * measured.
 */
export async function warmUp(
  fleets: readonly MeasuredFleet[],
  engines: readonly BenchEngine[],
): Promise<void> {
  await Promise.all(
    fleets.map(async (fleet) => {
      await fleet.deploy();
      await fleet.untilAllShown();
      await fleet.update(engines.length);
      await fleet.untilAllShown();
      await fleet.remove();
    }),
  );
  await untilEmpty(engines);
}

/** Deploys, updates one engine after another, updates all at once, and removes everything. */
export async function timeDeployment(
  fleet: MeasuredFleet,
  engines: readonly BenchEngine[],
): Promise<Deployment> {
  const startMs = performance.now();
  await fleet.deploy();
  await fleet.untilAllShown();
  const shown = performance.now() - startMs;
  await waitForIdleMachine();
  const one = await timeUpdate(fleet, engines, 1);
  await waitForIdleMachine();
  const together = await timeUpdate(fleet, engines, engines.length);
  await waitForIdleMachine();
  await fleet.remove();
  await untilEmpty(engines);
  return { shown, one, together };
}

async function timeUpdate(
  fleet: MeasuredFleet,
  engines: readonly BenchEngine[],
  atOnce: number,
): Promise<Rollout> {
  const startMs = performance.now();
  // Await both together: if the update failed while only the starts were awaited, the process would exit and leave
  // engines behind.
  const [, starts] = await Promise.all([
    fleet.update(atOnce),
    Promise.all(engines.map(({ events }) => events.first('start', startMs))),
  ]);
  await fleet.untilAllShown();
  const gaps = engines.map(({ events }, index) => {
    const end = events.since(startMs).find(({ action }) => action === 'die');
    return (starts[index]?.at ?? Number.NaN) - (end?.at ?? Number.NaN);
  });
  return { all: Math.max(...starts.map(({ at }) => at)) - startMs, gap: Math.max(...gaps) };
}
