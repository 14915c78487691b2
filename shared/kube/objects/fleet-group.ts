/** API group of Everynode's own kinds, and the prefix of their annotations. */
export const FLEET_GROUP = 'fleet.everynode.dev';
