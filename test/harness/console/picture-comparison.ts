/** Compares pictures of pages with their references, and keeps the references small. */
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { encodePalettePng } from './palette-png.js';

/** Difference of a pixel's colour, from 0 to 1, up to which another rasteriser of fonts may have drawn it. */
const COLOUR_TOLERANCE = 0.1;
/** Share of a picture's pixels that may differ more. */
export const AREA_TOLERANCE = 0.002;

export interface PictureDifference {
  /** From 0 to 1. */
  share: number;
  /** PNG with the differing pixels in red. */
  picture: Buffer;
}

/** Returns a PNG with fewer colours, less than a third as large. */
export function compactPicture(png: Buffer): Buffer {
  const { width, height, data } = PNG.sync.read(png);
  return encodePalettePng(width, height, data);
}

/** Returns how a picture differs from its reference. Pictures of different sizes differ as a whole. */
export function comparePictures(reference: Buffer, actual: Buffer): PictureDifference {
  const [before, now] = [PNG.sync.read(reference), PNG.sync.read(actual)];
  const { width, height } = before;
  if (now.width !== width || now.height !== height) return { share: 1, picture: actual };
  const found = new PNG({ width, height });
  const count = pixelmatch(before.data, now.data, found.data, width, height, {
    threshold: COLOUR_TOLERANCE,
  });
  return { share: count / (width * height), picture: PNG.sync.write(found) };
}
