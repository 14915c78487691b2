/** Defaults of a simulated host: facts, load, key and dependencies of its agent. */
import { createECDH, createHmac, createPrivateKey } from 'node:crypto';
import type { HeartbeatReading } from '../../shared/link/heartbeat-reading.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { AgentDeps } from '../assembly/agent-deps.js';
import { inMemoryImageHandling } from '../assembly/agent-images.js';
import type { HostInfo } from '../node/host-info.js';
import { NO_POD_FILES } from '../pods/pod-files.js';
import type { PodVolumes } from '../pods/pod-worker-deps.js';

/** Pods on simulated hosts have no volumes on disk. */
const NO_VOLUMES: PodVolumes = {
  prepare: async () => undefined,
  refresh: async () => undefined,
  mountsOf: async () => [],
  hasMounts: async () => true,
  remove: async () => undefined,
  sweep: async () => [],
  storageOf: async () => ({ emptyDirs: new Map(), otherVolumes: 0 }),
  bytesByVolume: async () => new Map(),
};

/** Dependencies of an agent without a disk and a kernel. */
export function hollowHostDeps(): Pick<AgentDeps, 'engine' | 'volumes' | 'images' | 'isolation' | 'files'> {
  return {
    engine: 'hollow',
    volumes: NO_VOLUMES,
    images: inMemoryImageHandling(),
    isolation: { seccompRoot: '/', allowedUnsafeSysctls: ['net.*', 'kernel.*', 'fs.mqueue.*'] },
    files: NO_POD_FILES,
  };
}

/** A small host, for templates without capacity. `boots` counts its boots. */
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

const WAVE_MS = 20 * 60_000;

/** Returns waves of load, so that charts of a fleet look real. The same name and time give the same load. */
export function simulatedHostLoad(name: string, clock: Clock): () => HeartbeatReading {
  const phase = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 997, 7) / 997;
  return () => {
    const wave = (Math.sin((clock.now() / WAVE_MS + phase) * 2 * Math.PI) + 1) / 2;
    return {
      cpu: 0.05 + 0.4 * wave * phase,
      memory: 0.25 + 0.3 * phase + 0.05 * wave,
      disk: 0.2 + 0.5 * phase,
    };
  };
}

const COORDINATE_BYTES = 32;

/** Derives a P-256 key (PEM, PKCS #8) from token and name: a repeated simulation has the same hosts. */
export function simulatedHostKey(bearer: string, node: string): string {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(createHmac('sha256', bearer).update(`key of ${node}`).digest());
  const text = (bytes: Buffer) => bytes.toString('base64url');
  // Without the first octet, which marks an uncompressed point, the two coordinates remain (SEC 1, 2.3.3).
  const point = curve.getPublicKey().subarray(1);
  const key = {
    kty: 'EC',
    crv: 'P-256',
    d: text(curve.getPrivateKey()),
    x: text(point.subarray(0, COORDINATE_BYTES)),
    y: text(point.subarray(COORDINATE_BYTES)),
  };
  return createPrivateKey({ key, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' }).toString();
}
