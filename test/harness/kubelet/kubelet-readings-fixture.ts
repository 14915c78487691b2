/** A host with two Pods, as the kubelet's pages receive it. */
import type { Reading, StorageReading } from '../../../agent/kubelet/kubelet-readings.js';
import type { ContainerUsage, UsageDetails } from '../../../agent/runtime/runtime-driver.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

const MIB = 1024 * 1024;
/** 2026-01-31T09:00:10Z */
export const NOW_MS = Date.parse('2026-01-31T09:00:10Z');

const ETH0 = {
  ...{ name: 'eth0', rxBytes: 1_000, rxPackets: 10, rxErrors: 1, rxDropped: 2 },
  ...{ txBytes: 2_000, txPackets: 20, txErrors: 3, txDropped: 4 },
};

function usage(
  id: string,
  container: string,
  cpuNanos: number,
  details: Partial<UsageDetails> = {},
): ContainerUsage {
  return {
    ...{ id, podUid: 'uid-web', container, cpuNanos, memoryBytes: 3 * MIB, processes: 2 },
    details: {
      ...{ podNamespace: 'shop', podName: 'web', image: 'nginx:1.28', createdAt: NOW_MS - 60_000 },
      ...details,
    },
  };
}

const COUNTERS: Partial<UsageDetails> = {
  ...{ cpuUserNanos: 4e9, cpuSystemNanos: 1e9 },
  throttling: { periods: 100, throttledPeriods: 7, throttledNanos: 2e9 },
  ...{ usageBytes: 4 * MIB, rssBytes: 2 * MIB, cacheBytes: MIB, swapBytes: 0 },
  ...{ pageFaults: 50, majorPageFaults: 5, readBytes: 11, writtenBytes: 22 },
};

function reading(atMs: number, webNanos: number, hostNanos: number): Reading {
  return {
    timeMs: atMs,
    at: atMs,
    host: {
      cpus: 4,
      cpuNanos: hostNanos,
      memory: {
        ...{
          totalBytes: 1_000 * MIB,
          usageBytes: 600 * MIB,
          workingSetBytes: 500 * MIB,
          rssBytes: 400 * MIB,
        },
        ...{ swapTotalBytes: 100 * MIB, swapUsageBytes: 10 * MIB, pageFaults: 70, majorPageFaults: 7 },
      },
      interfaces: [ETH0],
      defaultInterface: 'eth0',
      pids: { capacity: 32_768, available: 32_000 },
      nodeFs: {
        bytes: { capacity: 1_000, available: 400 },
        inodes: { capacity: 100, available: 60 },
        device: 1,
      },
      imageFs: { bytes: { capacity: 2_000, available: 500 }, device: 2 },
    },
    containers: [
      usage('c1', 'nginx', webNanos, COUNTERS),
      usage('s1', '', 1e9, { image: 'sandbox:1', interfaces: [ETH0] }),
    ],
  };
}

/** Two readings, ten seconds apart: nginx used half a core, and the host two. */
export const BEFORE = reading(NOW_MS - 10_000, 0, 0);
export const NOW = reading(NOW_MS, 5e9, 20e9);

export const STORAGE: StorageReading = {
  containers: [
    { podUid: 'uid-web', container: 'nginx', attempt: 0, isRunning: false, layerBytes: 9, logBytes: 9 },
    { podUid: 'uid-web', container: 'nginx', attempt: 1, isRunning: true, layerBytes: 30, logBytes: 40 },
  ],
  volumes: new Map([['uid-web', new Map([['cache', 70]])]]),
};

export const PODS: readonly Pod[] = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'uid-web', labels: { app: 'web' } },
    spec: {
      containers: [
        {
          name: 'nginx',
          image: 'nginx:1.28',
          resources: { limits: { cpu: '500m', memory: '10Mi' }, requests: { cpu: '250m' } },
        },
      ],
      volumes: [{ name: 'cache', emptyDir: {} }],
    },
    status: {
      startTime: '2026-01-31T08:59:00Z',
      containerStatuses: [
        {
          ...{ name: 'nginx', ready: true, restartCount: 1, image: 'nginx:1.28', imageID: '' },
          containerID: 'docker://c1',
          state: { running: { startedAt: '2026-01-31T08:59:30Z' } },
        },
      ],
    },
  },
];

export const HOST = {
  ...{ machineID: 'machine', systemUUID: 'system', bootID: 'boot' },
  ...{ kernelVersion: '6.1.0', osImage: 'Debian 12', engineVersion: '20.10', bootedAtMs: NOW_MS - 3_600_000 },
};
