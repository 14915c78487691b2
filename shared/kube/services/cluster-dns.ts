/** Names and addresses of the cluster DNS that each agent serves for its Pods. */

/** Zone of Service names: `SERVICE.NAMESPACE.svc.cluster.local`. */
export const CLUSTER_DOMAIN = 'cluster.local';
/** Link-local address of the agent's DNS server. It exists on each host, on the loopback device alone. */
export const CLUSTER_DNS_ADDRESS = '169.254.20.53';
export const DNS_PORT = 53;
/** Time to live of answers about Services, in seconds. */
export const SERVICE_TTL_SECONDS = 5;
