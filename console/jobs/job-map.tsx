/** Map of a job's hosts by state. */
import { useCallback, useMemo } from 'react';
import type { DaemonJobHosts, JobHostState } from '../../shared/kube/fleet/daemonjob-host-types.js';
import { MapCanvas } from '../fleet/map/map-canvas.js';
import { type MapLayout, TITLE_BASE_PX, TITLE_FONT } from '../fleet/map/map-layout.js';
import { useThemeColours } from '../fleet/map/theme-colours.js';
import { translated } from '../texts/translate.js';
import { jobHostStatus } from './job-text.js';

const GAP_PX = 2;

/** CSS variables of the cells. */
const VARIABLES = {
  Failed: '--failed',
  Missed: '--maintenance',
  Offline: '--offline',
  Active: '--accent',
  Waiting: '--line',
  Succeeded: '--ok',
  text: '--text',
} as const satisfies Record<JobHostState | 'text', string>;

type Colours = Readonly<Record<keyof typeof VARIABLES, string>>;

interface JobHostCell {
  node: string;
  state: JobHostState;
}

export function JobMap({ states }: { states: DaemonJobHosts['states'] }) {
  const colours = useThemeColours(VARIABLES);
  const groups = useMemo(
    () =>
      states.map(({ state, nodes = [] }) => ({
        name: translated(jobHostStatus(state).word),
        hosts: nodes.map((node) => ({ node, state })),
      })),
    [states],
  );
  const draw = useCallback(
    (canvas: HTMLCanvasElement, plan: MapLayout<JobHostCell>, width: number) =>
      drawJobMap(canvas, plan, width, colours),
    [colours],
  );
  return (
    <MapCanvas<JobHostCell>
      label="Map of the hosts by result; the table lists the same hosts"
      groups={groups}
      draw={draw}
      describe={({ node, state }) => `${node} · ${translated(jobHostStatus(state).word)}`}
      nameOf={({ node }) => node}
    />
  );
}

function drawJobMap(
  canvas: HTMLCanvasElement,
  plan: MapLayout<JobHostCell>,
  width: number,
  colours: Colours,
): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const ratio = devicePixelRatio;
  canvas.width = width * ratio;
  canvas.height = plan.height * ratio;
  canvas.style.height = `${plan.height}px`;
  context.scale(ratio, ratio);
  context.font = TITLE_FONT;
  for (const { name, hosts, top, cellsTop } of plan.groups) {
    context.fillStyle = colours.text;
    context.fillText(`${name} · ${hosts.length}`, 0, top + TITLE_BASE_PX);
    context.fillStyle = colours[hosts[0]?.state ?? 'Waiting'];
    for (const index of hosts.keys()) {
      const x = (index % plan.columns) * plan.pitch;
      const y = cellsTop + Math.floor(index / plan.columns) * plan.pitch;
      context.fillRect(x, y, plan.pitch - GAP_PX, plan.pitch - GAP_PX);
    }
  }
}
