/**
 * The rules for Services, with kube-proxy's nftables mode as the model (KEP-3866): one lookup finds the chain for a port
 * of a Service, and that chain chooses a random endpoint. Data from the hub reaches the text only after validation:
 * addresses and ports are parsed, and names are hashed.
 */
import { createHash } from 'node:crypto';
import type { ViewedPort } from '../../../shared/kube/services/service-view.js';
import type { HostService } from '../services/host-service.js';
import { baseChains, LOOKUPS, type LookupElements, SAME_DEVICE } from './base-rules.js';
import type { NftChain, NftRuleset, NftSet } from './nft-ruleset.js';
import {
  isUsableAddress,
  isUsablePort,
  type ProxyNode,
  portTargets,
  type Target,
} from './service-targets.js';

const PROTOCOLS = new Map([
  ['TCP', 'tcp'],
  ['UDP', 'udp'],
  ['SCTP', 'sctp'],
]);
const HASH_CHARACTERS = 12;
/** The kernel's limit for a comment is 127 bytes. */
const MAX_COMMENT_CHARACTERS = 100;
/** Upstream's limit of `sessionAffinityConfig.clientIP.timeoutSeconds`. */
const MAX_AFFINITY_SECONDS = 86_400;
/** Clients of an endpoint whose affinity is remembered. Further clients have none. */
const MAX_CLIENTS = 65_535;

/** A port of a Service whose data is valid. */
interface ServicePort {
  service: HostService;
  index: number;
  port: ViewedPort;
  protocol: string;
  clusterIP: string;
  /** Names the port in listings of the rules. */
  comment: string;
}

/**
 * Returns the whole table for these Services. If two Services have the same address and port, the first in the order of
 * names receives the traffic.
 */
export function serviceRuleset(services: readonly HostService[], node: ProxyNode): NftRuleset {
  const builder = new RulesetBuilder(node);
  for (const port of services.flatMap(validPorts).sort(byName)) builder.add(port);
  return builder.ruleset();
}

function validPorts(service: HostService): ServicePort[] {
  const { addressing, ports, namespace, name } = service.view;
  if (addressing.type !== 'clusterIP' || !isUsableAddress(addressing.address)) return [];
  const clusterIP = addressing.address;
  return ports.flatMap((port, index) => {
    const protocol = PROTOCOLS.get(port.protocol);
    if (protocol === undefined || !isUsablePort(port.port)) return [];
    const comment = plainText(`${namespace}/${name}${port.name ? `:${port.name}` : ''}`);
    return [{ service, index, port, protocol, clusterIP, comment }];
  });
}

/** A quote or a line end would end the comment and start another command. */
function plainText(text: string): string {
  return text.replace(/[^\w./:-]/g, '?').slice(0, MAX_COMMENT_CHARACTERS);
}

function byName(one: ServicePort, other: ServicePort): number {
  if (one.comment !== other.comment) return one.comment < other.comment ? -1 : 1;
  return one.port.port - other.port.port;
}

function hash(...parts: (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, HASH_CHARACTERS);
}

class RulesetBuilder {
  readonly #chains = new Map<string, NftChain>();
  readonly #sets = new Map<string, NftSet>([[SAME_DEVICE.name, { kind: 'packets', type: SAME_DEVICE.type }]]);
  readonly #elements: LookupElements = {
    clusterIPs: new Map(),
    clusterIPPorts: new Map(),
    nodePorts: new Map(),
    nodePortPorts: new Map(),
    idleNodePorts: new Map(),
    localNodePortTargets: new Map(),
    remoteNodePortTargets: new Map(),
    ownAddresses: new Map(),
  };

  readonly #udpEndpoints = new Map<string, ReadonlySet<string>>();

  constructor(private readonly node: ProxyNode) {}

  add(service: ServicePort): void {
    const { clusterIP, protocol, port } = service;
    const { clusterIPs, clusterIPPorts, ownAddresses } = this.#elements;
    const { internal, external, isExternalLocal } = portTargets(service.service, service.index, this.node);
    clusterIPs.set(clusterIP, '');
    for (const { direct } of service.service.local)
      for (const address of direct.addresses.filter(isUsableAddress))
        ownAddresses.set(`${address} . ${address}`, '');
    const key = `${clusterIP} . ${protocol} . ${port.port}`;
    if (internal.length > 0 && !clusterIPPorts.has(key)) {
      clusterIPPorts.set(key, this.#addChoice(`svc-${hash(key)}`, service, internal));
    }
    this.#recordUdp(service, `${clusterIP} ${port.port}`, internal);
    if (isUsablePort(port.nodePort)) this.#addNodePort(service, external, isExternalLocal);
  }

  ruleset(): NftRuleset {
    const hasNodePorts = this.#elements.nodePorts.size > 0;
    const sets = new Map(this.#sets);
    for (const [key, { name, kind, type }] of Object.entries(LOOKUPS))
      sets.set(name, { kind, type, elements: this.#elements[key as keyof LookupElements] });
    const chains = new Map([...baseChains({ hasNodePorts }), ...this.#chains]);
    return { chains, sets, udpEndpoints: this.#udpEndpoints };
  }

  /** Of two Services with the same key, the first with endpoints receives the traffic. */
  #recordUdp({ protocol }: ServicePort, key: string, targets: readonly Target[]): void {
    const isServed = (this.#udpEndpoints.get(key)?.size ?? 0) > 0;
    if (protocol === 'udp' && !isServed)
      this.#udpEndpoints.set(key, new Set(targets.map(({ address }) => address)));
  }

  #addNodePort(service: ServicePort, targets: readonly Target[], isLocal: boolean): void {
    const elements = this.#elements;
    const { protocol, port } = service;
    const key = `${protocol} . ${port.nodePort}`;
    if (elements.nodePorts.has(key)) return;
    elements.nodePorts.set(key, '');
    this.#recordUdp(service, ` ${port.nodePort}`, targets);
    if (targets.length === 0) {
      elements.idleNodePorts.set(key, '');
      return;
    }
    elements.nodePortPorts.set(key, this.#addChoice(`ext-${hash(key)}`, service, targets));
    const set = isLocal ? elements.localNodePortTargets : elements.remoteNodePortTargets;
    for (const target of targets) set.set(`${protocol} . ${target.address} . ${target.port}`, '');
  }

  /** Adds the chain that chooses one of the targets, and returns the verdict that leads to it. */
  #addChoice(name: string, service: ServicePort, targets: readonly Target[]): string {
    const { protocol, comment } = service;
    const { affinitySeconds } = service.service.view.traffic;
    const isValid = Number.isInteger(affinitySeconds) && affinitySeconds > 0;
    const seconds = isValid ? Math.min(affinitySeconds, MAX_AFFINITY_SECONDS) : 0;
    const rules =
      seconds > 0 ? this.#affinityRules(service, targets, seconds) : [translation(protocol, targets)];
    this.#chains.set(name, { rules: rules.map((rule) => `${rule} comment "${comment}"`) });
    return `goto ${name}`;
  }

  /** A client whose address is in the set of an endpoint goes there, any other to a random one. */
  #affinityRules(service: ServicePort, targets: readonly Target[], seconds: number): string[] {
    const { clusterIP, protocol, port, comment } = service;
    const names = targets.map((target) => {
      const name = `aff-${hash(clusterIP, protocol, port.port, target.address, target.port, seconds)}`;
      const type = `type ipv4_addr; flags dynamic,timeout; timeout ${seconds}s; size ${MAX_CLIENTS}`;
      this.#sets.set(name, { kind: 'packets', type });
      const rules = [`update @${name} { ip saddr }`, translation(protocol, [target])];
      this.#chains.set(name, { rules: rules.map((rule) => `${rule} comment "${comment}"`) });
      return name;
    });
    const choices = names.map((name, index) => `${index} : goto ${name}`).join(', ');
    return [
      ...names.map((name) => `ip saddr @${name} goto ${name}`),
      `numgen random mod ${names.length} vmap { ${choices} }`,
    ];
  }
}

/** Returns the rule that sends a connection to one of the targets, at random. */
function translation(protocol: string, targets: readonly Target[]): string {
  const [first] = targets;
  if (first && targets.length === 1) return `meta l4proto ${protocol} dnat to ${first.address}:${first.port}`;
  const choices = targets.map(({ address, port }, index) => `${index} : ${address} . ${port}`).join(', ');
  return `meta l4proto ${protocol} dnat ip addr . port to numgen random mod ${targets.length} map { ${choices} }`;
}
