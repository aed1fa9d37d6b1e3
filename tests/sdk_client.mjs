// Calls tools as the TypeScript SDK's client does, which holds each answer against its schema.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { modules, calls } = JSON.parse(readFileSync(0, "utf8"));
const from = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/sdk/dist/esm/${path}`));
const { Client } = await from("client/index.js");
const { StdioClientTransport } = await from("client/stdio.js");
const answers = [];
for (const { command, args, name, given } of calls) {
  const client = new Client({ name: "typescript", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
  try {
    await client.listTools(); // from here on the client knows the schemas
    const answer = [];
    for (const one of given) answer.push(await client.callTool({ name, arguments: one }));
    answers.push(answer);
  } catch (error) {
    answers.push([{ thrown: String(error) }]);
  } finally {
    await client.close();
  }
}
process.stdout.write(JSON.stringify(answers));
