/**
 * Prints the section of CHANGELOG.md for a tag, the text of its release:
 *   node release/changelog-section.mjs v1.2.3
 * Fails if the tag is not `v` and the version of package.json, or if the changelog has no text for it.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the text below `## VERSION — DATE`. Throws an Error that says what to change. */
export function changelogSection(changelog, tag, packageVersion) {
  if (tag !== `v${packageVersion}`)
    throw new Error(
      `the tag ${tag} does not match package.json: tag v${packageVersion}, or change its version`,
    );
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => each.split(/\s/, 1)[0] === packageVersion);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${packageVersion} — DATE"`);
  const [head, ...lines] = section.split('\n');
  if (!/ — \d{4}-\d{2}-\d{2}$/.test(head))
    throw new Error(`CHANGELOG.md: "## ${head}" needs a date: "## ${packageVersion} — YYYY-MM-DD"`);
  const text = lines.join('\n').trim();
  if (text.replace(/^#.*$/gm, '').trim() === '')
    throw new Error(`CHANGELOG.md says nothing about ${packageVersion}`);
  return `${text}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..');
  const read = (name) => readFileSync(join(root, name), 'utf8');
  try {
    const { version } = JSON.parse(read('package.json'));
    process.stdout.write(changelogSection(read('CHANGELOG.md'), process.argv[2] ?? '', version));
  } catch (error) {
    process.stderr.write(`everynode: ${error.message}\n`);
    process.exit(1);
  }
}
