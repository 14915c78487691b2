/** What a pretended host is like, where nobody says otherwise. */
import type { AgentDeps } from '../assembly/agent-deps.js';
import { inMemoryImageHandling } from '../assembly/agent-images.js';
import type { HostInfo } from '../node/host-info.js';
import { NO_POD_FILES } from '../pods/pod-files.js';
import type { PodVolumes } from '../pods/pod-worker-deps.js';

/** Pods of pretended hosts get no folders. */
const NO_VOLUMES: PodVolumes = {
  prepare: async () => undefined,
  refresh: async () => undefined,
  mountsOf: async () => [],
  hasMounts: async () => true,
  remove: async () => undefined,
  sweep: async () => [],
  storageOf: async () => ({ emptyDirs: new Map(), otherVolumes: 0 }),
};

/** What an agent stands on that has no disk and no kernel of its own. */
export function hollowHostDeps(): Pick<AgentDeps, 'engine' | 'volumes' | 'images' | 'isolation' | 'files'> {
  return {
    engine: 'hollow',
    volumes: NO_VOLUMES,
    images: inMemoryImageHandling(),
    isolation: { seccompRoot: '/', allowedUnsafeSysctls: ['net.*', 'kernel.*', 'fs.mqueue.*'] },
    files: NO_POD_FILES,
  };
}

/** A small host, the same for all that bring no capacity of their own; `boots` counts how often it came up. */
export function hollowHostInfo(name: string, boots: number, address: string): HostInfo {
  const boot = `${name}-boot-${boots}`;
  return {
    machineID: name,
    systemUUID: name,
    bootID: boot,
    bootMark: boot,
    kernelVersion: '6.1.0',
    osImage: 'Everynode hollow host',
    operatingSystem: 'linux',
    architecture: 'amd64',
    cpus: 4,
    memoryBytes: 8 * 1024 ** 3,
    missingCapabilities: [],
    resolver: { nameservers: [], searches: [], options: [] },
    diskBytes: 64 * 1024 ** 3,
    address,
  };
}
