/** `everynode release add|trust|floor`: controls which agent versions hosts can install. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { makePrivateDirectory } from '../../../shared/process/files/private-file.js';
import { printErrorLine, printLine } from '../../../shared/process/output/terminal-output.js';
import { compareVersions, isReleaseVersion, VERSION } from '../../../shared/process/release-version.js';
import type { ReleaseTrustDocument } from '../../api/releases/release-resources.js';
import {
  changedTrust,
  fingerprint,
  installScriptRefused,
  pemOf,
  RELEASE_TRUST_PATH,
  readTrust,
  releaseKey,
  type TrustChange,
  updateTrust,
} from '../../api/releases/release-trust.js';
import { ReleaseError } from '../../api/releases/signed-sums.js';
import { asOwnerOf, releasePaths } from '../../coordinator-data-dir.js';
import { connect } from '../client/api-client.js';
import { addContextOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';
import { localData } from '../client/local-data.js';
import { type AddedRelease, addRelease, checkRelease } from '../releases/add-release.js';
import { sendRelease } from '../releases/send-release.js';
import { terminalProgress } from '../terminal/terminal-progress.js';

export function releaseCommand(program: Command): void {
  const release = program.command('release').description('manage the agent versions that hosts can install');
  addPlaceOptions(release.command('add'))
    .argument('<DIR>', 'folder created by npm run release')
    .description('verify a release and let hosts install it')
    .action(add);
  addPlaceOptions(release.command('trust'))
    .argument('<FILE>', 'release.pub of the new key')
    .description('accept only releases signed by this key from now on')
    .action(trust);
  addPlaceOptions(release.command('floor'))
    .argument('[VERSION]', 'oldest allowed version; 0.0.0 allows every version')
    .description('show or set the oldest agent version that hosts may install or run')
    .action(floor);
}

function addPlaceOptions(command: Command): Command {
  return addContextOptions(
    command.option(
      '--data <DIR>',
      "the coordinator's data directory (default that of this machine; without one, the coordinator of the kubeconfig does the work)",
    ),
  );
}

async function add(folder: string, options: KubeconfigOptions): Promise<void> {
  const data = localData(options);
  if (data !== undefined) return addReleaseFolder(folder, data);
  const api = connect(options);
  const text = `verifying the release in ${folder} and sending it to ${api.server}`;
  await announceAdded(folder, text, (signal, show) =>
    sendRelease(api, folder, {
      signal,
      onProgress: (sent, all) => show(`${inMb(sent)} of ${inMb(all)} MB sent`),
    }),
  );
}

function inMb(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

/** Adds a release and prints the result. Throws `ExitError`; nothing was changed then. */
export function addReleaseFolder(folder: string, dataDir: string): Promise<void> {
  return announceAdded(folder, `verifying and copying the release in ${folder}`, (signal) =>
    addRelease(folder, dataDir, signal),
  );
}

async function announceAdded(
  folder: string,
  step: string,
  work: (signal: AbortSignal, show: (text: string) => void) => Promise<AddedRelease>,
): Promise<void> {
  const interruption = new AbortController();
  const abort = (): void => interruption.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  const progress = terminalProgress();
  try {
    const added = await progress.step(step, (show) =>
      forOperator(folder, () => work(interruption.signal, show)),
    );
    if (added.isFirstKey) {
      progress.print(`From now on this coordinator accepts only releases signed by the key ${added.key}.`);
    }
    if (added.cleanupError !== undefined) {
      printErrorLine(`Warning: files of the replaced release could not be deleted: ${added.cleanupError}`);
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

async function trust(file: string, options: KubeconfigOptions): Promise<void> {
  await forOperator(file, async () => {
    const key = releaseKey(readText(file));
    await changeTrust(options, { key: pemOf(key) });
    printLine(`This coordinator accepts only releases signed by the key ${fingerprint(key)} from now on.`);
    printLine('Releases signed by another key are no longer served: sign them again and add them.');
    printLine(
      'Each host keeps the key of its installation until you run: everynode-agent install --release-key FILE',
    );
  });
}

async function floor(version: string | undefined, options: KubeconfigOptions): Promise<void> {
  await forOperator('the floor', async () => {
    if (version === undefined) return printLine((await readFloor(options)) ?? 'Every version is allowed.');
    if (!isReleaseVersion(version)) {
      throw new ExitError(EXIT_CODES.usage, `${version} is not a version of the form 1.2.3 or 1.2.3-rc.1.`);
    }
    const isHere = await changeTrust(options, { floor: version });
    if (version === '0.0.0') return printLine('Every version is allowed.');
    printLine(`Hosts cannot install agents older than ${version}. Hosts that already run one keep it.`);
    if (isHere && compareVersions(VERSION, version) < 0) {
      printLine(`${installScriptRefused(VERSION)}.`);
    }
  });
}

async function readFloor(options: KubeconfigOptions): Promise<string | undefined> {
  const data = localData(options);
  if (data !== undefined) return (await readTrust(releasePaths(data).trustFile)).floor;
  return (await connect(options).request<ReleaseTrustDocument>('GET', RELEASE_TRUST_PATH)).floor;
}

/** Returns true if it changed the data directory of this machine, whose coordinator has the version of this program. */
async function changeTrust(options: KubeconfigOptions, change: TrustChange): Promise<boolean> {
  const data = localData(options);
  if (data === undefined) {
    await connect(options).request('POST', RELEASE_TRUST_PATH, change);
    return false;
  }
  makePrivateDirectory(data);
  const { trustFile } = releasePaths(data);
  await asOwnerOf(data, () => updateTrust(trustFile, (trust) => changedTrust(trust, change)));
  return true;
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
      throw refusal(what, error.message);
    }
    // What the coordinator found wrong in the release. Other refusals are printed like those of all requests.
    if (error instanceof ApiError && error.reason === 'BadRequest') {
      throw refusal(what, error.message);
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

function refusal(what: string, why: string): ExitError {
  return new ExitError(EXIT_CODES.refused, `${join(what)} is refused: ${why}. Nothing was changed.`);
}
