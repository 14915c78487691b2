/** What a node is to hold, on its way down, and what goes back up of it. */

/** What an agent holds of one object: its uid, and the digest of the bytes given, "" when only the engine has it. */
export type ObjectDigest = [uid: string, digest: string];

/** The hub's word that it gave these bytes to this node. Agents keep it and understand nothing of it. */
export interface ObjectMac {
  /** Era and revision at which the object was given. */
  epoch: string;
  revision: number;
  /** Keyed hash over node, epoch, revision, uid and bytes, base64url. */
  tag: string;
}

/** One object that the node is to hold. `object` is its JSON (no status, managedFields, resourceVersion). */
export interface DesiredObject {
  uid: string;
  digest: string;
  /** Absent: a Pod. Others only with feature `configObjects`, and before the Pods that name them. */
  kind?: 'ConfigMap' | 'Secret';
  /** UTF-8 JSON bytes. Encoded once, whoever receives them. */
  object: Uint8Array;
  /** Kept with the object, for a day when the store has lost it. */
  mac?: ObjectMac;
}

/** A difference, whole by itself: a large one comes as several, each sent when the one before was applied. */
export interface Desired {
  kind: 'desired';
  id: number;
  revision: number;
  set: DesiredObject[];
  /** Uids of objects to stop and drop. */
  removed: string[];
}

/** Feature `returnObjects`: after a restore, uids that the host holds and the store has lost. */
export interface ReturnRequest {
  kind: 'ask';
  uids: string[];
}

/**
 * Feature `prefetchImages`: the images that the node is to have before any Pod asks for them, as Pods name them. The whole
 * list each time; the agent pulls what it lacks and removes none of them. Nothing is answered.
 */
export interface PinnedImages {
  kind: 'prefetchImages';
  images: string[];
}

/** Answers an `ask` for one uid: the bytes as they were given, with their seal; without, the host has none. */
export interface ReturnedObject {
  uid: string;
  object?: Uint8Array;
  mac?: ObjectMac;
}

export interface Applied {
  kind: 'applied';
  /** The `desired` that is now on disk. */
  id: number;
}
