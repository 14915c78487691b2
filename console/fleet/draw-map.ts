/** Draws the map of the fleet. */
import type { Host } from '../../shared/kube/host.js';
import type { MapPlan } from './fleet-map-plan.js';
import { conditionOf, type HostCondition } from './host-condition.js';
import type { MapColours } from './map-colours.js';

const GAP_PX = 2;
const TITLE_BASE_PX = 16;
/** Those who do not tell red from green see a mark in what needs them. */
const MARKED: ReadonlySet<HostCondition> = new Set(['failing', 'notReady', 'dark']);

/** Draws all of it, `width` px wide, sharp on any screen. */
export function drawMap(
  canvas: HTMLCanvasElement,
  plan: MapPlan<Host>,
  width: number,
  colours: MapColours,
): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  canvas.width = width * devicePixelRatio;
  canvas.height = plan.height * devicePixelRatio;
  canvas.style.height = `${plan.height}px`;
  context.scale(devicePixelRatio, devicePixelRatio);
  context.font = '600 13px system-ui, sans-serif';
  const side = plan.pitch - GAP_PX;
  for (const { name, hosts, top, cellsTop } of plan.groups) {
    context.fillStyle = colours.text;
    context.fillText(`${name} · ${hosts.length}`, 0, top + TITLE_BASE_PX);
    for (const [index, host] of hosts.entries()) {
      const condition = conditionOf(host);
      const x = (index % plan.columns) * plan.pitch;
      const y = cellsTop + Math.floor(index / plan.columns) * plan.pitch;
      context.fillStyle = colours[condition];
      context.fillRect(x, y, side, side);
      if (!MARKED.has(condition)) continue;
      context.fillStyle = colours.page;
      context.fillRect(x + side / 2 - 1, y + side / 4, 2, side / 2);
    }
  }
}
