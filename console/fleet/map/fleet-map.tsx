/** Fleet map on a canvas, because ten thousand elements are too slow. Screen readers use the table. */
import { type MouseEvent, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { HOST_HEALTH_NAMES, hostHealth } from '../../layout/status/host-health.js';
import { type DrawnMap, drawMap } from './draw-map.js';
import classes from './fleet-map.module.css';
import { useMapColours } from './map-colours.js';
import { hostAt, layOutMap, type MapGroup } from './map-layout.js';
import { useWidth } from './use-width.js';

export function FleetMap({ groups }: { groups: readonly MapGroup<Host>[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [, navigate] = useLocation();
  const [hovered, setHovered] = useState<Host>();
  const width = useWidth(frame);
  const plan = useMemo(() => layOutMap(groups, width), [groups, width]);

  const colours = useMapColours();
  const drawn = useRef<DrawnMap>(undefined);

  // Before the first paint: the drawing sets the height of the canvas, which moves the content below.
  useLayoutEffect(() => {
    if (!canvas.current || width === 0) return;
    const wanted = { plan, width, colours, ratio: devicePixelRatio };
    drawMap(canvas.current, wanted, drawn.current);
    drawn.current = wanted;
  }, [plan, width, colours]);

  const under = ({ nativeEvent: { offsetX, offsetY } }: MouseEvent) => hostAt(plan, offsetX, offsetY);
  return (
    <div ref={frame} className={classes.map}>
      <canvas
        ref={canvas}
        className={classes.canvas}
        role="img"
        aria-label="Fleet map; the table lists the same hosts"
        onMouseMove={(event) => setHovered(under(event))}
        onMouseLeave={() => setHovered(undefined)}
        onClick={(event) => {
          const host = under(event);
          if (host) navigate(`/hosts/${host.metadata.name}`);
        }}
      />
      <p className={classes.hint}>{hovered ? describe(hovered) : 'Point at a cell to see its host.'}</p>
    </div>
  );
}

function describe(host: Host): string {
  const { pods, message, failing } = host.status;
  const because = failing[0]?.message ?? message;
  const words = [
    host.metadata.name,
    HOST_HEALTH_NAMES[hostHealth(host)],
    `${pods.ready}/${pods.total} Pods ready`,
  ];
  return because ? [...words, because].join(' · ') : words.join(' · ');
}
