/** generateName (`k8s.io/apiserver/pkg/storage/names`). */

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const RANDOM_LENGTH = 5;
const MAX_BASE_LENGTH = 63 - RANDOM_LENGTH;

/** `base`, cut to 58 characters, and five random ones of upstream's alphabet. `random` is uniform in [0, 1). */
export function generateName(base: string, random: () => number): string {
  const suffix = Array.from(
    { length: RANDOM_LENGTH },
    () => ALPHABET[Math.floor(random() * ALPHABET.length)],
  );
  return base.slice(0, MAX_BASE_LENGTH) + suffix.join('');
}
