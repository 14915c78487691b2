/** What the API asks of its surroundings about joining. */

/** What is known of the address at this moment. */
export interface JoinFacts {
  /** `https://HOST:PORT` as other hosts reach it. */
  server: string;
  /** PEM of the authority that new hosts pin, and of what the port serves with. */
  authority: string;
  serving: string;
  /** Whether there is an agent to give. */
  hasRelease: boolean;
  approval: boolean;
}
