/** Takes the pictures of all pages, and compares them with the references or writes these. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import type { SimulatedFleet } from '../simulated/simulated-fleet-fixture.js';
import { accessOf, PHONE, signIn, visit } from './browser.js';
import {
  openPicturedPage,
  PICTURE_OPTIONS,
  PICTURE_SIZES,
  PICTURE_THEMES,
  type PictureSize,
  picturedPages,
  pictureOf,
} from './page-pictures.js';
import { AREA_TOLERANCE, compactPicture, comparePictures } from './picture-comparison.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const REFERENCES = join(ROOT, 'test/fixtures/pictures');
const DIFFERENCES = join(ROOT, 'dist/pictures');
const SIZES = Object.keys(PICTURE_SIZES) as PictureSize[];
/** Pictures of the README. They show one screen. */
const IN_README: readonly string[] = ['overview-dark-desk', 'rollout-light-phone'];

const SCREENS = { desk: { width: 1440, height: 900 }, phone: PHONE };

/** PNGs by file name without its ending, such as `host-dark-phone`. */
export type Pictures = ReadonlyMap<string, Buffer>;

/** Writes pictures in full resolution, of the whole page. Returns how many. */
export async function writeFullPictures(
  fleet: SimulatedFleet,
  browser: Browser,
  directory: string,
  only?: readonly string[],
): Promise<number> {
  mkdirSync(directory, { recursive: true });
  const { server, token } = accessOf(fleet.kubeconfig);
  const pages = (await picturedPages(fleet)).filter(({ name }) => only?.includes(name) ?? true);
  for (const theme of PICTURE_THEMES) {
    for (const [size, viewport] of Object.entries(SCREENS)) {
      const { page, context } = await visit(browser, viewport, theme);
      await signIn(page, server, token);
      for (const each of pages) {
        const file = `${each.name}-${theme}-${size}`;
        await openPicturedPage(page, server, each);
        await page.screenshot({ path: join(directory, `${file}.png`), fullPage: !IN_README.includes(file) });
      }
      await context.close();
    }
  }
  return pages.length * PICTURE_THEMES.length * SIZES.length;
}

/** Pictures each page once for both themes and sizes. `only` are names of pages. */
export async function takePictures(
  fleet: SimulatedFleet,
  browser: Browser,
  only?: readonly string[],
): Promise<Pictures> {
  const { server, token } = accessOf(fleet.kubeconfig);
  const { page, context } = await visit(browser, PICTURE_SIZES.desk, 'light', PICTURE_OPTIONS);
  const pictures = new Map<string, Buffer>();
  const picture = async (name: string) => {
    for (const size of SIZES) {
      for (const theme of PICTURE_THEMES) {
        pictures.set(`${name}-${theme}-${size}`, await pictureOf(page, theme, size));
      }
    }
  };
  await page.goto(`${server}/console/`);
  await page.getByLabel('Token').waitFor();
  if (only?.includes('sign-in') ?? true) await picture('sign-in');
  await signIn(page, server, token);
  for (const each of await picturedPages(fleet)) {
    if (!(only?.includes(each.name) ?? true)) continue;
    await openPicturedPage(page, server, each);
    await picture(each.name);
  }
  await context.close();
  return pictures;
}

/** Writes the references. Returns what was written. References of pages that no longer exist are removed. */
export function writeReferences(pictures: Pictures, isComplete: boolean): string {
  if (isComplete) rmSync(REFERENCES, { recursive: true, force: true });
  mkdirSync(REFERENCES, { recursive: true });
  let bytes = 0;
  for (const [name, png] of pictures) {
    const compact = compactPicture(png);
    bytes += compact.length;
    writeFileSync(join(REFERENCES, `${name}.png`), compact);
  }
  return `${REFERENCES}: ${pictures.size} pictures, ${Math.round(bytes / 1000)} kB\n`;
}

/** Returns a line for each picture that differs, with the place of the picture of the difference. */
export function compareWithReferences(pictures: Pictures): string[] {
  mkdirSync(DIFFERENCES, { recursive: true });
  return [...pictures].flatMap(([name, png]) => {
    const reference = join(REFERENCES, `${name}.png`);
    const now = join(DIFFERENCES, `${name}.png`);
    const difference = join(DIFFERENCES, `${name}-difference.png`);
    rmSync(difference, { force: true });
    if (!existsSync(reference)) return [`${name} has no reference: npm run screenshots -- --update\n`];
    const { share, picture } = comparePictures(readFileSync(reference), png);
    if (share <= AREA_TOLERANCE) return [];
    writeFileSync(now, png);
    writeFileSync(difference, picture);
    return [`${name}: ${(share * 100).toFixed(2)} % of the pixels differ, see ${difference}\n`];
  });
}

/** Returns the names of references without a page. */
export function referencesWithoutPage(pictures: Pictures): string[] {
  return readdirSync(REFERENCES).filter((file) => !pictures.has(file.replace(/\.png$/, '')));
}
