/** What the laws of drivers are run on: an engine, programs whose behaviour is known, and the containers that are made of them. */
import {
  type ContainerConfig,
  type ContainerOwner,
  type RuntimeDriver,
  SANDBOX,
} from '../../agent/runtime/runtime-driver.js';

/** An image and what to run in it. */
interface Program {
  image: string;
  command?: string[];
}

/** An engine under test, and programs in it whose behaviour the laws know. */
export interface DriverFixture {
  driver(owner: ContainerOwner): RuntimeDriver;
  /** Prints `ready` once it heeds SIGTERM, runs until then, and ends with 0. */
  waits: Program;
  /** Prints what it reads from its input. */
  copies: Program;
  /** Runs and ignores SIGTERM. */
  stubborn: Program;
  /** Prints `one`, `two`, `three` in this order and ends with 3. */
  prints: Program;
  /** Cannot be started. */
  unstartable: Program;
  /** Uses more memory than 16 MiB. */
  greedy: Program;
  /** Whether the engine here sees that a container was out of memory; conmon misses it on some cgroup v1 machines. */
  reportsOutOfMemory: boolean;
  /** Commands to run beside `waits`. */
  commands: {
    /** Prints `out` and a new line. */
    prints: string[];
    /** Prints `err` and a new line to stderr. */
    warns: string[];
    /** Ends with 7. */
    fails: string[];
    /** Prints what it reads until the end of its input. */
    copies: string[];
    /** Prints height and width of its terminal for each line that it reads. */
    sizes: string[];
    /** Runs for an hour. */
    waits: string[];
    /** Prints a million bytes. */
    floods: string[];
    /** Is not there. */
    missing: string[];
  };
  /** A name that can be asked for, and is not there. */
  missingImage: string;
  /** Ends the engine abruptly and brings it back with its data; absent where that is not possible. */
  restart?: () => Promise<void>;
  close(): Promise<void>;
}

export const OURS: ContainerOwner = { clusterUID: 'law-cluster', nodeName: 'law-node' };
export const THEIRS: ContainerOwner = { clusterUID: 'other-cluster', nodeName: 'law-node' };
/** Longer than any engine takes. */
export const DEADLINE_MS = 20_000;

/** A container on the host's network, so that thousands of laws need no bridge; what `overrides` says goes first. */
export function config(
  podUid: string,
  program: Program,
  overrides: Partial<ContainerConfig> = {},
): ContainerConfig {
  return {
    identity: identity(podUid, 'app', 0),
    image: program.image,
    ...(program.command ? { command: program.command } : {}),
    env: [],
    labels: {},
    mounts: [],
    ports: [],
    network: { kind: overrides.identity?.container === SANDBOX ? 'bridge' : 'host' },
    ipc: { kind: 'host' },
    pid: { kind: 'private' },
    privileged: false,
    readOnlyRootFilesystem: false,
    capabilitiesAdd: [],
    capabilitiesDrop: [],
    noNewPrivileges: false,
    tty: false,
    stdin: false,
    ...overrides,
  };
}

export function identity(podUid: string, container: string, attempt: number) {
  return { podUid, podNamespace: 'default', podName: 'law', container, attempt };
}

/** What a group of laws is declared with. */
export interface LawFixture {
  /** As it names itself. */
  readonly engine: string;
  readonly fixture: DriverFixture;
  /** The driver under test. */
  readonly ours: RuntimeDriver;
  /** A law on a Pod uid of its own. */
  law(name: string, body: (podUid: string) => Promise<void>): void;
  /** Creates and starts a container; answers its id. */
  run(podUid: string, program: Program, overrides?: Partial<ContainerConfig>): Promise<string>;
}
