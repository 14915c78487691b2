/** Images as an operator reads them: the last part of the name, with its tag or the start of its digest. Pure. */
import type { ControllerRevision } from '../../../shared/kube/daemonsets/daemonset-types.js';

const DIGEST_CHARACTERS = 12;

/** Returns `till:1.4.1` for `registry.example:5000/shop/till:1.4.1`. */
export function shortImage(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  const [tagged = '', digest] = name.split('@sha256:');
  if (digest === undefined) return tagged;
  return tagged.includes(':') ? tagged : `${tagged}@${digest.slice(0, DIGEST_CHARACTERS)}`;
}

/** Returns the short images of the containers, in their order, without duplicates. */
export function imagesText(containers: readonly { image?: string }[] = []): string {
  return [...new Set(containers.map(({ image }) => shortImage(image ?? 'no image')))].join(', ');
}

/** Returns the short images of a revision's template. Empty if there is no revision. */
export function imagesOfRevision(revision: ControllerRevision | undefined): string {
  const data = revision?.data as
    | { spec?: { template?: { spec?: { containers?: { image?: string }[] } } } }
    | undefined;
  return imagesText(data?.spec?.template?.spec?.containers);
}
