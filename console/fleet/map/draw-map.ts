/** Draws the fleet map. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { type HostHealth, hostHealth } from '../../layout/status/host-health.js';
import { hasSameLayout, type MapLayout, TITLE_BASE_PX, TITLE_FONT } from './map-layout.js';

const GAP_PX = 2;
/** Cells with a mark, so that red-green colour blindness does not hide hosts that need attention. */
const MARKED: ReadonlySet<HostHealth> = new Set(['failing', 'notReady', 'offline']);

/** CSS variables of the cells. */
export const MAP_VARIABLES = {
  failing: '--failed',
  notReady: '--failed',
  offline: '--offline',
  pressure: '--waiting',
  cordoned: '--maintenance',
  healthy: '--ok',
  text: '--text',
  page: '--page',
} as const satisfies Record<HostHealth | 'text' | 'page', string>;

type MapColours = Readonly<Record<keyof typeof MAP_VARIABLES, string>>;

export interface DrawnMap {
  plan: MapLayout<Host>;
  width: number;
  colours: MapColours;
  /** Device pixels for each CSS pixel. */
  ratio: number;
}

/** Updates the canvas from the drawing `before` to `wanted`. Only redraws changed cells if the layout is the same. */
export function drawMap(canvas: HTMLCanvasElement, wanted: DrawnMap, before?: DrawnMap): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const { plan, width, colours, ratio } = wanted;
  const isSame = before?.width === width && before.colours === colours && before.ratio === ratio;
  const kept = isSame && hasSameLayout(before.plan, plan) ? before.plan : undefined;
  if (!kept) begin(canvas, context, wanted);
  for (const [at, { name, hosts, top, cellsTop }] of plan.groups.entries()) {
    if (!kept) {
      context.fillStyle = colours.text;
      context.fillText(`${name} · ${hosts.length}`, 0, top + TITLE_BASE_PX);
    }
    const past = kept?.groups[at]?.hosts;
    for (const [index, host] of hosts.entries()) {
      const old = past?.[index];
      if (old === host) continue;
      const condition = hostHealth(host);
      if (old && hostHealth(old) === condition) continue;
      const x = (index % plan.columns) * plan.pitch;
      const y = cellsTop + Math.floor(index / plan.columns) * plan.pitch;
      drawCell(context, { x, y, side: plan.pitch - GAP_PX, condition, colours });
    }
  }
}

/** Clears the canvas and sets its size in device pixels. */
function begin(
  canvas: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  { plan, width, ratio }: DrawnMap,
): void {
  canvas.width = width * ratio;
  canvas.height = plan.height * ratio;
  canvas.style.height = `${plan.height}px`;
  context.scale(ratio, ratio);
  context.font = TITLE_FONT;
}

interface Cell {
  x: number;
  y: number;
  side: number;
  condition: HostHealth;
  colours: MapColours;
}

function drawCell(context: CanvasRenderingContext2D, { x, y, side, condition, colours }: Cell): void {
  context.fillStyle = colours[condition];
  context.fillRect(x, y, side, side);
  if (!MARKED.has(condition)) return;
  context.fillStyle = colours.page;
  context.fillRect(x + side / 2 - 1, y + side / 4, 2, side / 2);
}
