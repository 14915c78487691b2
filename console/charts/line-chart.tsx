/** Line chart by uPlot. Loaded only by pages with charts. `label` carries the same information as text. */
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { drawMarks, drawSpans, type Mark, type Span } from './chart-marks.js';
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
  /** Least step of the axis. Without it, an axis of whole numbers shows one of them several times. */
  leastStep: number;
  /** IANA time zone of the axis. Absent: the viewer's. */
  timeZone?: string;
  /** Times when the host was offline. */
  offline?: readonly Span[];
  marks?: readonly Mark[];
}

const COLOURS = ['--chart-first', '--chart-second', '--chart-third'] as const;
const HEIGHT = 180;
const FONT_FAMILY = '"Inter Variable", system-ui, sans-serif';
const FONT = `12px ${FONT_FAMILY}`;
/** Charts with this key share their crosshair. */
const CROSSHAIR = 'host';
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Least step in seconds, its format, and the format where the day changes. Elsewhere the console has 24 hours too. */
const TIME_FORMATS = [
  [DAY, '{YYYY}-{MM}-{DD}', null, null, null, null, null, null, 1],
  [MINUTE, '{HH}:{mm}', null, null, '\n{YYYY}-{MM}-{DD}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', null, null, '\n{YYYY}-{MM}-{DD}', null, null, null, 1],
];
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000];
const NONE: readonly never[] = [];

export function LineChart(props: LineChartProps) {
  const { label, times, lines, span, timeZone } = props;
  const frame = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  const theme = useTheme();
  const data = dataOf(times, lines, span);
  const latest = useRef({ data, props });
  latest.current = { data, props };
  const names = lines.map(({ name }) => name).join();

  // Create a new chart for another theme, zone or set of lines. New values are set on the existing chart.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the other inputs are read from `latest`
  useEffect(() => {
    const host = frame.current;
    if (!host) return;
    const created = new uPlot(
      optionsOf(host, () => latest.current.props),
      latest.current.data,
      host,
    );
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

/** `latest` returns the present props: marks and spans change without a new chart. */
function optionsOf(host: HTMLElement, latest: () => LineChartProps): uPlot.Options {
  const { lines, format, range, timeZone, leastStep } = latest();
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
    cursor: { sync: { key: CROSSHAIR } },
    hooks: {
      drawClear: [(chart) => drawSpans(chart, latest().offline ?? NONE, colour('--chart-offline'))],
      draw: [
        (chart) =>
          drawMarks(chart, latest().marks ?? NONE, {
            ...{ colour: colour('--chart-text'), fontFamily: FONT_FAMILY, pxRatio: uPlot.pxRatio },
          }),
      ],
    },
    scales: {
      x: { time: true },
      y: range ? { range: [range[0], range[1]] } : { range: fromZero },
    },
    axes: [
      { ...axis, values: TIME_FORMATS as uPlot.Axis.Values },
      {
        ...axis,
        size: 64,
        incrs: STEPS.map((step) => step * leastStep),
        values: (_chart, ticks) => ticks.map(format),
      },
    ],
    series: [
      { label: 'Time', value: (chart, seconds: number | null) => timeText(chart, seconds, timeZone) },
      ...lines.map(({ name }, index) => ({
        label: name,
        stroke: colour(COLOURS[index % COLOURS.length] ?? '--chart-first'),
        width: 2,
        value: (_chart: uPlot, value: number | null) => (value === null ? '' : format(value)),
      })),
    ],
  };
}

/** The legend is empty until the pointer is on a chart. */
function timeText(_chart: uPlot, seconds: number | null, timeZone: string | undefined): string {
  if (seconds === null) return '';
  const options = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Date(seconds * 1000).toLocaleTimeString([], { ...options, ...(timeZone ? { timeZone } : {}) });
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
