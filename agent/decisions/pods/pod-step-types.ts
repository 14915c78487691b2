/** The possible steps for a Pod. */
import type { Rejection } from '../admission/pod-admission.js';

/** Every kind of step with its parameters. */
export interface Steps {
  /** Do nothing before `until` (ms since the epoch) or the next event. */
  wait: { until?: number };
  /** The host may not run the Pod. */
  reject: { rejection: Rejection };
  /** The host has the resources for the Pod, which is not checked again. */
  admit: object;
  /** End these Pods (uids), so that the host has the resources for this critical Pod. */
  preempt: { victims: string[] };
  /** End these Pods (uids) of earlier runs, which this Pod replaces. */
  replace: { victims: readonly string[] };
  /** The Pod has exceeded its active deadline. */
  'exceed-deadline': object;
  'prepare-volumes': object;
  /** Refresh the files with content of ConfigMaps, Secrets and Pod fields. */
  'refresh-volumes': object;
  'ensure-image': { container: string };
  'create-sandbox': { attempt: number; backoffMs: number };
  /** `sandboxID`: joins its namespaces. `targetID`: joins its process namespace. */
  'create-container': {
    container: string;
    attempt: number;
    backoffMs: number;
    sandboxID?: string;
    targetID?: string;
  };
  'start-container': { id: string; container: string; attempt: number };
  'run-post-start': { id: string; container: string };
  /** Run this container's preStop hook, at most until `deadline` (ms since the epoch). */
  'run-pre-stop': { id: string; container: string; deadline: number; why: StopReason };
  /** Stop these running containers by `deadline` (ms since the epoch). */
  'stop-containers': { ids: string[]; deadline: number; why: StopReason };
  'remove-containers': { ids: string[] };
  'remove-volumes': object;
  /** Containers and volumes are gone: report it to the hub. */
  finish: object;
}

/** `deletion` and `over` stop the whole Pod. The others restart one container, or those of the sandbox. */
export type StopReason =
  | 'deletion'
  | 'over'
  | 'changed'
  | 'sandbox-lost'
  | 'liveness'
  | 'startup'
  | 'post-start-failed';

/** One step; the table of performers derives from the same `Steps`. */
export type NextAction = { [Kind in keyof Steps]: { kind: Kind } & Steps[Kind] }[keyof Steps];
