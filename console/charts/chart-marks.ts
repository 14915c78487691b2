/** Draws on a chart when its host was offline and when Pods started. */
import type uPlot from 'uplot';

/** A time without contact, in seconds since the epoch. */
export interface Span {
  from: number;
  to: number;
}

/** Something that may explain a change of the lines. */
export interface Mark {
  /** Seconds since the epoch. */
  at: number;
  label: string;
}

const DASH = [4, 4];
const LABEL_GAP = 4;
const FONT_SIZE = 12;

interface MarkStyle {
  colour: string;
  fontFamily: string;
  /** Canvas pixels for each CSS pixel. On a dense screen, sizes of the canvas would be too small. */
  pxRatio: number;
}

/** Fills the spans. Called before the lines are drawn. */
export function drawSpans(chart: uPlot, spans: readonly Span[], colour: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.fillStyle = colour;
  for (const { from, to } of spans) {
    const left = Math.max(chart.valToPos(from, 'x', true), bbox.left);
    const right = Math.min(chart.valToPos(to, 'x', true), bbox.left + bbox.width);
    if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
}

/** Draws a dashed line with a label at each mark. A label that would cover the one before it is left out. */
export function drawMarks(
  chart: uPlot,
  marks: readonly Mark[],
  { colour, fontFamily, pxRatio }: MarkStyle,
): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.font = `${FONT_SIZE * pxRatio}px ${fontFamily}`;
  ctx.lineWidth = pxRatio;
  ctx.textBaseline = 'top';
  ctx.textAlign = 'left';
  ctx.setLineDash(DASH.map((length) => length * pxRatio));
  const gap = LABEL_GAP * pxRatio;
  let free = bbox.left;
  for (const { at, label } of [...marks].sort((one, other) => one.at - other.at)) {
    const x = chart.valToPos(at, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const { width } = ctx.measureText(label);
    // Near the right edge the label is left of its line.
    const start = x + gap + width > bbox.left + bbox.width ? x - gap - width : x + gap;
    if (start < free) continue;
    ctx.fillText(label, start, bbox.top + gap);
    free = start + width;
  }
  ctx.restore();
}
