/** fleet.everynode.dev/v1 JoinAddress: the data that a joining host needs besides its token. None of it is secret. */

export interface JoinAddress {
  kind: 'JoinAddress';
  apiVersion: string;
  /** `https://HOST:PORT` at which other hosts reach the coordinator. */
  server: string;
  /** Lower-case hex SHA-256 of the CA's public key. It is the last part of a token. */
  authorityHash: string;
  /** Download of the agent from the coordinator. Absent if the coordinator has no release to serve. */
  installer?: {
    /** Path of the install script on the server. */
    path: string;
    /** Base64 SHA-256 of the coordinator's public key, for curl's `--pinnedpubkey`. */
    pin: string;
  };
  /** True if an operator must approve each new host. */
  approval: boolean;
}

/**
 * Returns the command that joins a host. `token` is `ID.SECRET`. The token is never an argument of a program: every
 * user of the host could read it in the process list, and sudo would log it. `echo` is built into the shell.
 */
export function joinCommand({ server, authorityHash, installer }: JoinAddress, token: string): string {
  const whole = `${token}.${authorityHash}`;
  if (!installer) return `echo ${whole} | everynode-agent --server ${server} --token-file -`;
  const curl = `curl -fsSk --pinnedpubkey 'sha256//${installer.pin}' ${server}${installer.path}`;
  return `{ echo EVERYNODE_TOKEN=${whole}; ${curl}; } | sudo sh -s --`;
}
