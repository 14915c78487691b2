/** What the API asks of whoever knows all hosts at a glance. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';

/** One host as JSON text; `undefined` when it is gone. */
export interface HostText {
  name: string;
  json: string | undefined;
}

export interface HostFeed {
  list(): Promise<readonly Host[]>;
  get(name: string): Promise<Host | undefined>;
  /** All hosts, and every later change until `leave`. */
  watch(onChange: (changed: readonly HostText[]) => void): Promise<{ first: HostText[]; leave: () => void }>;
}
