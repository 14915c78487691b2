/** The hosts of a DaemonJob by state, and a preview of the hosts of a new one. Computed, never stored. */
import type { DaemonJobResult } from '../daemonjobs/daemonjob-types.js';

/**
 * States of a host, in the order of the console. `Active`: its Pod runs. `Offline`: it has no result and is not reachable.
 * `Waiting`: it has not started, or waits between two attempts.
 */
export const JOB_HOST_STATES = ['Failed', 'Missed', 'Offline', 'Active', 'Waiting', 'Succeeded'] as const;

export type JobHostState = (typeof JOB_HOST_STATES)[number];

/**
 * One host. The fields of its result are present if it has one. The reason and the message of a host that holds its Pod back
 * say why.
 */
export interface JobHost
  extends Partial<
    Pick<DaemonJobResult, 'exitCode' | 'reason' | 'startTime' | 'completionTime' | 'attempts' | 'message'>
  > {
  node: string;
  state: JobHostState;
  /** The newest Pod of the job on the host, if one is stored. */
  pod?: string;
}

/** `GET …/namespaces/NS/daemonjobs/NAME/hosts`. */
export interface DaemonJobHosts {
  /** Number of selected hosts on all pages. */
  total: number;
  /** All hosts of the job by state, without states that no host has. `nodes` is present with `names=true`. */
  states: readonly { state: JobHostState; count: number; nodes?: readonly string[] }[];
  /** One page of the selected hosts, in the order of the states and by name. */
  hosts: readonly JobHost[];
  /** Position of the last host of this page. Absent on the last page. */
  continue?: string;
}

/** `POST …/namespaces/NS/daemonjobpreviews`: the hosts on which a DaemonJob of this spec would run. */
export interface DaemonJobPreview {
  /** Hosts on which the Pod may run. */
  eligible: number;
  /** Those that are offline now. They run it when they return. */
  offline: number;
  /** All hosts of the fleet. */
  hosts: number;
  /** The first names of the eligible hosts. */
  nodes: readonly string[];
}

/** `GET …/hosts/NAME/jobs`: what one host does for the DaemonJobs that the caller may read, newest first. */
export interface JobsOfHost {
  jobs: readonly (JobHost & { namespace: string; name: string })[];
  /** Older jobs that are left out. */
  more: number;
}
