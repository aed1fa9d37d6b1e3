#!/usr/bin/env node
// Stands for memrepo: `mcp` speaks lines, `agent hook` writes down the event and tells something.
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, folder, verb] = process.argv.slice(2);
const said = (line) => appendFileSync(`${folder}/said.jsonl`, `${JSON.stringify(line)}\n`);
const hit = { id: "mem-1", score: 1.5, text: "Tea at ```four.", sources: [{ resource: "a.md", lines: [3, 3] }] };
const results = {
  memory_get: { content: [{ type: "text", text: "one\ntwo\nthree" }] },
  memory_forget: { isError: true, content: [{ type: "text", text: "refused: no such memory" }] },
};

if (verb === "mcp") {
  said({ started: true });
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    said({ method, params });
    if (id === undefined || params?.name === "memory_silent") return;
    if (params?.name === "memory_status") process.exit(3);
    const result = method === "initialize" ? {} : (results[params.name] ?? { content: [] });
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
  });
} else if (verb === "search") {
  said({ search: process.argv.slice(5) });
  process.stdout.write(JSON.stringify({ hits: [hit, { ...hit, id: "mem-2", score: 0.3 }] }));
  process.exitCode = 1;
} else {
  const event = JSON.parse(readFileSync(0, "utf8"));
  said(event);
  if (event.event === "prompt" && event.prompt === "fail") process.exit(1);
  if (["start", "prompt"].includes(event.event)) process.stdout.write(`told at ${event.event}`);
}
