/** Map of a job's hosts by state, on a canvas, because ten thousand elements are too slow. The table lists the hosts too. */
import { type MouseEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { DaemonJobHosts, JobHostState } from '../../shared/kube/fleet/daemonjob-host-types.js';
import { hostAt, layOutMap, type MapLayout } from '../fleet/map/map-layout.js';
import { useWidth } from '../fleet/map/use-width.js';
import classes from './job-map.module.css';
import { jobHostStatus } from './job-text.js';

const GAP_PX = 2;
const TITLE_BASE_PX = 16;

/** CSS variables of the cells. The canvas supports neither variables nor `light-dark()`. */
const COLOURS: Readonly<Record<JobHostState, string>> = {
  Failed: '--failed',
  Missed: '--maintenance',
  Offline: '--offline',
  Active: '--accent',
  Waiting: '--line',
  Succeeded: '--ok',
};

interface JobHostCell {
  node: string;
  state: JobHostState;
}

export function JobMap({ states }: { states: DaemonJobHosts['states'] }) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [, navigate] = useLocation();
  const [hovered, setHovered] = useState<JobHostCell>();
  const width = useWidth(frame);
  const theme = useThemeChanges();
  const plan = useMemo(() => {
    const groups = states.map(({ state, nodes = [] }) => ({
      name: jobHostStatus(state).word,
      hosts: nodes.map((node) => ({ node, state })),
    }));
    return layOutMap<JobHostCell>(groups, width);
  }, [states, width]);

  // Before the first paint: the drawing sets the height of the canvas, which moves the content below.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed theme has other colours
  useLayoutEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, plan, width);
  }, [plan, width, theme]);

  const under = ({ nativeEvent: { offsetX, offsetY } }: MouseEvent) => hostAt(plan, offsetX, offsetY);
  return (
    <div ref={frame} className={classes.map}>
      <canvas
        ref={canvas}
        className={classes.canvas}
        role="img"
        aria-label="Map of the hosts by result; the table lists the same hosts"
        onMouseMove={(event) => setHovered(under(event))}
        onMouseLeave={() => setHovered(undefined)}
        onClick={(event) => {
          const host = under(event);
          if (host) navigate(`/hosts/${host.node}`);
        }}
      />
      <p className={classes.hint}>
        {hovered
          ? `${hovered.node} · ${jobHostStatus(hovered.state).word}`
          : 'Point at a cell to see its host.'}
      </p>
    </div>
  );
}

/** Returns a number that increases when the theme changes. */
function useThemeChanges(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const count = () => setChanges((before) => before + 1);
    const system = matchMedia('(prefers-color-scheme: dark)');
    const observer = new MutationObserver(count);
    system.addEventListener('change', count);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', count);
      observer.disconnect();
    };
  }, []);
  return changes;
}

function draw(canvas: HTMLCanvasElement, plan: MapLayout<JobHostCell>, width: number): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const ratio = devicePixelRatio;
  canvas.width = width * ratio;
  canvas.height = plan.height * ratio;
  canvas.style.height = `${plan.height}px`;
  context.scale(ratio, ratio);
  context.font = '600 13px system-ui, sans-serif';
  const colour = colourReader();
  const text = colour('--text');
  for (const { name, hosts, top, cellsTop } of plan.groups) {
    context.fillStyle = text;
    context.fillText(`${name} · ${hosts.length}`, 0, top + TITLE_BASE_PX);
    context.fillStyle = colour(COLOURS[hosts[0]?.state ?? 'Waiting']);
    for (const index of hosts.keys()) {
      const x = (index % plan.columns) * plan.pitch;
      const y = cellsTop + Math.floor(index / plan.columns) * plan.pitch;
      context.fillRect(x, y, plan.pitch - GAP_PX, plan.pitch - GAP_PX);
    }
  }
}

/** Returns a function from the name of a CSS variable to its colour in the current theme. */
function colourReader(): (variable: string) => string {
  const probe = document.createElement('span');
  return (variable) => {
    document.body.append(probe);
    probe.style.color = `var(${variable})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
