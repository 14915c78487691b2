/** `up --coordinators`: several coordinators and their etcd as child processes on this machine, for trying it out. */
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { makePrivateDirectory, writePrivateFile } from '../../../shared/process/files/private-file.js';
import { contextName, withServers } from '../../cluster/keys/member-kubeconfig.js';
import { kubeconfigPath } from '../../coordinator-data-dir.js';
import { COORDINATOR_SETTINGS, type CoordinatorSettings } from '../../coordinator-settings.js';
import type { DataLock } from '../../store/data-files.js';
import { MEMBER_FILE } from '../../store/data-files.js';
import { type ApiClient, apiClientFromKubeconfig, connect } from '../client/api-client.js';
import type { Progress } from '../terminal/terminal-progress.js';
import { openClusterDirectory } from './cluster-directory.js';
import {
  type ClusterPorts,
  coordinatorDir,
  ETCD_MEMBERS,
  etcdFlags,
  etcdPaths,
  LOOPBACK,
  loopbackUrl,
} from './cluster-layout.js';
import { writeEtcdCertificates } from './etcd-certificates.js';
import { etcdArguments, etcdEnvironment, etcdName } from './etcd-program.js';
import { joinMember } from './join-member.js';
import { EVERYNODE } from './run-everynode.js';
import { settingFlags } from './setting-flags.js';
import { SupervisedProcess } from './supervised-process.js';

const ETCD_START_MS = 60_000;
const COORDINATOR_START_MS = 120_000;
/** Time in which `up` itself calls the API. */
const FIRST_CALLS_MS = 60_000;
const RETRY_MS = 200;

interface LocalClusterOptions {
  /** Number of coordinators, at least 2. */
  readonly count: number;
  readonly settings: Omit<CoordinatorSettings, 'etcd' | 'etcdCa' | 'etcdCert' | 'etcdKey'>;
  readonly progress: Progress;
}

/** The coordinators that `up` runs. */
export interface ForegroundCoordinators {
  /** Resolves when all coordinators serve. Throws `ExitError`. */
  start(): Promise<ApiClient>;
  /** Addresses for the agent. Known after the start. */
  readonly servers: readonly string[];
  /** Call it after a failed or an interrupted start as well. */
  stop(): Promise<void>;
}

/** A cluster that runs or is being started. */
export class LocalCluster implements ForegroundCoordinators {
  readonly #options: LocalClusterOptions;
  /** In the order of their start. */
  readonly #etcd: SupervisedProcess[] = [];
  readonly #coordinators: SupervisedProcess[] = [];
  #lock: DataLock | undefined;
  #ports: ClusterPorts = { coordinators: [], etcd: [] };
  #starting: Promise<ApiClient> | undefined;
  #isStopping = false;

  constructor(options: LocalClusterOptions) {
    this.#options = options;
  }

  get servers(): string[] {
    return this.#ports.coordinators.map(loopbackUrl);
  }

  start(): Promise<ApiClient> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async #start(): Promise<ApiClient> {
    const { settings, progress, count } = this.#options;
    const { ports, lock } = await openClusterDirectory({ ...settings, coordinators: count });
    this.#ports = ports;
    this.#lock = lock;
    await progress.step(`starting etcd (${ETCD_MEMBERS} members)`, () => this.#startEtcd());
    for (let number = 1; number <= count; number += 1) {
      const isNew = !existsSync(coordinatorDir(settings.data, number));
      const verb = isNew && number > 1 ? 'adding' : 'starting';
      await progress.step(`${verb} coordinator ${number} of ${count}`, () => this.#startCoordinator(number));
    }
    return withRetries(apiClientFromKubeconfig(kubeconfigPath(settings.data)));
  }

  /** Stops the coordinators while etcd still runs, because the leader gives up its leadership. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#coordinators.map((each) => each.stop()));
    await Promise.all(this.#etcd.map((each) => each.stop()));
    // A step that waits for a program notices that the program was stopped.
    await this.#starting?.catch(() => undefined);
    this.#lock?.release();
  }

  async #startEtcd(): Promise<void> {
    const { data } = this.#options.settings;
    const paths = etcdPaths(data);
    await writeEtcdCertificates(paths, Date.now());
    const members = this.#ports.etcd.map((_, index) =>
      this.#run(this.#etcd, {
        name: etcdName(index),
        program: 'etcd',
        args: etcdArguments(index, this.#ports.etcd, paths),
        logFile: join(paths.root, `${etcdName(index)}.log`),
        environment: etcdEnvironment(),
      }),
    );
    const tls = {
      ca: readFileSync(paths.ca),
      cert: readFileSync(paths.clientCert),
      key: readFileSync(paths.clientKey),
    };
    const isHealthy = async (index: number) => {
      const text = await getText(`${loopbackUrl(this.#ports.etcd[index]?.client ?? 0)}/health`, tls);
      return JSON.parse(text).health === 'true';
    };
    await Promise.all(
      members.map((member, index) => member.untilReady(() => isHealthy(index), ETCD_START_MS)),
    );
  }

  async #startCoordinator(number: number): Promise<void> {
    const { settings } = this.#options;
    const data = coordinatorDir(settings.data, number);
    makePrivateDirectory(data);
    const flags = ['--data', data, ...this.#memberFlags(number)];
    // The first start of the first coordinator makes the fleet.
    if (number > 1 && !existsSync(join(data, MEMBER_FILE)))
      await joinMember(withRetries(this.#apiOf(1)), flags);
    const own = settingFlags(COORDINATOR_SETTINGS, { ...settings }, ['data', 'port', 'advertise']);
    const coordinator = this.#run(this.#coordinators, {
      name: `coordinator-${number}`,
      program: EVERYNODE[0],
      args: [EVERYNODE[1], 'coordinator', ...flags, ...own],
      logFile: join(settings.data, `coordinator-${number}.log`),
      environment: process.env,
    });
    await coordinator.untilReady(async () => {
      if (number === 1) await this.#writeKubeconfig();
      await this.#apiOf(number).request('GET', '/version');
      return true;
    }, COORDINATOR_START_MS);
  }

  /** The settings that a member and the command that joins it have in common. */
  #memberFlags(number: number): string[] {
    const { data, host, advertise = isLoopback(host) ? LOOPBACK : undefined } = this.#options.settings;
    const port = String(this.#ports.coordinators[number - 1]);
    const address = advertise === undefined ? [] : ['--advertise', advertise];
    return ['--port', port, ...address, ...etcdFlags(data, this.#ports)];
  }

  async #writeKubeconfig(): Promise<void> {
    const { data } = this.#options.settings;
    const own = readFileSync(kubeconfigPath(coordinatorDir(data, 1)), 'utf8');
    await writePrivateFile(kubeconfigPath(data), withServers(own, this.servers));
  }

  /** Returns a client of one coordinator's address. */
  #apiOf(number: number): ApiClient {
    const kubeconfig = kubeconfigPath(this.#options.settings.data);
    return connect({ kubeconfig, context: contextName(number) });
  }

  #run(
    group: SupervisedProcess[],
    spec: ConstructorParameters<typeof SupervisedProcess>[0],
  ): SupervisedProcess {
    if (this.#isStopping) throw new ExitError(EXIT_CODES.environment, `${spec.name} was not started.`);
    const child = new SupervisedProcess(spec);
    group.push(child);
    child.start();
    return child;
  }
}

/** An address does not answer while the leader changes or its coordinator is started again. */
function withRetries(api: ApiClient): ApiClient {
  const deadline = performance.now() + FIRST_CALLS_MS;
  const request: ApiClient['request'] = async <T>(...call: Parameters<ApiClient['request']>): Promise<T> => {
    for (;;) {
      try {
        return await api.request<T>(...call);
      } catch (error) {
        if (!(error instanceof ExitError) || performance.now() > deadline) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
  return { ...api, request };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

function getText(url: string, tls: { ca: Buffer; cert: Buffer; key: Buffer }): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(url, { ...tls, timeout: 2_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text)).on('error', reject);
    });
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', reject);
    call.end();
  });
}
