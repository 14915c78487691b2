/** The air-gapped bundle: one archive with the coordinator, a signed release of the agents, and the documentation. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileEntry, folderEntries, tarOf } from './file-layout.mjs';
import { signRelease } from './signed-release.mjs';

/** Writes `target` from the files of the release in `out`. Its inner release has a signature by the same key. */
export async function writeOfflineBundle({ root, out, work, target, version, privateKey, epoch }) {
  const name = `everynode-${version}-offline`;
  const release = join(work, 'offline-release');
  mkdirSync(release);
  const agents = readdirSync(out).filter((each) => /^everynode-agent-.*\.(gz|xz)$/.test(each));
  for (const each of agents) copyFileSync(join(out, each), join(release, each));
  signRelease(release, privateKey);
  const coordinators = readdirSync(out).filter((each) => /^everynode-coordinator-.*\.(deb|rpm)$/.test(each));
  const script = readFileSync(join(root, 'release/packaging/install-offline.sh'), 'utf8');
  const layout = new Map([
    ...folderEntries(release, `/${name}/release`),
    ...folderEntries(join(root, 'docs'), `/${name}/docs`),
    ...coordinators.map((each) => [`/${name}/${each}`, fileEntry(join(out, each))]),
    ...['README.md', 'CHANGELOG.md', 'LICENSE'].map((each) => [
      `/${name}/${each}`,
      fileEntry(join(root, each)),
    ]),
    [`/${name}/install`, { text: script.replaceAll('@VERSION@', version), mode: 0o755 }],
  ]);
  const sums = [...layout].map(([path, { text, from }]) => {
    const hash = createHash('sha256')
      .update(text ?? readFileSync(from))
      .digest('hex');
    return `${hash}  ${path.slice(name.length + 2)}\n`;
  });
  layout.set(`/${name}/SHA256SUMS`, { text: sums.sort().join(''), mode: 0o644 });
  writeFileSync(target, await tarOf(layout, epoch));
}
