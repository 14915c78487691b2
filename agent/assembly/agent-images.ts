/** Connects image pulls, prefetches, and the removal of unused images. */
import { join } from 'node:path';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { CollectionThresholds, DiskUse } from '../decisions/images/image-collection.js';
import { fullImageName } from '../decisions/images/image-name.js';
import { ImageCollector } from '../images/image-collector.js';
import { ImagePuller, type LocalImage } from '../images/image-puller.js';
import { ImageRecords } from '../images/image-records.js';
import { PrefetchedImages } from '../images/prefetched-images.js';
import { RegistrySettings } from '../images/registry-settings.js';
import { readFileSystemUsage } from '../node/pressure-readings.js';
import type { AgentSettings } from '../program/agent-settings.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';

/** Settings and state of image handling. */
export interface ImageHandling {
  registries: RegistrySettings;
  pullsAtOnce: number;
  records: ImageRecords;
  /** Absent if no images are collected. */
  collection?: { thresholds: CollectionThresholds; disk: () => Promise<DiskUse> };
}

/** Throws `ExitError` if the low threshold is above the high one. */
export function checkImageThresholds(settings: AgentSettings): void {
  const { imageGcHighThreshold: high, imageGcLowThreshold: low } = settings;
  if (low <= high) return;
  const why = `--image-gc-low-threshold ${low} is above --image-gc-high-threshold ${high}`;
  throw new ExitError(
    EXIT_CODES.usage,
    `${why}: no image could ever be kept. Lower the low threshold or raise the high one.`,
  );
}

/** Returns the image handling for the host's settings. */
export async function imageHandling(settings: AgentSettings, driver: RuntimeDriver): Promise<ImageHandling> {
  const { data, registries } = settings;
  return {
    registries: new RegistrySettings(registries ?? join(data, 'registries.json')),
    pullsAtOnce: settings.maxParallelImagePulls,
    records: await ImageRecords.open(join(data, 'images.json')),
    collection: {
      thresholds: { high: settings.imageGcHighThreshold, low: settings.imageGcLowThreshold },
      disk: async () => readFileSystemUsage((await driver.info()).rootDir ?? data),
    },
  };
}

/** For simulated hosts. */
export function inMemoryImageHandling(): ImageHandling {
  return { registries: new RegistrySettings(undefined), pullsAtOnce: 3, records: ImageRecords.inMemory() };
}

interface AgentImages {
  images: ImagePuller;
  prefetched: PrefetchedImages;
  /** Absent if no images are collected. */
  removeUnused?: () => Promise<void>;
  components: Component[];
}

interface AgentImagesOptions {
  driver: RuntimeDriver;
  handling: ImageHandling;
  /** Pods of this host, whose images must stay. */
  pods: () => Iterable<Pod>;
  /** Emits a Warning Event about the Node. */
  warn: (reason: string, message: string) => void;
  clock: Clock;
  log: Logger;
}

/** Creates the components; none runs before it is started. */
export function createAgentImages(options: AgentImagesOptions): AgentImages {
  const { driver, handling, clock, warn } = options;
  const { registries, pullsAtOnce, records, collection } = handling;
  const log = options.log.child({ component: 'images' });
  const onPulled = ({ name }: LocalImage, wasThere: boolean): void => {
    // The image was put here by another program, which owns it.
    if (wasThere && !records.all().has(name)) return;
    records
      .recordPull(name, clock.now())
      .catch((error: unknown) => log.warn({ image: name, err: error }, 'pulled image could not be recorded'));
  };
  const images = new ImagePuller({ driver, clock, registries, maxParallelPulls: pullsAtOnce, onPulled });
  const assigned = new PrefetchedImages(images, clock, log);
  const components: Component[] = [{ name: 'held images', stop: () => assigned.stop() }];
  let removeUnused: AgentImages['removeUnused'];
  if (collection) {
    const pinned = (): string[] => [...assigned.names(), ...namesOf(options.pods())];
    const collector = new ImageCollector({ driver, records, ...collection, pinned, warn, clock, log });
    removeUnused = () => collector.removeUnused();
    components.push({
      name: 'image collection',
      start: () => collector.start(),
      stop: () => collector.stop(),
    });
  }
  return { images, prefetched: assigned, components: components, ...(removeUnused ? { removeUnused } : {}) };
}

function namesOf(pods: Iterable<Pod>): string[] {
  return [...pods].flatMap(({ spec }) =>
    [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])].map(
      ({ image }) => fullImageName(image),
    ),
  );
}
