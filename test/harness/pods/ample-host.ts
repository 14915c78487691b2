/**
 * What agents under test are told about their host: it is short of nothing. How full the disk of the machine is on which the
 * tests run, and how much of its memory others use, must decide no test.
 */

/** Variables of an agent that evicts nothing and removes no image for want of room. A flag or a test's own variable goes before. */
export const AMPLE_HOST: Readonly<Record<string, string>> = {
  // What is given takes the place of all defaults; given nothing, they would hold.
  EVERYNODE_AGENT_EVICTION_HARD: 'memory.available<1Mi',
  EVERYNODE_AGENT_IMAGE_GC_HIGH_THRESHOLD: '100',
};

/** The same as arguments of `env`. */
export const AMPLE_HOST_ARGS: readonly string[] = wordsOf(AMPLE_HOST);

/** The same as lines of a unit's section `[Service]`. */
export const AMPLE_HOST_LINES: string = AMPLE_HOST_ARGS.map((word) => `Environment="${word}"\n`).join('');

function wordsOf(variables: Readonly<Record<string, string>>): string[] {
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}
