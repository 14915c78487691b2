/** Sizes on the canvas of a chart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleModule } from '../../harness/console/console-module.js';

/** The used part of `console/charts/chart-marks.ts`, as types, because its own need a browser. */
interface ChartMarks {
  drawMarks(
    chart: object,
    marks: readonly { at: number; label: string }[],
    style: { colour: string; fontFamily: string; pxRatio: number },
  ): void;
}

const { drawMarks } = await consoleModule<ChartMarks>('charts/chart-marks.ts');

for (const [pxRatio, expected] of [
  [1, { font: '12px sans-serif', lineWidth: 1, dash: [4, 4], texts: [['till started', 104, 4]] }],
  [2, { font: '24px sans-serif', lineWidth: 2, dash: [8, 8], texts: [['till started', 108, 8]] }],
] as const)
  test(`marks of a chart are as large on a screen with ${pxRatio} pixels for each CSS pixel`, () => {
    const drawn = { font: '', lineWidth: 1, dash: [] as number[], texts: [] as unknown[] };
    const nothing = () => undefined;
    const ctx = Object.assign(drawn, {
      ...{ save: nothing, restore: nothing, beginPath: nothing, moveTo: nothing, lineTo: nothing },
      ...{ stroke: nothing, measureText: () => ({ width: 50 }) },
      setLineDash: (dash: number[]) => Object.assign(drawn, { dash }),
      fillText: (...text: unknown[]) => drawn.texts.push(text),
    });
    const chart = { ctx, bbox: { left: 0, top: 0, width: 500, height: 100 }, valToPos: () => 100 };
    drawMarks(chart, [{ at: 1, label: 'till started' }], {
      colour: 'red',
      fontFamily: 'sans-serif',
      pxRatio,
    });
    const { font, lineWidth, dash, texts } = drawn;
    assert.deepEqual({ font, lineWidth, dash, texts }, expected);
  });
