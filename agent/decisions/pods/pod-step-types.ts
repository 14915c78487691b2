/** What can be done next for a Pod. */
import type { Rejection } from '../admission/pod-admission.js';

/** Every kind of step, with what its performer is told. */
export interface Steps {
  /** Nothing to do before `until` (ms since the epoch), or before something happens. */
  wait: { until?: number };
  /** The host may not run the Pod at all. */
  reject: { rejection: Rejection };
  /** The Pod has run as long as it may. */
  'exceed-deadline': object;
  'prepare-volumes': object;
  /** Bring the files that show ConfigMaps, Secrets and fields of the Pod up to date. */
  'refresh-volumes': object;
  'ensure-image': { container: string };
  'create-sandbox': { attempt: number; backoffMs: number };
  'create-container': { container: string; attempt: number; backoffMs: number; sandboxID?: string };
  'start-container': { id: string; container: string; attempt: number };
  'run-post-start': { id: string; container: string };
  /** Run the hook of this running container, at most until `deadline` (ms since the epoch), because it is to end by then. */
  'run-pre-stop': { id: string; container: string; deadline: number; why: StopReason };
  /** Ask these running containers to end by `deadline` (ms since the epoch). */
  'stop-containers': { ids: string[]; deadline: number; why: StopReason };
  'remove-containers': { ids: string[] };
  'remove-volumes': object;
  /** Containers and volumes are gone: tell the hub. */
  finish: object;
}

/** `deletion`, `over`: with the whole Pod. The others restart one container, or the sandbox's. */
export type StopReason =
  | 'deletion'
  | 'over'
  | 'changed'
  | 'sandbox-lost'
  | 'liveness'
  | 'startup'
  | 'post-start-failed';

/** One step; the performers' record derives from the same `Steps`. */
export type NextAction = { [Kind in keyof Steps]: { kind: Kind } & Steps[Kind] }[keyof Steps];
