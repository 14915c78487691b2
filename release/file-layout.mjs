/**
 * The files of a package or image, as a map from absolute path to entry. An entry has a `mode`, and one of `text`,
 * `from` (a file here), `link` or `folder: true`. Owner and time are the same in every build, or two builds would differ.
 */
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

/** An entry for a file of this machine. Only the mode bit for execution is kept. */
export function fileEntry(from) {
  return { from, mode: lstatSync(from).mode & 0o100 ? 0o755 : 0o644 };
}

/** Entries of all files below `folder` at `target`, except those that `skips` returns true for. */
export function folderEntries(folder, target, skips = () => false) {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const [from, to] = [join(folder, entry.name), `${target}/${entry.name}`];
    if (skips(from)) return [];
    if (entry.isDirectory()) return folderEntries(from, to, skips);
    return entry.isFile() ? [[to, fileEntry(from)]] : [];
  });
}

/** Writes the files below `root`, with `epoch` (seconds) as their time. */
export function writeLayout(layout, root, epoch) {
  for (const [path, entry] of layout) {
    const target = join(root, path);
    mkdirSync(entry.folder ? target : dirname(target), { recursive: true });
    if (entry.link !== undefined) symlinkSync(entry.link, target);
    else if (entry.from !== undefined) copyFileSync(entry.from, target);
    else if (!entry.folder) writeFileSync(target, entry.text);
    if (entry.link === undefined) chmodSync(target, entry.mode);
  }
  setTimes(root, epoch);
}

function setTimes(path, epoch) {
  if (lstatSync(path).isDirectory()) {
    for (const name of readdirSync(path)) setTimes(join(path, name), epoch);
  }
  lutimesSync(path, epoch, epoch);
}

/** Resolves with the files as a tar archive. Parents come before their children; `uid` of an entry defaults to root. */
export async function tarOf(layout, epoch) {
  const archive = pack();
  const chunks = [];
  const finished = (async () => {
    for await (const chunk of archive) chunks.push(chunk);
  })();
  for (const [path, entry] of withParents(layout)) {
    const uid = entry.uid ?? 0;
    const common = { name: path.slice(1), mode: entry.mode, uid, gid: uid, mtime: new Date(epoch * 1000) };
    if (entry.folder) archive.entry({ ...common, name: `${common.name}/`, type: 'directory' });
    else if (entry.link !== undefined)
      archive.entry({ ...common, mode: 0o777, type: 'symlink', linkname: entry.link });
    else archive.entry(common, entry.from === undefined ? entry.text : readFileSync(entry.from));
  }
  archive.finalize();
  await finished;
  return Buffer.concat(chunks);
}

function withParents(layout) {
  const all = new Map(layout);
  for (const path of layout.keys()) {
    for (let parent = dirname(path); parent !== '/'; parent = dirname(parent)) {
      if (!all.has(parent)) all.set(parent, { folder: true, mode: 0o755 });
    }
  }
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Compresses without a time in the header. */
export function compressed(bytes, level = 9) {
  return gzipSync(bytes, { level });
}
