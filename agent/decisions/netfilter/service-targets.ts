/** Which endpoints of a Service receive the traffic of this host. */

/** Facts about the node that the rules depend on. */
export interface ProxyNode {
  name: string;
  /** Value of the label `topology.kubernetes.io/zone`; "" if unknown. */
  zone: string;
  /** The node's own addresses: the `InternalIP`s of its status. */
  addresses: readonly string[];
}
