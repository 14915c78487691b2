/** Namespace, ConfigMap and Secret. */
import type { Condition } from './conditions.js';
import type { KubeObject } from './meta.js';

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: 'Active' | 'Terminating'; conditions?: Condition[] };
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  /** Base64 values. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

export interface Secret extends KubeObject {
  /** Base64 values. */
  data?: Record<string, string>;
  /** Plain values in requests. The server moves them into `data`. */
  stringData?: Record<string, string>;
  type?: string;
  immutable?: boolean;
}
