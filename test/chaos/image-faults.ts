/** Images that are away for a while. An engine that is hit as well meanwhile may have lost any part of them. */
import { until } from '../harness/basics/wait-until.js';
import type { ChaosHost } from './chaos-host.js';
import { appImages } from './chaos-images.js';
import { IMAGES } from './chaos-plan.js';

/** An engine that was hit meanwhile answers again by then. */
const ANSWER_MS = 60_000;

/** Takes their names away from under their containers. */
export async function removeImages(host: ChaosHost): Promise<void> {
  for (const name of IMAGES)
    await host
      .engine()
      ?.takeImage(name)
      .catch(() => undefined);
}

export function restoreImages(host: ChaosHost): Promise<void> {
  return untilDone(`the images of ${host.name} to be back`, async () => {
    const engine = host.engine();
    if (!engine) return false;
    for (const name of IMAGES) await engine.restoreImage(name);
    return true;
  });
}

/** Removes them by force, as people do who clear an engine out: Podman's containers of them go along. */
export async function wipeImages(host: ChaosHost): Promise<void> {
  for (const name of IMAGES)
    await host
      .engine()
      ?.removeImage(name)
      .catch(() => undefined);
}

export function loadImages(host: ChaosHost): Promise<void> {
  return untilDone(`the images of ${host.name} to be loaded`, async () => {
    const engine = host.engine();
    await engine?.load(await appImages());
    return engine !== undefined;
  });
}

/** `attempt` says false where there is no engine, and throws where it refuses. */
function untilDone(what: string, attempt: () => Promise<boolean>): Promise<void> {
  return until(() => attempt().catch(() => false), { timeoutMs: ANSWER_MS, what });
}
