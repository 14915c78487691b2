/** Looking into Pods on Podman. */
import { lookingIn } from './looking-in.js';

lookingIn('podman');
