/** The example DaemonSets on a real Docker. */
import { daemons } from '../../e2e/daemons/daemon-shapes.js';

daemons('docker');
