/**
 * Lowers the priority of the main thread and of the threads that it starts later. Tests that never wait would otherwise
 * delay concurrent tests whose engines and browsers have timeouts.
 */
import { constants, setPriority } from 'node:os';

setPriority(constants.priority.PRIORITY_LOW);
