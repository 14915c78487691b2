/** The group that owns a Pod's volumes (pkg/volume/volume_linux.go SetVolumeOwnership). */
import { lchown } from 'node:fs/promises';
import type { PodSecurityContext } from '../../shared/kube/pods/pod-types.js';
import { FileDescriptor } from './file-descriptor.js';
import { walkTree } from './folder-tree.js';

/** Permissions of the group. New files in these folders get the group as well. */
interface GroupBits {
  file: number;
  folder: number;
}

const READ_AND_WRITE: GroupBits = { file: 0o660, folder: 0o2770 };
/** For volumes that only the agent writes to. */
export const READ_ONLY: GroupBits = { file: 0o440, folder: 0o2550 };

/**
 * Gives the volume at `path` with its content to the Pod's `fsGroup`. With the policy `OnRootMismatch`, skips a volume
 * whose top folder is correct. Changes the group of a link itself, not of its target. After a restart of the agent the
 * Pod's containers run meanwhile, and can replace a file by a link at any step.
 */
export async function applyFsGroup(
  path: string,
  security: PodSecurityContext | undefined,
  bits: GroupBits = READ_AND_WRITE,
): Promise<void> {
  const { fsGroup, fsGroupChangePolicy } = security ?? {};
  if (fsGroup === undefined) return;
  const top = await FileDescriptor.open(path);
  try {
    if (fsGroupChangePolicy === 'OnRootMismatch' && isRight(top, fsGroup, bits)) return;
    await walkTree(top, {
      visit: async (parent, name, folder) => {
        const entry = folder ?? (await parent.child(name));
        if (!entry) return;
        try {
          // A link has no mode, and no call takes a link by its descriptor.
          if (!entry.stats.isSymbolicLink()) await giveTo(entry, fsGroup, bits);
          else if (entry.stats.gid !== fsGroup) await lchown(parent.entry(name), entry.stats.uid, fsGroup);
        } finally {
          if (entry !== folder) await entry.close();
        }
      },
    });
    // The top comes last: its group and mode mark everything below as done.
    await giveTo(top, fsGroup, bits);
  } finally {
    await top.close();
  }
}

function isRight({ stats }: FileDescriptor, group: number, { folder }: GroupBits): boolean {
  return stats.gid === group && (stats.mode & folder) === folder;
}

async function giveTo(entry: FileDescriptor, group: number, bits: GroupBits): Promise<void> {
  const { stats } = entry;
  const isGiven = stats.gid === group;
  if (!isGiven) await entry.setGroup(group);
  const mode = stats.mode & 0o7777;
  const wanted = mode | (entry.isFolder ? bits.folder : bits.file);
  // The kernel clears the set-group bit when the owner changes, so set the mode afterwards.
  if (!isGiven || mode !== wanted) await entry.setMode(wanted);
}
