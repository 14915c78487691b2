/** The texts of `systemd/*.service`: put in by the bundler, else read where the package has them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

declare const EVERYNODE_UNITS: Readonly<Record<string, string>> | undefined;

/** A unit by its file's name. */
export function unitText(name: string): string {
  if (typeof EVERYNODE_UNITS === 'object' && EVERYNODE_UNITS[name]) return EVERYNODE_UNITS[name];
  return readFileSync(fileURLToPath(new URL(`../../../systemd/${name}`, import.meta.url)), 'utf8');
}
