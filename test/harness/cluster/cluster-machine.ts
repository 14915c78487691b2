/** Where the programs of one member of a cluster run. */
export interface ClusterMachine {
  /** IPv4 address of the coordinator and of the member of etcd. */
  readonly address: string;
  /** Command with arguments that runs a program in the machine's network. Empty: this machine. */
  readonly enter: readonly string[];
  /** Data directory of the coordinator. Default: a directory of the cluster. */
  readonly dataDir?: string;
  /** Variables of the coordinator. */
  readonly environment?: Readonly<Record<string, string>>;
}

export const THIS_MACHINE: ClusterMachine = { address: '127.0.0.1', enter: [] };
