/** The upgrades of an installed agent: what is on trial, until the coordinator is reached or the time is over. */
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
import { AgentVersionDriver } from './agent-version-driver.js';
import { checkProgram } from './program-check.js';
import { ReleaseSource, type ReleaseSourceOptions } from './release-source.js';
import { trialVerdictAtStart, UpgradeTrialFile } from './upgrade-trial.js';
import { guardTrial, TRIAL_MS } from './upgrade-trial-guard.js';

interface UpgradesOptions {
  dataDir: string;
  /** A steady clock, and the wall's. */
  clock: Clock;
  wallClock: Clock;
  chance: Random;
  log: Logger;
}

/** Where versions come from. */
type UpgradeSource = Pick<ReleaseSourceOptions, 'server' | 'ca'>;

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

  /** The engine, with the agent's versions beside it. */
  driver(engine: RuntimeDriver, source: UpgradeSource): RuntimeDriver {
    const { dataDir, clock, wallClock, chance } = this.#options;
    const agents = new AgentVersionContainers({
      path: join(dataDir, 'agent-containers.json'),
      version: VERSION,
      versions: this.#versions,
      source: new ReleaseSource({ ...source, keyFile: RELEASE_KEY_FILE }),
      trial: this.#trial,
      whyNotUpgradable: () => this.#whyFixed(),
      checkProgram,
      guardTrial,
      restart,
      pause: (delayMs) => new Promise((resolve) => void clock.after(delayMs, resolve)),
      newId: () => chance.uuid(),
      now: () => wallClock.now(),
      clockOffsetMs: () => clock.now() - wallClock.now(),
    });
    return new AgentVersionDriver(engine, agents);
  }

  /** At the agent's start: a version on trial has so much time from now. Answers false when it had its chances: it ends then. */
  async start(): Promise<boolean> {
    const trial = this.#trial.read();
    const verdict = trialVerdictAtStart(trial, VERSION);
    if (trial === undefined) return true;
    if (verdict === 'none') {
      // The one before it runs again, by whatever way.
      this.#trial.remove();
      return true;
    }
    if (verdict === 'fall back') {
      this.#fallBack('it did not stay up');
      return false;
    }
    await this.#trial.write({ ...trial, starts: trial.starts + 1 });
    this.#timer = this.#options.clock.after(TRIAL_MS, () => {
      this.#fallBack('it did not reach the coordinator');
      restart();
    });
    return true;
  }

  /** The coordinator has been reached: the version stays. */
  confirm(): void {
    this.#timer?.cancel();
    if (this.#trial.read()?.to !== VERSION) return;
    this.#trial.remove();
    this.#versions.markProven(VERSION);
    this.#versions.prune(VERSION);
    this.#options.log.info({ version: VERSION }, 'upgraded');
  }

  /** The trial goes on at the next start. */
  stop(): void {
    this.#timer?.cancel();
  }

  #fallBack(why: string): void {
    const { log } = this.#options;
    const to = rollBackUpgrade(this.#versions, this.#trial);
    log.error({ version: VERSION, to, why }, 'the upgrade has failed; the version before comes back');
  }

  #whyFixed(): string | undefined {
    if (this.#versions.current !== VERSION || !process.env.INVOCATION_ID) {
      return 'this agent was not installed as a service: everynode-agent install';
    }
    if (!isSingleExecutable()) return 'this agent came by npm and is upgraded there: npm install -g';
    return undefined;
  }
}

/** Where an agent keeps what is on trial. */
export function upgradeTrialFile(dataDir: string): UpgradeTrialFile {
  return new UpgradeTrialFile(join(dataDir, 'trial.json'));
}

/** Makes the version before a trial the current one; answers it, undefined when none is on trial. */
export function rollBackUpgrade(versions: InstalledVersions, file: UpgradeTrialFile): string | undefined {
  const trial = file.read();
  if (trial === undefined) return undefined;
  versions.rollBackTo(trial.from);
  file.remove();
  return trial.from;
}

/** systemd starts the agent again, by then as the version that is current. */
function restart(): void {
  process.kill(process.pid, 'SIGTERM');
}
