// Written by `memrepo agent install openclaw`: hands events to memrepo and its answer to the agent.
import { execFile } from "node:child_process";
import { join } from "node:path";

const COMMAND = __COMMAND__;
const KINDS = {
  "agent:bootstrap": "start",
  "message:preprocessed": "prompt",
  "message:sent": "stop",
  "command:new": "end",
  "command:reset": "end",
};

// Nobody waits for the end of a session, so it may take longer.
const TIMEOUT = { end: 150000 };

function ask(input) {
  return new Promise((resolve) => {
    const [program, ...words] = COMMAND;
    const child = execFile(program, words, { timeout: TIMEOUT[input.event] ?? 30000 }, (error, out) => {
      if (error) console.warn(`[memrepo] ${error.message}: the session goes on without its memory`);
      resolve(error ? "" : out.trim());
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(input));
  });
}

export default async function handler(event) {
  const kind = KINDS[`${event.type}:${event.action}`];
  if (!kind) return;
  const context = event.context ?? {};
  const answer = ask({
    event: kind,
    session: event.sessionKey ?? "",
    prompt: kind === "prompt" ? (context.bodyForAgent ?? context.body ?? "") : "",
    reply: kind === "stop" ? (context.content ?? "") : "",
  });
  if (kind === "end") return;
  const said = await answer;
  if (kind === "start" && said && Array.isArray(context.bootstrapFiles)) {
    const path = join(context.workspaceDir ?? "", "MEMREPO.md");
    context.bootstrapFiles.push({ name: "MEMORY.md", path, content: said, missing: false });
  }
}
