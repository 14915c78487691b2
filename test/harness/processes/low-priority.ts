/**
 * Lowers the priority of the importing process and of its later threads. Tests that never wait would otherwise delay
 * concurrent tests whose engines and browsers have timeouts.
 */
import { constants, setPriority } from 'node:os';

setPriority(constants.priority.PRIORITY_LOW);
