/**
 * Settings of agents under test that make their host look free of resource pressure. The machine's disk and memory
 * usage must not influence a test, and a test must not write to the machine's own log directory.
 */

/** Variables of an agent that evicts no Pod and removes no image. A flag or a test's own variable overrides them. */
export const AMPLE_HOST: Readonly<Record<string, string>> = {
  // An explicit value replaces all defaults.
  EVERYNODE_AGENT_EVICTION_HARD: 'memory.available<1Mi',
  EVERYNODE_AGENT_IMAGE_GC_HIGH_THRESHOLD: '100',
  // The log files of Pods would be in this machine's /var/log. Their own tests use another directory.
  EVERYNODE_AGENT_POD_LOG_FILES: 'off',
};

/** AMPLE_HOST as arguments of `env`. */
export const AMPLE_HOST_ARGS: readonly string[] = wordsOf(AMPLE_HOST);

/** AMPLE_HOST as lines of a unit's section `[Service]`. */
export const AMPLE_HOST_LINES: string = AMPLE_HOST_ARGS.map((word) => `Environment="${word}"\n`).join('');

function wordsOf(variables: Readonly<Record<string, string>>): string[] {
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}
