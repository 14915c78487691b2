/** Upgrades of an installed agent. A new version is on trial until it reaches the coordinator or its time is over. */
import { join } from 'node:path';
import type { Logger } from '../../shared/process/output/logger.js';
import { VERSION } from '../../shared/process/release-version.js';
import { isSingleExecutable } from '../../shared/process/service/child-program.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { Random } from '../../shared/process/time/random.js';
import { RELEASE_KEY_FILE } from '../install/install-paths.js';
import { InstalledVersions } from '../install/installed-versions.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';
import { AgentVersionContainers } from './agent-version-containers.js';
import { withAgentVersions } from './agent-version-driver.js';
import { ReleaseSource, type ReleaseSourceOptions } from './release-source.js';
import { checkProgram, guardTrial, TRIAL_MS } from './upgrade-safeguards.js';
import { trialVerdictAtStart, UpgradeTrialFile } from './upgrade-trial.js';

interface UpgradesOptions {
  dataDir: string;
  /** Monotonic. */
  clock: Clock;
  wallClock: Clock;
  random: Random;
  log: Logger;
}

type UpgradeSource = Pick<ReleaseSourceOptions, 'server' | 'ca' | 'tunnel'>;

export class AgentUpgrades {
  readonly #options: UpgradesOptions;
  readonly #versions: InstalledVersions;
  readonly #trial: UpgradeTrialFile;
  #timer: Timer | undefined;

  constructor(options: UpgradesOptions) {
    this.#options = options;
    this.#versions = new InstalledVersions(join(options.dataDir, 'versions'));
    this.#trial = upgradeTrialFile(options.dataDir);
  }

  /** Returns a driver with the containers of the engine and the agent's own versions. */
  driver(engine: RuntimeDriver, source: UpgradeSource): RuntimeDriver {
    const { dataDir, clock, wallClock, random } = this.#options;
    const agents = new AgentVersionContainers({
      path: join(dataDir, 'agent-containers.json'),
      version: VERSION,
      versions: this.#versions,
      source: new ReleaseSource({ ...source, keyFile: RELEASE_KEY_FILE }),
      trial: this.#trial,
      whyNotUpgradable: () => this.#whyNotUpgradable(),
      checkProgram,
      guardTrial,
      restart,
      pause: (delayMs) => new Promise((resolve) => void clock.after(delayMs, resolve)),
      newId: () => random.uuid(),
      now: () => wallClock.now(),
      clockOffsetMs: () => clock.now() - wallClock.now(),
    });
    return withAgentVersions(engine, agents);
  }

  /** Starts the timer of a trial. Returns false if it has used up its starts: the caller must exit. */
  async start(): Promise<boolean> {
    const trial = this.#trial.read();
    const verdict = trialVerdictAtStart(trial, VERSION);
    if (trial === undefined) return true;
    if (verdict === 'none') {
      // The previous version runs again, for whatever reason.
      this.#trial.remove();
      return true;
    }
    if (verdict === 'fall back') {
      this.#rollBack('it exited repeatedly');
      return false;
    }
    await this.#trial.write({ ...trial, starts: trial.starts + 1 });
    this.#timer = this.#options.clock.after(TRIAL_MS, () => {
      this.#rollBack('it did not reach the coordinator');
      restart();
    });
    return true;
  }

  /** Ends the trial, because the coordinator has been reached. */
  confirm(): void {
    this.#timer?.cancel();
    if (this.#trial.read()?.to !== VERSION) return;
    this.#trial.remove();
    this.#versions.markProven(VERSION);
    this.#versions.prune(VERSION);
    this.#options.log.info({ version: VERSION }, 'upgraded');
  }

  /** The trial continues at the next start. */
  stop(): void {
    this.#timer?.cancel();
  }

  #rollBack(why: string): void {
    const { log } = this.#options;
    const to = rollBackUpgrade(this.#versions, this.#trial);
    log.error({ version: VERSION, to, why }, 'upgrade failed; rolling back to the previous version');
  }

  #whyNotUpgradable(): string | undefined {
    if (this.#versions.current !== VERSION || !process.env.INVOCATION_ID) {
      return 'this agent does not run as an installed service; install it with: everynode-agent install';
    }
    if (!isSingleExecutable()) return 'this agent was installed by npm; upgrade it with: npm install -g';
    return undefined;
  }
}

/** Returns the file that stores the trial. */
export function upgradeTrialFile(dataDir: string): UpgradeTrialFile {
  return new UpgradeTrialFile(join(dataDir, 'trial.json'));
}

/** Selects the version before the trial. Returns it, or undefined if none is on trial. */
export function rollBackUpgrade(versions: InstalledVersions, file: UpgradeTrialFile): string | undefined {
  const trial = file.read();
  if (trial === undefined) return undefined;
  versions.rollBackTo(trial.from);
  file.remove();
  return trial.from;
}

/** systemd then starts the selected version. */
function restart(): void {
  process.kill(process.pid, 'SIGTERM');
}
