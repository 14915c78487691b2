/** fleet.everynode.dev/v1 JoinAddress: what a host that is to join must be told besides its token. Nothing of it is secret. */

export interface JoinAddress {
  kind: 'JoinAddress';
  apiVersion: string;
  /** `https://HOST:PORT` as other hosts reach it. */
  server: string;
  /** Lower-case hex SHA-256 of the authority's public key: the last part of a token. */
  authorityHash: string;
  /** How a host without the agent gets it from the coordinator; absent where the coordinator has no release to give. */
  installer?: {
    /** Path of the script on the server. */
    path: string;
    /** Base64 SHA-256 of the public key that the coordinator serves with, as curl pins it. */
    pin: string;
  };
  /** True when each new host waits for a person's word. */
  approval: boolean;
}

/**
 * The line to type on the host. `token`: `ID.SECRET`. No program gets the token as an argument: every user of the host could read
 * it, and sudo would log it. `echo` is part of the shell and writes the token into a pipe.
 */
export function joinCommand({ server, authorityHash, installer }: JoinAddress, token: string): string {
  const whole = `${token}.${authorityHash}`;
  if (!installer) return `echo ${whole} | everynode-agent --server ${server} --token-file -`;
  const curl = `curl -fsSk --pinnedpubkey 'sha256//${installer.pin}' ${server}${installer.path}`;
  return `{ echo EVERYNODE_TOKEN=${whole}; ${curl}; } | sudo sh -s --`;
}
