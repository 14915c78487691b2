/** The kinds of artefacts of a release. */

const KINDS = {
  agents: [],
  npm: [],
  packages: [],
  images: [],
  // The bundle contains both. Without them it would install nothing.
  offline: ['agents', 'packages'],
};

/** All kinds. */
export const RELEASE_KINDS = Object.keys(KINDS);

/** Returns the kinds of the list `only`, with those that they contain. Throws an Error for an unknown kind. */
export function wantedKinds(only) {
  const kinds = only.split(',');
  const unknown = kinds.find((kind) => !RELEASE_KINDS.includes(kind));
  if (unknown !== undefined) throw new Error(`--only ${unknown} is not one of ${RELEASE_KINDS.join(', ')}`);
  return new Set(kinds.flatMap((kind) => [kind, ...KINDS[kind]]));
}

/** Returns the programs that the kinds contain. The npm package has both as JavaScript. */
export function programsOf(kinds) {
  const isInstalled = kinds.has('packages') || kinds.has('images');
  return { agent: isInstalled || kinds.has('agents'), coordinator: isInstalled };
}
