/** The comparison of pictures tolerates another rasteriser of fonts, and finds changed colours and places. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PNG } from 'pngjs';
import { AREA_TOLERANCE, compactPicture, comparePictures } from '../../harness/console/picture-comparison.js';

const WIDTH = 100;
const HEIGHT = 80;

type Colour = readonly [number, number, number];
const WHITE: Colour = [255, 255, 255];
const BLUE: Colour = [11, 95, 174];

/** Returns a PNG whose pixels have the colour that `colourAt` returns. */
function png(colourAt: (x: number, y: number) => Colour, width = WIDTH): Buffer {
  const picture = new PNG({ width, height: HEIGHT });
  for (let y = 0; y < HEIGHT; y += 1)
    for (let x = 0; x < width; x += 1) picture.data.set([...colourAt(x, y), 255], (y * width + x) * 4);
  return PNG.sync.write(picture);
}

const isLink = (x: number, y: number) => y >= 10 && y < 20 && x < 40;
const page = png((x, y) => (isLink(x, y) ? BLUE : WHITE));

test('a reference has the colours of its picture, also with more than 256 of them', () => {
  const found = PNG.sync.read(compactPicture(page));
  assert.deepEqual([...found.data.subarray(0, 4)], [...WHITE, 255]);
  assert.deepEqual([...found.data.subarray(15 * WIDTH * 4, 15 * WIDTH * 4 + 4)], [...BLUE, 255]);
  const many = png((x, y) => [x * 2, x * 2, y * 3]);
  assert.equal(comparePictures(compactPicture(many), many).share, 0);
});

const cases: readonly [what: string, actual: Buffer, differs: boolean][] = [
  ['the same picture', page, false],
  ['edges of letters in another grey', png((x, y) => (isLink(x, y) ? [20, 104, 180] : WHITE)), false],
  ['another colour of links', png((x, y) => (isLink(x, y) ? [174, 40, 11] : WHITE)), true],
  ['a link at another place', png((x, y) => (isLink(x, y - 12) ? BLUE : WHITE)), true],
  ['another background', png((x, y) => (isLink(x, y) ? BLUE : [190, 215, 255])), true],
  ['another size', png(() => WHITE, WIDTH + 1), true],
];
for (const [what, actual, differs] of cases) {
  test(`${what} ${differs ? 'differs' : 'is the same'}`, () => {
    const { share, picture } = comparePictures(compactPicture(page), actual);
    assert.equal(share > AREA_TOLERANCE, differs, `${share}`);
    assert.doesNotThrow(() => PNG.sync.read(picture));
  });
}
