/** Where each host stands on the map: groups one below the other, cells in rows, as large as there is room. */

export interface MapGroup<T> {
  name: string;
  hosts: readonly T[];
}

interface PlacedGroup<T> extends MapGroup<T> {
  /** Of the title, in px. */
  top: number;
  /** Of the first row of cells. */
  cellsTop: number;
}

export interface MapLayout<T> {
  groups: PlacedGroup<T>[];
  columns: number;
  /** Side of a cell with the gap behind it, in px. */
  pitch: number;
  height: number;
}

const TITLE_PX = 24;
const GROUP_GAP_PX = 10;
/** Cells of more hosts are smaller: ten thousand fit some screens. */
const PITCHES: readonly [upTo: number, pitch: number][] = [
  [100, 28],
  [1_000, 20],
  [4_000, 14],
  [Number.POSITIVE_INFINITY, 11],
];

/** Lays `groups` out in `width` px. Pure. */
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

/** Whether each cell and each title stands where it stood. Pure. */
export function hasSameLayout<T>(a: MapLayout<T>, b: MapLayout<T>): boolean {
  if (a.columns !== b.columns || a.pitch !== b.pitch || a.groups.length !== b.groups.length) return false;
  return a.groups.every(({ name, hosts }, index) => {
    const other = b.groups[index];
    return other?.name === name && other.hosts.length === hosts.length;
  });
}

/** The host at a point of the map; undefined between cells' rows and groups. */
export function hostAt<T>({ groups, columns, pitch }: MapLayout<T>, x: number, y: number): T | undefined {
  const group = groups.findLast(({ cellsTop }) => y >= cellsTop);
  const column = Math.floor(x / pitch);
  if (!group || column < 0 || column >= columns) return undefined;
  return group.hosts[Math.floor((y - group.cellsTop) / pitch) * columns + column];
}
