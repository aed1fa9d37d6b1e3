import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import plugin, { manager, sessions } from "../index.js";
import { Server } from "../server.js";

const program = fileURLToPath(new URL("./memrepo.js", import.meta.url));
const manifest = JSON.parse(
  readFileSync(new URL("../openclaw.plugin.json", import.meta.url), "utf8"),
);
const open = [];
let folder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openclaw-memrepo-"));
  open.push(() => rmSync(folder, { recursive: true, force: true }));
});
after(() => open.reverse().forEach((close) => close()));

function server(options) {
  const made = new Server(program, ["-C", folder, "mcp"], options);
  open.push(() => made.close());
  return made;
}

function said() {
  try {
    return readFileSync(join(folder, "said.jsonl"), "utf8").trim().split("\n").map(JSON.parse);
  } catch {
    return [];
  }
}

/** Stand in for OpenClaw: keep what is registered. */
function host(pluginConfig) {
  const found = { tools: {}, hooks: {}, warned: [] };
  plugin.register({
    pluginConfig,
    logger: { warn: (line) => found.warned.push(line) },
    resolvePath: (path) => path,
    registerMemoryCapability: (capability) => (found.capability = capability),
    registerTool: (tool) => (found.tools[tool.name] = tool),
    on: (event, handler) => (found.hooks[event] = handler),
  });
  open.push(() => found.hooks.gateway_stop?.());
  return found;
}

test("the manifest and the registration name the same tools, and the slot", () => {
  const found = host({ program, repository: folder });
  assert.equal(manifest.kind, "memory");
  assert.equal(manifest.id, plugin.id);
  assert.deepEqual(Object.keys(found.tools), manifest.contracts.tools);
  assert.deepEqual(said(), [], "nothing is started before it is asked");
});

test("OpenClaw goes on reading the agent's own files at a session's start", async () => {
  const { runtime } = host({ program, repository: folder }).capability;
  const relativePaths = ["MEMORY.md", "USER.md"];
  assert.deepEqual(await runtime.classifyWorkspaceMemoryPaths({ relativePaths }), [
    { relativePath: "MEMORY.md", originClass: "agent" },
    { relativePath: "USER.md", originClass: "agent" },
  ]);
});

test("without a repository nothing is registered, and the log says so", () => {
  const found = host({});
  assert.equal(found.capability, undefined);
  assert.match(found.warned[0], /no repository/);
});

test("recall asks memrepo, with scores between 0 and 1", async () => {
  const found = manager(server(), { program, repository: folder });
  const hits = await found.search("tea", { maxResults: 99 });
  assert.deepEqual(hits.map((hit) => [hit.path, hit.score, hit.source]), [
    ["mem-1.md", 1, "memory"],
    ["mem-2.md", 0.3 / 1.5, "memory"],
  ]);
  assert.equal((await found.search("tea", { minScore: 0.5 })).length, 1);
  assert.deepEqual(said()[0], { search: ["--json", "-k", "50", "--", "tea"] });
  assert.equal(hits[0].snippet, "````memories\nTea at ```four.\n````");
});

test("a memory is read by its lines", async () => {
  const found = manager(server());
  const read = await found.readFile({ relPath: "memory/mem-1.md", from: 2, lines: 1 });
  assert.deepEqual(read, { status: "ok", path: "memory/mem-1.md", text: "two", from: 2, lines: 1 });
});

test("a refusal is an error in memrepo's own words", async () => {
  const { tools } = host({ program, repository: folder });
  await assert.rejects(tools.memory_forget.execute("1", { id: "x" }), /refused: no such memory/);
});

test("a server that ended is started again, and one that hangs is given up", async () => {
  const asked = server({ timeout: 3000 });
  await assert.rejects(asked.call("memory_status", {}), /ended \(3\)/);
  assert.ok((await asked.call("memory_get", {})).content);
  assert.equal(said().filter((line) => line.started).length, 2);
  await assert.rejects(asked.call("memory_silent", {}, AbortSignal.timeout(100)));
  await assert.rejects(asked.call("memory_silent", {}), /no answer/);
  await asked.call("memory_get", {}); // what was sent before it was read by now
  assert.equal(said().filter((line) => line.method === "notifications/cancelled").length, 2);
});

test("a program that is not there is said, each time", async () => {
  const asked = new Server("/nowhere/memrepo", []);
  for (const _ of [1, 2]) await assert.rejects(asked.call("memory_get", {}), /ENOENT/);
});

test("a session begins with what is known, each prompt with what fits, and ends in a note", async () => {
  const { hooks } = host({ program, repository: folder });
  const context = { sessionId: "s1", sessionKey: "agent:main:one" };
  const first = await hooks.before_prompt_build({ prompt: "hello", messages: [] }, context);
  assert.equal(first.prependContext, "told at start\n\ntold at prompt");
  const second = await hooks.before_prompt_build(
    { prompt: "in an envelope", currentUserMessage: "more", messages: [] },
    context,
  );
  assert.equal(second.prependContext, "told at prompt");
  const reply = { role: "assistant", content: [{ type: "text", text: "Done." }] };
  await hooks.agent_end({ messages: [{ role: "user", content: "more" }, reply] }, context);
  await hooks.session_end({ sessionId: "s1", reason: "compaction" }, context);
  await hooks.session_end({ sessionId: "s1", reason: "new" }, { sessionId: "s2" });
  assert.deepEqual(said(), [
    { event: "start", session: "s1" },
    { event: "prompt", session: "s1", prompt: "hello" },
    { event: "prompt", session: "s1", prompt: "more" },
    { event: "stop", session: "s1", reply: "Done." },
    { event: "end", session: "s1" },
  ]);
});

test("a hook that fails stops no session", async () => {
  const { hooks, warned } = host({ program, repository: folder });
  const context = { sessionId: "s1" };
  await hooks.before_prompt_build({ prompt: "x", messages: [] }, context);
  assert.equal(await hooks.before_prompt_build({ prompt: "fail", messages: [] }, context), undefined);
  assert.match(warned[0], /goes on without its memory/);
});

test("a session that begins anew after its end is told again", async () => {
  const told = [];
  const hooks = sessions(async (event) => (told.push(event.event), ""));
  for (const _ of [1, 2]) {
    await hooks.before_prompt_build({ prompt: "", messages: [] }, { sessionId: "s" });
    await hooks.session_end({ sessionId: "s", reason: "reset" }, {});
  }
  assert.deepEqual(told, ["start", "end", "start", "end"]);
});
