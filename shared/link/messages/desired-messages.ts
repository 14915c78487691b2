/** Messages about desired state. */

/** An object on the agent, with the digest of its bytes. Empty if only the container engine knows the Pod. */
export type ObjectDigest = [uid: string, digest: string];

/** HMAC with which the hub can verify later that it sent these bytes to this node. Opaque to agents, which store it. */
export interface ObjectMac {
  /** Epoch and store revision at which the object was sent. */
  epoch: string;
  revision: number;
  /** HMAC over node, epoch, revision, uid and bytes, base64url. */
  tag: string;
}

/** One object of the node's desired state. `object` is its JSON without status, managedFields and resourceVersion. */
export interface DesiredObject {
  uid: string;
  digest: string;
  /** Absent for a Pod. Other kinds precede the Pods that use them. */
  kind?: 'ConfigMap' | 'Secret';
  /** UTF-8 JSON bytes. Encoded once for all nodes. */
  object: Uint8Array;
  /** The agent stores it with the object, for a later restore of the store from an older backup. */
  mac?: ObjectMac;
}

/** A change of the desired state. Large changes are split, and each part is sent after the previous one. */
export interface Desired {
  kind: 'desired';
  id: number;
  revision: number;
  set: DesiredObject[];
  /** Uids of objects to delete. Pods are stopped first. */
  removed: string[];
}

/** After a restore: uids of objects that the host has and the store lost. */
export interface ReturnRequest {
  kind: 'returnRequest';
  uids: string[];
}

/**
 * Images that the node should have before a Pod needs them, named as Pods name them. Each
 * message carries the whole list. The agent pulls missing images and protects all of them from garbage collection. Not
 * acknowledged.
 */
export interface PrefetchImages {
  kind: 'prefetchImages';
  images: string[];
}

/** The bytes of a requested uid as they were sent, with their HMAC. Without `object`: unknown to the host. */
export interface ReturnedObject {
  uid: string;
  object?: Uint8Array;
  mac?: ObjectMac;
}

/** From the agent: a change of the desired state is on disk. Containers may still have to start or stop. */
export interface Applied {
  kind: 'applied';
  /** Id of the `desired` message, which is now on disk. */
  id: number;
}
