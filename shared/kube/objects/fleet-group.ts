/** API group of the kinds that Kubernetes does not have, and where their annotations begin. */
export const FLEET_GROUP = 'fleet.everynode.dev';
