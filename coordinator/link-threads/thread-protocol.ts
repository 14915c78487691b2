/** What the main thread and a link thread pass to each other outside of batches. */
import type { ConnectionLimits, ServingTls } from '../api/http/tls-options.js';
import type { LinkRequest } from '../hub/sessions/link-upgrade.js';
import type { RefusalReport } from './refusal-reports.js';

/** `workerData` of a link thread. */
export interface ThreadSettings {
  readonly host: string;
  readonly port: number;
  /** Port of the main thread's API on loopback. Connections that are no links are passed on to it. */
  readonly apiPort: number;
  /** Signs the headers before the bytes of such connections. */
  readonly headerKey: Uint8Array;
  readonly doorId: string;
  readonly tls: ServingTls;
  readonly limits: ConnectionLimits;
  /** How many threads share the limits of the port. */
  readonly threads: number;
  readonly counters: SharedArrayBuffer;
}

/** A buffer is a `MessageBatch`. */
export type FromThread =
  | Uint8Array
  | { readonly kind: 'listening' }
  | { readonly kind: 'refused'; readonly report: RefusalReport };

export type ToThread =
  | Uint8Array
  | { readonly kind: 'renew'; readonly tls: ServingTls }
  | { readonly kind: 'close' };

/** Body of an `upgrade`. `slot`: of the link's counters. */
export type UpgradeNotice = LinkRequest & { readonly slot: number };
