/** Layout of the fleet map: groups with rows of cells. The cell size depends on the number of hosts. */

export interface MapGroup<T> {
  name: string;
  hosts: readonly T[];
}

interface PlacedGroup<T> extends MapGroup<T> {
  top: number;
  cellsTop: number;
}

export interface MapLayout<T> {
  groups: PlacedGroup<T>[];
  columns: number;
  /** Size of a cell including its gap, in pixels. */
  pitch: number;
  height: number;
}

/** Font of the titles of groups. A canvas does not inherit the font of the page. */
export const TITLE_FONT = '600 13px "Inter Variable", system-ui, sans-serif';
/** Distance of a title's baseline from the top of its group. */
export const TITLE_BASE_PX = 16;
const TITLE_PX = 24;
const GROUP_GAP_PX = 10;
/** Cell sizes by number of hosts. Ten thousand hosts fit on a few screens. */
const PITCHES: readonly [upTo: number, pitch: number][] = [
  [100, 28],
  [1_000, 20],
  [4_000, 14],
  [Number.POSITIVE_INFINITY, 11],
];

/** Computes the layout of `groups` for a width in pixels. Pure. */
export function layOutMap<T>(groups: readonly MapGroup<T>[], width: number): MapLayout<T> {
  const total = groups.reduce((sum, { hosts }) => sum + hosts.length, 0);
  const pitch = PITCHES.find(([upTo]) => total <= upTo)?.[1] ?? 11;
  const columns = Math.max(1, Math.floor(width / pitch));
  const placed: PlacedGroup<T>[] = [];
  let top = 0;
  for (const group of groups) {
    const cellsTop = top + TITLE_PX;
    placed.push({ ...group, top, cellsTop });
    top = cellsTop + Math.ceil(group.hosts.length / columns) * pitch + GROUP_GAP_PX;
  }
  return { groups: placed, columns, pitch, height: top };
}

/** Returns true if all cells and titles have the same positions. Pure. */
export function hasSameLayout<T>(a: MapLayout<T>, b: MapLayout<T>): boolean {
  if (a.columns !== b.columns || a.pitch !== b.pitch || a.groups.length !== b.groups.length) return false;
  return a.groups.every(({ name, hosts }, index) => {
    const other = b.groups[index];
    return other?.name === name && other.hosts.length === hosts.length;
  });
}

/** Returns the host at a point of the map, or undefined between cells and groups. */
export function hostAt<T>({ groups, columns, pitch }: MapLayout<T>, x: number, y: number): T | undefined {
  const group = groups.findLast(({ cellsTop }) => y >= cellsTop);
  const column = Math.floor(x / pitch);
  if (!group || column < 0 || column >= columns) return undefined;
  return group.hosts[Math.floor((y - group.cellsTop) / pitch) * columns + column];
}
