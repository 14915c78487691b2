/** Looking into Pods on Docker. */
import { lookingIn } from './looking-in.js';

lookingIn('docker');
