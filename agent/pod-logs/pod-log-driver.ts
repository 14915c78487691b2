/** Connects the log files of Pods with the engine's containers. */
import { overrideDriver } from '../runtime/override-driver.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';
import type { PodLogFiles } from './pod-log-files.js';

/** Returns a driver that passes the results of its inspections on to `files`. They cause no calls of the engine. */
export function withPodLogFiles(
  driver: RuntimeDriver,
  files: Pick<PodLogFiles, 'nextInspection' | 'observe' | 'drain' | 'onRemoved'>,
): RuntimeDriver {
  return overrideDriver(driver, {
    list: async () => {
      const inspection = files.nextInspection();
      const containers = await driver.list();
      files.observe(inspection, containers);
      return containers;
    },
    inspectPod: async (podUid) => {
      const inspection = files.nextInspection();
      const containers = await driver.inspectPod(podUid);
      files.observe(inspection, containers, podUid);
      return containers;
    },
    remove: async (id) => {
      await files.drain(id);
      await driver.remove(id);
      files.onRemoved(id);
    },
  });
}
