/** `everynode release add|trust|floor`: controls which agent versions hosts can install. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { makePrivateDirectory } from '../../../shared/process/files/private-file.js';
import { printLine } from '../../../shared/process/output/terminal-output.js';
import { compareVersions, isReleaseVersion, VERSION } from '../../../shared/process/release-version.js';
import { fingerprint, pemOf, readTrust, releaseKey, writeTrust } from '../../api/releases/release-trust.js';
import { ReleaseError } from '../../api/releases/signed-sums.js';
import { asOwnerOf, releasePaths } from '../../coordinator-data-dir.js';
import { defaultDataDir } from '../../coordinator-settings.js';
import { addRelease, checkRelease } from '../releases/add-release.js';
import { terminalProgress } from '../terminal/terminal-progress.js';

interface DataOption {
  data: string;
}

export function releaseCommand(program: Command): void {
  const release = program.command('release').description('manage the agent versions that hosts can install');
  const data = ['--data <DIR>', "the coordinator's data directory", defaultDataDir()] as const;
  release
    .command('add')
    .argument('<DIR>', 'folder created by npm run release')
    .option(...data)
    .description('verify a release and let hosts install it')
    .action((folder: string, options: DataOption) => addReleaseFolder(folder, options.data));
  release
    .command('trust')
    .argument('<FILE>', 'release.pub of the new key')
    .option(...data)
    .description('accept only releases signed by this key from now on')
    .action(trust);
  release
    .command('floor')
    .argument('[VERSION]', 'oldest allowed version; 0.0.0 allows every version')
    .option(...data)
    .description('show or set the oldest agent version that hosts may install or run')
    .action(floor);
}

/** Adds a release and prints the result. Throws `ExitError`; nothing was changed then. */
export async function addReleaseFolder(folder: string, dataDir: string): Promise<void> {
  const interruption = new AbortController();
  const abort = (): void => interruption.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  const progress = terminalProgress();
  try {
    const added = await progress.step(`verifying and copying the release in ${folder}`, () =>
      forOperator(folder, () => addRelease(folder, dataDir, interruption.signal)),
    );
    if (added.isFirstKey) {
      progress.print(`From now on this coordinator accepts only releases signed by the key ${added.key}.`);
    }
    progress.print(`Release ${added.version} added: hosts can install it or upgrade to it.`);
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort);
  }
}

/** Verifies a release without changing anything. Throws `ExitError`. */
export function requireRelease(folder: string, dataDir: string): Promise<void> {
  return forOperator(folder, () => checkRelease(folder, dataDir));
}

async function trust(file: string, { data }: DataOption): Promise<void> {
  await forOperator(file, async () => {
    const key = releaseKey(readText(file));
    makePrivateDirectory(data);
    await asOwnerOf(data, async () => {
      const { trustFile } = releasePaths(data);
      await writeTrust(trustFile, { ...(await readTrust(trustFile)), key: pemOf(key) });
    });
    printLine(`This coordinator accepts only releases signed by the key ${fingerprint(key)} from now on.`);
    printLine('Releases signed by another key are no longer served: sign them again and add them.');
    printLine(
      'Each host keeps the key of its installation until you run: everynode-agent install --release-key FILE',
    );
  });
}

async function floor(version: string | undefined, { data }: DataOption): Promise<void> {
  await forOperator(data, async () => {
    const { trustFile } = releasePaths(data);
    if (version === undefined) {
      const { floor: present } = await readTrust(trustFile);
      return printLine(present ?? 'Every version is allowed.');
    }
    if (!isReleaseVersion(version)) {
      throw new ExitError(EXIT_CODES.usage, `${version} is not a version of the form 1.2.3 or 1.2.3-rc.1.`);
    }
    makePrivateDirectory(data);
    await asOwnerOf(data, async () => {
      const { floor: _, ...others } = await readTrust(trustFile);
      await writeTrust(trustFile, version === '0.0.0' ? others : { ...others, floor: version });
    });
    if (version === '0.0.0') return printLine('Every version is allowed.');
    printLine(`Hosts cannot install agents older than ${version}. Hosts that already run one keep it.`);
    if (compareVersions(VERSION, version) < 0) {
      printLine(`install.sh installs version ${VERSION} on new hosts, so it is refused now.`);
    }
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ReleaseError(error instanceof Error ? error.message : String(error));
  }
}

/** Converts errors of releases and files to an `ExitError` that states that nothing was changed. */
async function forOperator<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ReleaseError) {
      throw new ExitError(
        EXIT_CODES.refused,
        `${join(what)} is refused: ${error.message}. Nothing was changed.`,
      );
    }
    if (error instanceof Error && error.name === 'AbortError') {
      throw new ExitError(EXIT_CODES.refused, 'Interrupted: nothing was added.');
    }
    if (error instanceof Error && 'code' in error && 'syscall' in error) {
      throw new ExitError(EXIT_CODES.environment, `${error.message}. Nothing was changed.`);
    }
    throw error;
  }
}
