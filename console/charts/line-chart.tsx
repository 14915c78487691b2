/** Line chart by uPlot. Loaded only by pages with charts. `label` carries the same information as text. */
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import classes from './line-chart.module.css';

export interface Line {
  name: string;
  values: readonly (number | null)[];
}

interface LineChartProps {
  /** Description for screen readers. */
  label: string;
  /** Seconds since the epoch. */
  times: readonly number[];
  lines: readonly Line[];
  /** Formats a value for the axis. */
  format: (value: number) => string;
  /** Minimum width of the time axis in seconds. */
  span: number;
  /** Fixed range of values. Absent: by the data. */
  range?: readonly [number, number];
  /** IANA time zone of the axis. Absent: the viewer's. */
  timeZone?: string;
}

const COLOURS = ['--chart-first', '--chart-second', '--chart-third'] as const;
const HEIGHT = 180;
const FONT = '12px system-ui, sans-serif';

export function LineChart({ label, times, lines, format, span, range, timeZone }: LineChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  const theme = useTheme();
  const data = dataOf(times, lines, span);
  const latest = useRef({ data, lines, format, range });
  latest.current = { data, lines, format, range };
  const names = lines.map(({ name }) => name).join();

  // Create a new chart for another theme, zone or set of lines. New values are set on the existing chart.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the other inputs are read from `latest`
  useEffect(() => {
    const host = frame.current;
    if (!host) return;
    const created = new uPlot(optionsOf(host, latest.current, timeZone), latest.current.data, host);
    chart.current = created;
    const watched = new ResizeObserver(() => created.setSize({ width: host.clientWidth, height: HEIGHT }));
    watched.observe(host);
    return () => {
      watched.disconnect();
      created.destroy();
    };
  }, [theme, timeZone, names, span]);
  useEffect(() => chart.current?.setData(data), [data]);

  return <div ref={frame} className={classes.chart} role="img" aria-label={label} />;
}

function optionsOf(
  host: HTMLElement,
  { lines, format, range }: Pick<LineChartProps, 'lines' | 'format' | 'range'>,
  timeZone: string | undefined,
): uPlot.Options {
  const style = getComputedStyle(host);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--chart-text'),
    font: FONT,
    grid: { stroke: colour('--chart-line'), width: 1 },
  };
  return {
    width: host.clientWidth,
    height: HEIGHT,
    // Space for the last label of the time axis.
    padding: [null, 28, null, null],
    ...(timeZone ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), timeZone) } : {}),
    scales: {
      x: { time: true },
      y: range ? { range: [range[0], range[1]] } : { range: fromZero },
    },
    axes: [axis, { ...axis, size: 64, values: (_chart, ticks) => ticks.map(format) }],
    series: [
      {},
      ...lines.map(({ name }, index) => ({
        label: name,
        stroke: colour(COLOURS[index % COLOURS.length] ?? '--chart-first'),
        width: 2,
        value: (_chart: uPlot, value: number | null) => (value === null ? '–' : format(value)),
      })),
    ],
  };
}

/** Adds an empty point at the start, so that a chart with few points has the full width of the time axis. */
function dataOf(times: readonly number[], lines: readonly Line[], span: number): uPlot.AlignedData {
  const start = (times.at(-1) ?? 0) - span;
  if ((times[0] ?? 0) <= start) return [[...times], ...lines.map(({ values }) => [...values])];
  return [[start, ...times], ...lines.map(({ values }) => [null, ...values])];
}

function fromZero(_chart: uPlot, _least: number, most: number): [number, number] {
  return [0, Math.max(most * 1.1, 1)];
}

/** Returns a value that changes with the colour theme. */
function useTheme(): string {
  const [theme, setTheme] = useState('');
  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const update = () => setTheme(`${document.documentElement.dataset.theme} ${system.matches}`);
    const observer = new MutationObserver(update);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    system.addEventListener('change', update);
    return () => {
      observer.disconnect();
      system.removeEventListener('change', update);
    };
  }, []);
  return theme;
}
