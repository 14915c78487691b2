/** The fixture of the driver laws: an engine, programs with known behaviour, and containers of them. */
import {
  type ContainerConfig,
  type ContainerOwner,
  type RuntimeDriver,
  SANDBOX,
} from '../../agent/runtime/runtime-driver.js';

/** An image and its command. */
interface Program {
  image: string;
  command?: string[];
}

/** An engine under test, and programs in it with known behaviour. */
export interface DriverFixture {
  driver(owner: ContainerOwner): RuntimeDriver;
  /** Prints `ready` once it handles SIGTERM, runs until then, and exits with 0. */
  waits: Program;
  /** Prints its input. */
  copies: Program;
  /** Runs and ignores SIGTERM. */
  stubborn: Program;
  /** Prints `one`, `two`, `three` in this order and exits with 3. */
  prints: Program;
  /** Cannot be started. */
  unstartable: Program;
  /** Uses more memory than 16 MiB. */
  greedy: Program;
  /** True if the engine detects that a container ran out of memory. conmon misses it on some cgroup v1 machines. */
  reportsOutOfMemory: boolean;
  /** Commands to run in the container of `waits`. */
  commands: {
    /** Prints `out` and a new line. */
    prints: string[];
    /** Prints `err` and a new line to stderr. */
    warns: string[];
    /** Exits with 7. */
    fails: string[];
    /** Prints its input until the end. */
    copies: string[];
    /** Prints height and width of its terminal for each line of input. */
    sizes: string[];
    /** Runs for an hour. */
    waits: string[];
    /** Prints a million bytes. */
    floods: string[];
    /** Does not exist. */
    missing: string[];
  };
  /** A valid name of an image that does not exist. */
  missingImage: string;
  /** Kills the engine and restarts it with its data. Absent where that is impossible. */
  restart?: () => Promise<void>;
  close(): Promise<void>;
}

export const OURS: ContainerOwner = { clusterUID: 'law-cluster', nodeName: 'law-node' };
export const THEIRS: ContainerOwner = { clusterUID: 'other-cluster', nodeName: 'law-node' };
/** Longer than any engine operation takes. */
export const DEADLINE_MS = 20_000;

/** A container on the host's network, so that thousands of tests need no bridge. `overrides` take precedence. */
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

/** Context in which a group of laws is declared. */
export interface LawFixture {
  /** The engine's own name. */
  readonly engine: string;
  readonly fixture: DriverFixture;
  /** The driver under test. */
  readonly ours: RuntimeDriver;
  /** Defines a test with a new Pod uid. */
  law(name: string, body: (podUid: string) => Promise<void>): void;
  /** Creates and starts a container. Returns its id. */
  run(podUid: string, program: Program, overrides?: Partial<ContainerConfig>): Promise<string>;
}
