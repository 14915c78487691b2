/** This product's annotations of a Service. */
import type { ObjectMeta } from '../objects/meta.js';

/**
 * Annotation of a Service. With `true`, each host with an endpoint listens on a relay port and passes connections to its
 * own Pods. For Pods that other hosts cannot reach, because they have neither a hostPort nor the host's network.
 */
export const RELAY_ANNOTATION = 'fleet.everynode.dev/relay';

/** Annotation of a Service: its relay ports by port, such as `80:30123,443:31777`. Only the coordinator writes it. */
export const RELAY_PORTS_ANNOTATION = 'fleet.everynode.dev/relay-ports';

/** Annotation of a Service. With `zone`, endpoints in other zones are not used at all: sites cannot reach each other. */
export const WITHIN_ANNOTATION = 'fleet.everynode.dev/within';

export function wantsRelay({ annotations }: ObjectMeta): boolean {
  return annotations?.[RELAY_ANNOTATION] === 'true';
}

/** Returns the allocated relay ports by TCP port of the Service. Ignores what cannot be read. */
export function relayPortsOf({ annotations }: ObjectMeta): Map<number, number> {
  const pairs = (annotations?.[RELAY_PORTS_ANNOTATION] ?? '').split(',').map((pair) => pair.split(':'));
  const numbers = pairs.map(([port, relayPort]): [number, number] => [Number(port), Number(relayPort)]);
  return new Map(numbers.filter(([port, relayPort]) => port > 0 && relayPort > 0));
}

export function relayPortsText(relayPorts: ReadonlyMap<number, number>): string {
  return [...relayPorts].map(([port, relayPort]) => `${port}:${relayPort}`).join(',');
}
