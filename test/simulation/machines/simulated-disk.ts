/**
 * The parts of a simulated host's disk that outlive the agent: desired cache, coordinator time, runs of DaemonJobs,
 * manifests of static Pods.
 */
import { revertOf } from '../../../agent/decisions/handovers/handover-record.js';
import { type AssignedPod, successorUidOf } from '../../../agent/decisions/pods/assigned-pod.js';
import type { DurableFile } from '../../../agent/desired/durable-file.js';
import type { ManifestDirectory } from '../../../agent/desired/static-pod-directory.js';
import type { StoredAddresses } from '../../../agent/link/coordinator-addresses.js';
import type { RevertReason } from '../../../shared/kube/handovers/host-handover.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ProgramLifetime } from './program-lifetime.js';

/** Receives the host's own decisions once they are on its disk. */
export interface HandoverWatcher {
  /** The host replaces this Pod now. */
  onStarted: (podUid: string, successorUid: string) => void;
  /** The host takes this Pod back. */
  onReverted: (podUid: string, reason: RevertReason) => void;
}

export class HostDisk {
  /** The agent can write nothing. */
  isFull = false;
  #cache: string | undefined;
  #heardTime: string | undefined;
  #jobRuns: string | undefined;
  #addresses: StoredAddresses | undefined;
  /** Handovers and reverts that were already reported. */
  readonly #told = new Set<string>();
  readonly #manifests = new Map<string, string>();

  /** The desired cache is rubbish from now on: what a power cut may leave of a bad disk. */
  damageCache(): void {
    if (this.#cache !== undefined) this.#cache = `${this.#cache.slice(0, 40)}\u0000`;
  }

  /** Lays a static Pod's manifest down, or takes it away. */
  writeManifest(name: string, image: string | null): void {
    if (image === null) this.#manifests.delete(`${name}.yaml`);
    else this.#manifests.set(`${name}.yaml`, manifest(name, image));
  }

  /** The static Pods that lie there, by the names of their manifests. */
  staticPods(): { name: string; image: string }[] {
    return [...this.#manifests.values()].map((text) => {
      const { metadata, spec } = JSON.parse(text) as Pod;
      return { name: metadata.name, image: spec.containers[0]?.image ?? '' };
    });
  }

  /**
   * The cache file of one lifetime of the agent. `onTurns` receives each handover that a write contains for the first
   * time.
   */
  cacheFor(life: ProgramLifetime, onTurns: HandoverWatcher): DurableFile {
    return {
      read: () => life.perform(() => this.#cache),
      write: (text) =>
        life.perform(() => {
          if (this.isFull)
            throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
          this.#cache = text;
          this.#tellTurns(text, onTurns);
        }),
      quarantine: (mark) =>
        life.perform(() => {
          this.#cache = undefined;
          return mark;
        }),
    };
  }

  /** Where the agent keeps the coordinator's time. */
  coordinatorTimeFor(life: ProgramLifetime): DurableFile {
    return {
      read: () => life.perform(() => this.#heardTime),
      write: (text) =>
        life.perform(() => {
          this.#heardTime = text;
        }),
      quarantine: async (mark) => mark,
    };
  }

  /** What the host did for Pods of DaemonJobs. A full disk takes it, because the agent keeps a reserve for it. */
  jobRunsFor(life: ProgramLifetime): DurableFile {
    return {
      read: async () => this.#jobRuns,
      write: (text) =>
        life.perform(() => {
          this.#jobRuns = text;
        }),
      quarantine: async (mark) => mark,
    };
  }

  /** The addresses of the coordinators. */
  readAddresses(life: ProgramLifetime): Promise<StoredAddresses | undefined> {
    return life.perform(() => this.#addresses);
  }

  writeAddresses(life: ProgramLifetime, addresses: StoredAddresses): Promise<void> {
    return life.perform(() => {
      this.#addresses = addresses;
    });
  }

  /** Most writes say nothing of turns, and are not read. */
  #tellTurns(text: string, { onStarted: onBegun, onReverted }: HandoverWatcher): void {
    if (!/"replacedBy"|"clearing"|"reverted"/.test(text)) return;
    const { pods } = JSON.parse(text.slice(text.indexOf('\n'))) as { pods: AssignedPod[] };
    const isNews = (what: string) => !this.#told.has(what) && this.#told.add(what);
    for (const pod of pods) {
      const { uid } = pod;
      const replacedBy = successorUidOf(pod);
      const revert = revertOf(pod);
      if (replacedBy !== undefined && isNews(`${uid} begun for ${replacedBy}`)) onBegun(uid, replacedBy);
      if (revert && isNews(`${uid} reverted`)) onReverted(uid, revert.reason);
    }
  }

  /** There are no change notifications: the agent finds changes when it polls. */
  manifestsFor(life: ProgramLifetime): ManifestDirectory {
    return {
      path: '/manifests',
      names: () => life.perform(() => [...this.#manifests.keys()]),
      text: (name) => life.perform(() => this.#manifests.get(name)),
      watch: () => undefined,
    };
  }
}

function manifest(name: string, image: string): string {
  const metadata = { name, labels: { static: name } };
  const spec = { terminationGracePeriodSeconds: 5, containers: [{ name: 'app', image }] };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
}
