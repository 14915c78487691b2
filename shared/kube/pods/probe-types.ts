/** Probes and lifecycle hooks of containers. */
import type { IntOrString } from '../objects/meta.js';

export interface HTTPGetAction {
  path?: string;
  port: IntOrString;
  host?: string;
  scheme?: string;
  httpHeaders?: { name: string; value: string }[];
}

/** The action of a probe or hook. Exactly one field is set. */
export interface Handler {
  exec?: { command?: string[] };
  httpGet?: HTTPGetAction;
  tcpSocket?: { port: IntOrString; host?: string };
  /** Probes only. */
  grpc?: { port: number; service?: string };
  /** Hooks only. */
  sleep?: { seconds: number };
}

/** Times in seconds. */
export interface Probe extends Handler {
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
}

export interface Lifecycle {
  postStart?: Handler;
  preStop?: Handler;
  stopSignal?: string;
}
