/** Keeps the MAC address of the engine's bridge, see `decisions/bridge-to-pin.ts`. */
import type { Logger } from '../../shared/process/output/logger.js';
import { bridgesOfPods, type HostBridge, needsPin } from '../decisions/bridge-to-pin.js';
import type { EngineNetwork } from './engine-network-namespace.js';
import { hostBridge, hostBridges, pinBridge } from './host-bridges.js';

interface BridgePinDeps {
  /** Resolves with the network of the engine, whose bridges may be in another network namespace. */
  network: () => Promise<EngineNetwork>;
  log: Logger;
  /** Replaced in tests. */
  host?: HostBridges;
}

/** The bridges of the host. */
interface HostBridges {
  all(): HostBridge[];
  find(device: string): HostBridge | undefined;
  pin(bridge: HostBridge): Promise<void>;
}

const OWN_HOST: HostBridges = { all: hostBridges, find: hostBridge, pin: pinBridge };

export class BridgePin {
  readonly #deps: BridgePinDeps;
  readonly #host: HostBridges;
  /** The bridge that was last seen with a fixed address. */
  #device: string | undefined;
  #isImpossible = false;
  /** The last Pod was on no bridge of this network namespace, as with a rootless engine. */
  #isElsewhere = false;

  constructor(deps: BridgePinDeps) {
    this.#deps = deps;
    this.#host = deps.host ?? OWN_HOST;
  }

  /** False if the bridge of the next Pod may still change its address: the engine may have to create it. */
  isSettled(): boolean {
    return this.#isImpossible || this.#isElsewhere || this.#isPinned();
  }

  /** Resolves when the bridges of these Pods keep their addresses, or cannot be made to. Never rejects. */
  async pin(podAddresses: readonly string[]): Promise<void> {
    if (podAddresses.length === 0 || this.#isImpossible || this.#isPinned()) return;
    try {
      const bridges = bridgesOfPods(this.#host.all(), podAddresses);
      this.#isElsewhere = bridges.length === 0;
      for (const bridge of bridges) await this.#pin(bridge);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #isPinned(): boolean {
    const bridge = this.#device === undefined ? undefined : this.#host.find(this.#device);
    return bridge !== undefined && !needsPin(bridge);
  }

  async #pin(bridge: HostBridge): Promise<void> {
    const { network, log } = this.#deps;
    const { device, address } = bridge;
    if (needsPin(bridge)) {
      if ((await network()) === 'other') {
        this.#isImpossible = true;
        return;
      }
      try {
        await this.#host.pin(bridge);
      } catch (error) {
        // The engine removes its bridge with its last container.
        if (this.#host.find(device)) this.#giveUp(error);
        return;
      }
      log.info(
        { component: 'runtime', bridge: device, address },
        'the MAC address of the bridge of Pods is fixed',
      );
    }
    this.#device = device;
  }

  #giveUp(error: unknown): void {
    this.#isImpossible = true;
    const hint = 'run the agent with CAP_NET_ADMIN, or update netavark to 1.9';
    this.#deps.log.warn(
      { component: 'runtime', err: error, hint },
      'when a Pod starts or ends, other Pods may lose their network for up to 100 s: the MAC address of their bridge cannot be fixed',
    );
  }
}
