/** Map of hosts on a canvas, because ten thousand elements are too slow. Screen readers use a table of the same hosts. */
import { type MouseEvent, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import classes from './map-canvas.module.css';
import { hostAt, layOutMap, type MapGroup, type MapLayout } from './map-layout.js';
import { useWidth } from './use-width.js';

interface MapCanvasProps<T> {
  /** Description for screen readers. */
  label: string;
  groups: readonly MapGroup<T>[];
  /** Another function draws the map again. */
  draw: (canvas: HTMLCanvasElement, plan: MapLayout<T>, width: number) => void;
  /** Text below the map while the pointer is on the host. */
  describe: (host: T) => string;
  nameOf: (host: T) => string;
}

export function MapCanvas<T>({ label, groups, draw, describe, nameOf }: MapCanvasProps<T>) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [, navigate] = useLocation();
  const [hovered, setHovered] = useState<T>();
  const width = useWidth(frame);
  const plan = useMemo(() => layOutMap(groups, width), [groups, width]);

  // Before the first paint: the drawing sets the height of the canvas, which moves the content below.
  useLayoutEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, plan, width);
  }, [plan, width, draw]);

  const under = ({ nativeEvent: { offsetX, offsetY } }: MouseEvent) => hostAt(plan, offsetX, offsetY);
  return (
    <div ref={frame} className={classes.map}>
      <canvas
        ref={canvas}
        className={classes.canvas}
        role="img"
        aria-label={label}
        onMouseMove={(event) => {
          const host = under(event);
          setHovered(() => host);
        }}
        onMouseLeave={() => setHovered(undefined)}
        onClick={(event) => {
          const host = under(event);
          if (host) navigate(`/hosts/${nameOf(host)}`);
        }}
      />
      <p className={classes.hint}>
        {hovered === undefined ? 'Point at a cell to see its host.' : describe(hovered)}
      </p>
    </div>
  );
}
