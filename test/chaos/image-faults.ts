/** Removes images for a while. An engine that another fault hits meanwhile may have lost any of them. */
import { until } from '../harness/basics/wait-until.js';
import type { ChaosHost } from './chaos-host.js';
import { appImages } from './chaos-images.js';
import { IMAGES } from './chaos-plan.js';

/** Timeout until an engine that another fault has hit responds again. */
const ANSWER_MS = 60_000;

/** Untags the images while containers use them. */
export async function removeImages(host: ChaosHost): Promise<void> {
  for (const name of IMAGES)
    await host
      .engine()
      ?.takeImage(name)
      .catch(() => undefined);
}

export function restoreImages(host: ChaosHost): Promise<void> {
  return untilDone(`the images of ${host.name} to be restored`, async () => {
    const engine = host.engine();
    if (!engine) return false;
    for (const name of IMAGES) await engine.restoreImage(name);
    return true;
  });
}

/** Removes the images by force, like an operator who cleans an engine up. Podman removes their containers too. */
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

/** `attempt` returns false if there is no engine, and throws if the engine refuses. */
function untilDone(what: string, attempt: () => Promise<boolean>): Promise<void> {
  return until(() => attempt().catch(() => false), { timeoutMs: ANSWER_MS, what });
}
