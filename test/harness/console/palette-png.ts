/** PNGs with a palette, which `pngjs` reads but cannot write. They have a third of the size of those with true colours. */
import { deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MAX_COLOURS = 256;
const PALETTE_TYPE = 3;
/** The most frequent colours, such as backgrounds, are kept as they are. */
const EXACT_COLOURS = 48;
/** Other colours, such as those at the edges of letters, are rounded to multiples. */
const STEP = 17;

/** `rgba` has four bytes for each pixel. The PNG is opaque. */
export function encodePalettePng(width: number, height: number, rgba: Uint8Array): Buffer {
  const { colours, indexes } = paletteOf(rgba);
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y += 1) {
    // Byte 0 of a row names the filter: none.
    rows.set(indexes.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, PALETTE_TYPE, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(colours.flat())),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

type Colour = readonly [red: number, green: number, blue: number];

/** Colours are numbers: 0xRRGGBB. */
function paletteOf(rgba: Uint8Array): { colours: Colour[]; indexes: Uint8Array } {
  const pixels = Uint32Array.from({ length: rgba.length / 4 }, (_, pixel) => {
    const [red = 0, green = 0, blue = 0] = rgba.subarray(pixel * 4, pixel * 4 + 3);
    return (red << 16) | (green << 8) | blue;
  });
  const exact = mostFrequent(pixels);
  const colours: Colour[] = [];
  const byColour = new Map<number, number>();
  const indexOf = (colour: Colour) =>
    colours.length < MAX_COLOURS ? colours.push(colour) - 1 : nearest(colours, colour);
  for (const pixel of [...exact, ...new Set(pixels)]) {
    if (byColour.has(pixel)) continue;
    const rounded = exact.has(pixel) ? pixel : roundedColour(pixel);
    const index = byColour.get(rounded) ?? indexOf(splitColour(rounded));
    byColour.set(rounded, index);
    byColour.set(pixel, index);
  }
  return { colours, indexes: Uint8Array.from(pixels, (pixel) => byColour.get(pixel) ?? 0) };
}

function mostFrequent(pixels: Uint32Array): ReadonlySet<number> {
  const counts = new Map<number, number>();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const ordered = [...counts].sort(([, a], [, b]) => b - a);
  return new Set(ordered.slice(0, EXACT_COLOURS).map(([pixel]) => pixel));
}

function splitColour(pixel: number): Colour {
  return [pixel >> 16, (pixel >> 8) & 0xff, pixel & 0xff];
}

function roundedColour(pixel: number): number {
  const [red = 0, green = 0, blue = 0] = splitColour(pixel).map((value) => Math.round(value / STEP) * STEP);
  return (red << 16) | (green << 8) | blue;
}

function nearest(colours: readonly Colour[], [red, green, blue]: Colour): number {
  const distances = colours.map(([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2);
  return distances.indexOf(Math.min(...distances));
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** `zlib.crc32` needs Node 22. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
