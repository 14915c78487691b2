/** Decides whether a coordinator accepts the signed list of a release. Pure. */
import type { KeyObject } from 'node:crypto';
import { compareVersions } from '../../../shared/process/release-version.js';
import { fingerprint, pemOf, type ReleaseTrust, releaseKey } from './release-trust.js';
import {
  isSignedBy,
  parseSums,
  ReleaseError,
  SIGNATURE_FILE,
  type SignedSums,
  SUMS_FILE,
} from './signed-sums.js';

/** The public key in a release's folder. Used only for the first release of a coordinator. */
export const KEY_FILE = 'release.pub';

/** Largest file of a release. An unpacked agent has 110 MB. */
export const MAX_FILE_BYTES = 512 * 2 ** 20;

/** The list of a release's files as it was received. Nothing in it is verified. */
export interface ReleaseList {
  /** Text of `SHA256SUMS`. */
  sums: string;
  /** Text of `SHA256SUMS.sig`. */
  signature: string;
  /** PEM of the key that the release brings; absent without the file. */
  key?: string;
}

interface AcceptedList {
  signed: SignedSums;
  /** The key that signed the list. */
  key: KeyObject;
}

/** Returns the list and its key if the trusted key, or the first key, signed it. Throws `ReleaseError`. */
export function acceptList(list: ReleaseList, trust: ReleaseTrust): AcceptedList {
  const pem = trust.key ?? list.key;
  if (pem === undefined) {
    throw new ReleaseError(`it has no ${KEY_FILE}, and this coordinator has no trusted release key yet`);
  }
  const key = releaseKey(pem);
  if (!isSignedBy(key, Buffer.from(list.sums), list.signature)) {
    throw new ReleaseError(whyUnsigned(list, pem));
  }
  const signed = parseSums(list.sums);
  if (trust.floor !== undefined && compareVersions(signed.version, trust.floor) < 0) {
    throw new ReleaseError(
      `its version ${signed.version} is older than ${trust.floor}, the oldest version that this coordinator allows (everynode release floor)`,
    );
  }
  return { signed, key };
}

function whyUnsigned({ sums, signature, key }: ReleaseList, trusted: string): string {
  const expected = fingerprint(releaseKey(trusted));
  if (key !== undefined && pemOf(releaseKey(key)) !== trusted.trim()) {
    const other = releaseKey(key);
    if (isSignedBy(other, Buffer.from(sums), signature)) {
      return `it is signed by the key ${fingerprint(other)}, and this coordinator trusts ${expected}. If the release key was changed on purpose: everynode release trust ${KEY_FILE}`;
    }
  }
  return `${SIGNATURE_FILE} is not the signature of ${SUMS_FILE} by the key ${expected}: the list was changed or signed by another key`;
}
