/** Map of the fleet by health. */
import { useCallback, useRef } from 'react';
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { HOST_HEALTH_NAMES, hostHealth } from '../../layout/status/host-health.js';
import { type DrawnMap, drawMap, MAP_VARIABLES } from './draw-map.js';
import { MapCanvas } from './map-canvas.js';
import type { MapGroup, MapLayout } from './map-layout.js';
import { useThemeColours } from './theme-colours.js';

export function FleetMap({ groups }: { groups: readonly MapGroup<Host>[] }) {
  const colours = useThemeColours(MAP_VARIABLES);
  const drawn = useRef<DrawnMap>(undefined);
  const draw = useCallback(
    (canvas: HTMLCanvasElement, plan: MapLayout<Host>, width: number) => {
      const wanted = { plan, width, colours, ratio: devicePixelRatio };
      drawMap(canvas, wanted, drawn.current);
      drawn.current = wanted;
    },
    [colours],
  );
  return (
    <MapCanvas
      label="Fleet map; the table lists the same hosts"
      groups={groups}
      draw={draw}
      describe={describe}
      nameOf={({ metadata }) => metadata.name}
    />
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
