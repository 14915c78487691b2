/** Images of the chaos hosts: those for the DaemonSets and one for the bystander container. */
import { testImageArchive } from '../harness/engines/test-images.js';
import { BYSTANDER_IMAGE, IMAGES } from './chaos-plan.js';

export function appImages(): Promise<Buffer> {
  return testImageArchive([...IMAGES]);
}

/** The content differs from the other images; otherwise it would be the same image. */
export function bystanderImage(): Promise<Buffer> {
  return testImageArchive([BYSTANDER_IMAGE], 1);
}
