/** Adds the agent's own versions to the host's container engine, as containers (`agent-version-containers.ts`). */
import { overrideDriver } from '../runtime/override-driver.js';
import { type RuntimeDriver, RuntimeError } from '../runtime/runtime-driver.js';
import { type AgentVersionContainers, agentVersionOf } from './agent-version-containers.js';

/** Returns `engine` with the containers of `agents` among its own. A Pod may have containers of both. */
export function withAgentVersions(engine: RuntimeDriver, agents: AgentVersionContainers): RuntimeDriver {
  const refuse = (id: string): void => {
    if (agents.has(id)) throw new RuntimeError('NotRunning', 'this container is the agent itself', false);
  };
  return overrideDriver(engine, {
    list: async () => [...(await engine.list()), ...agents.list()],
    inspectPod: async (podUid) => {
      const ofPod = agents.list().filter(({ identity }) => identity.podUid === podUid);
      return [...(await engine.inspectPod(podUid)), ...ofPod];
    },
    findImage: async (image) => {
      const version = agentVersionOf(image);
      return version === undefined ? engine.findImage(image) : agents.findImage(version);
    },
    pull: async (request) => {
      const version = agentVersionOf(request.image);
      await (version === undefined ? engine.pull(request) : agents.pull(version, request));
    },
    tag: async (image, name) => {
      if (agentVersionOf(image) === undefined) await engine.tag(image, name);
    },
    // A full disk removes no versions: the previous one is needed if the current one fails. Upgrades remove old versions.
    removeImage: async (image) => {
      if (agentVersionOf(image) === undefined) await engine.removeImage(image);
    },
    create: async (config, onWarning) => {
      const version = agentVersionOf(config.image);
      return version === undefined ? engine.create(config, onWarning) : agents.create(config, version);
    },
    start: async (id) => (agents.has(id) ? agents.start(id) : engine.start(id)),
    stop: async (id, graceSeconds) => (agents.has(id) ? agents.stop(id) : engine.stop(id, graceSeconds)),
    remove: async (id) => (agents.has(id) ? agents.remove(id) : engine.remove(id)),
    logs: (id, request, signal) => (agents.has(id) ? journalHint() : engine.logs(id, request, signal)),
    exec: async (id, request, signal) => {
      refuse(id);
      return engine.exec(id, request, signal);
    },
    attach: async (id, request, signal) => {
      refuse(id);
      return engine.attach(id, request, signal);
    },
    dial: async (id, port, signal) => {
      refuse(id);
      return engine.dial(id, port, signal);
    },
  });
}

async function* journalHint(): AsyncIterable<Uint8Array> {
  yield Buffer.from("The agent's log is in its host's journal: journalctl -u everynode-agent\n");
}
