/** The service proxy: rules for ClusterIPs and node ports in the kernel, through the `nft` command. */
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { NftRuleset } from '../decisions/netfilter/nft-ruleset.js';
import type { KernelTable } from '../decisions/netfilter/nft-script.js';
import {
  type ServiceProxyCondition,
  type ServiceProxyState,
  serviceProxyCondition,
} from '../decisions/netfilter/service-proxy-condition.js';
import { serviceRuleset } from '../decisions/netfilter/service-ruleset.js';
import { isUsableAddress, type ProxyNode } from '../decisions/netfilter/service-targets.js';
import { isComplete, isSmallTable } from '../decisions/netfilter/table-listing.js';
import type { HostService, ServiceProxy } from '../decisions/services/host-service.js';
import { enableHairpin } from './hairpin-ports.js';
import { NftError } from './nft-command.js';
import { checkNft, readChainHandles, readTable, readTableNames, updateTable } from './nft-table.js';
import { forgetUdpFlows } from './udp-flows.js';

/** Interval of checking that the table is still there: `nft flush ruleset` removes it. One run of nft takes 5 ms. */
const PRESENCE_INTERVAL_MS = 10_000;
/** Interval of comparing the table's content, and of checking an unfit host again, in presence checks. */
const CHECKS_PER_CONTENT_CHECK = 30;
const CHECKS_PER_FITNESS_CHECK = 6;
/** Least time between two logs of the same problem. */
const WARNING_INTERVAL_MS = 300_000;

interface NftServiceProxyOptions {
  /** Facts about this node; read for each update. */
  node: () => ProxyNode;
  /** Called with the condition at the start, and when it changes. */
  onCondition: (condition: ServiceProxyCondition) => void;
  clock: Clock;
  log: Logger;
}

export class NftServiceProxy implements ServiceProxy {
  readonly #options: NftServiceProxyOptions;
  /** Undefined until the first call of `apply`: rules of an earlier agent stay until then. */
  #services: readonly HostService[] | undefined;
  /** Undefined: unknown, so the table's names are read before the next change. */
  #kernel: KernelTable | undefined;
  /** Handles of the table's chains, and its content, after the last change; undefined: not read yet. */
  #handles: string | undefined;
  #content: string | undefined;
  #condition: ServiceProxyCondition | undefined;
  /** The last run of nft. It never rejects. */
  #last: Promise<void> = Promise.resolve();
  /** The next update, while it waits for the last run. */
  #nextUpdate: Promise<void> | undefined;
  #node = '';
  #checks = 0;
  /** Time of the last log of each problem. */
  readonly #warnedAt = new Map<string, number>();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: NftServiceProxyOptions) {
    this.#options = options;
  }

  get isEffective(): boolean {
    return this.#condition?.status === 'True';
  }

  /** Resolves when it is known whether rules can be applied on this host. */
  async start(): Promise<void> {
    await this.#run(() => this.#checkFitness());
    this.#scheduleCheck();
  }

  /** Resolves after the last run of nft. Leaves the rules in the kernel, so that connections survive the agent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#last;
  }

  apply(services: readonly HostService[]): Promise<void> {
    this.#services = services;
    return this.#update();
  }

  /** Calls during a run of nft share the next run. */
  #update(): Promise<void> {
    this.#nextUpdate ??= this.#run(async () => {
      this.#nextUpdate = undefined;
      if (this.isEffective || this.#condition?.reason === 'RulesRejected') await this.#applyServices();
    });
    return this.#nextUpdate;
  }

  /** Runs the work after all earlier work. */
  #run(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(async () => {
      if (this.#isStopped) return;
      try {
        await work();
      } catch (error) {
        this.#kernel = undefined;
        this.#warn('rules of services could not be checked or applied', error);
        if (error instanceof NftError) this.#setState(stateAfter(error, 'rejected'));
      }
    });
    return this.#last;
  }

  async #applyServices(): Promise<void> {
    const services = this.#services;
    if (!services) {
      this.#setState({ state: 'effective' });
      return;
    }
    const node = this.#options.node();
    const wanted = serviceRuleset(services, node);
    this.#node = JSON.stringify(node);
    this.#kernel ??= await readKernel();
    // A host without Services gets no hooks, which would slow down all its connections.
    const isNeeded = this.#kernel.state !== 'absent' || hasElements(wanted);
    if (isNeeded) await this.#change(this.#kernel, wanted);
    this.#enableHairpin(services);
    this.#setState({ state: 'effective' });
  }

  async #change(kernel: KernelTable, wanted: NftRuleset): Promise<void> {
    const before = kernel.state === 'applied' ? kernel.ruleset : undefined;
    const isChanged = await updateTable(kernel, wanted);
    this.#kernel = { state: 'applied', ruleset: wanted };
    if (!isChanged) return;
    this.#content = undefined;
    this.#handles = await readChainHandles();
    await forgetUdpFlows(before, wanted);
  }

  #enableHairpin(services: readonly HostService[]): void {
    const addresses = services.flatMap(({ local }) => local.flatMap(({ direct }) => direct.addresses));
    try {
      enableHairpin(addresses.filter(isUsableAddress));
    } catch (error) {
      this.#warn('a pod cannot reach itself through a service: no hairpin mode', error);
    }
  }

  #scheduleCheck(): void {
    this.#timer = this.#options.clock.after(PRESENCE_INTERVAL_MS, () => {
      this.#checks += 1;
      void this.#run(() => this.#check()).then(() => {
        if (!this.#isStopped) this.#scheduleCheck();
      });
    });
  }

  async #check(): Promise<void> {
    if (!this.isEffective) {
      const isDue =
        this.#condition?.reason === 'RulesRejected' || this.#checks % CHECKS_PER_FITNESS_CHECK === 0;
      return isDue ? this.#checkFitness() : undefined;
    }
    if (this.#kernel?.state !== 'applied') {
      await this.#applyServices();
      return;
    }
    const isDue = this.#content === undefined || this.#checks % CHECKS_PER_CONTENT_CHECK === 0;
    const isIntact =
      (await readChainHandles()) === this.#handles &&
      (!isDue || (await this.#hasOwnContent(this.#kernel.ruleset)));
    if (!isIntact) {
      this.#warn('another program changed the rules of services; applying them again');
      this.#kernel = undefined;
    }
    if (!isIntact || this.#node !== JSON.stringify(this.#options.node())) await this.#applyServices();
    else this.#enableHairpin(this.#services ?? []);
  }

  /** The content of a large table is not compared: listing it would exceed the memory limit of the agent's unit. */
  async #hasOwnContent(ruleset: NftRuleset): Promise<boolean> {
    if (!isSmallTable(ruleset)) return true;
    const listing = await readTable();
    if (!listing || !isComplete(listing, ruleset)) return false;
    this.#content ??= listing.content;
    return this.#content === listing.content;
  }

  /** Applies the Services if the host can. */
  async #checkFitness(): Promise<void> {
    try {
      await checkNft();
    } catch (error) {
      if (!(error instanceof NftError)) throw error;
      return this.#setState(stateAfter(error, 'unsupported'));
    }
    await this.#applyServices();
  }

  /** Each check repeats a lasting problem, such as a second agent on this host that changes the same rules. */
  #warn(text: string, error?: unknown): void {
    const now = this.#options.clock.monotonic();
    if (now - (this.#warnedAt.get(text) ?? Number.NEGATIVE_INFINITY) < WARNING_INTERVAL_MS) return;
    this.#warnedAt.set(text, now);
    this.#options.log.warn(error === undefined ? {} : { err: error }, text);
  }

  #setState(state: ServiceProxyState): void {
    const condition = serviceProxyCondition(state);
    if (condition.reason === this.#condition?.reason && condition.message === this.#condition.message) return;
    this.#condition = condition;
    const { reason, message } = condition;
    this.#options.log.info({ reason, detail: message }, 'state of the service proxy changed');
    this.#options.onCondition(condition);
  }
}

function hasElements({ sets }: NftRuleset): boolean {
  return [...sets.values()].some((set) => set.kind !== 'packets' && set.elements.size > 0);
}

async function readKernel(): Promise<KernelTable> {
  const names = await readTableNames();
  return names ? { state: 'names', ...names } : { state: 'absent' };
}

function stateAfter(
  { failure, message }: NftError,
  otherwise: 'unsupported' | 'rejected',
): ServiceProxyState {
  return failure === 'refused' ? { state: otherwise, error: message } : { state: failure };
}
