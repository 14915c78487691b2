/** v1 ServiceAccount. Declares only the fields that this program reads. */
import type { KubeObject } from '../objects/meta.js';

export interface ServiceAccount extends KubeObject {
  secrets?: { name?: string }[];
  imagePullSecrets?: { name?: string }[];
  /** False: Pods of this account get no token. Default: true. */
  automountServiceAccountToken?: boolean;
}
