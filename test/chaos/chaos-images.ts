/** The images that hosts of chaos have: those of what people ask for, and that of the container that is none of ours. */
import { testImageArchive } from '../harness/engines/test-images.js';
import { BYSTANDER_IMAGE, IMAGES } from './chaos-plan.js';

export function appImages(): Promise<Buffer> {
  return testImageArchive([...IMAGES]);
}

/** Of other content, or it would be the same image. */
export function bystanderImage(): Promise<Buffer> {
  return testImageArchive([BYSTANDER_IMAGE], 1);
}
