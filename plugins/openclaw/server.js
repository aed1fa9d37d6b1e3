// One `memrepo mcp` process, started when it is first asked and again when it ended.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const HELLO = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "openclaw", version: "1" },
};

export class Server {
  #child;
  #waiting = new Map();
  #number = 0;
  #ready;

  constructor(program, words, { timeout = 30_000 } = {}) {
    this.program = program;
    this.words = words;
    this.timeout = timeout;
  }

  /** Call a tool; a refusal is an answer whose `isError` is true. */
  async call(name, given, signal) {
    await this.#start();
    return this.#ask("tools/call", { name, arguments: given }, signal);
  }

  /** End the process; the next call starts another. */
  close() {
    this.#child?.stdin.end();
    this.#child?.kill();
    this.#ended(new Error("memrepo was ended"));
  }

  #start() {
    this.#ready ??= this.#begin().catch((error) => {
      this.close();
      throw error;
    });
    return this.#ready;
  }

  async #begin() {
    const child = spawn(this.program, this.words, { stdio: ["pipe", "pipe", "ignore"] });
    this.#child = child;
    const gone = (error) => child === this.#child && this.#ended(error);
    child.on("error", gone);
    child.on("exit", (code, sign) => gone(new Error(`memrepo ended (${code ?? sign})`)));
    child.stdin.on("error", () => {});
    child.unref();
    createInterface({ input: child.stdout }).on("line", (line) => this.#heard(line));
    await this.#ask("initialize", HELLO);
    this.#tell({ method: "notifications/initialized" });
  }

  #ended(error) {
    this.#ready = undefined;
    this.#child = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  #tell(message) {
    this.#child?.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #ask(method, params, signal) {
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      const stop = (why) => {
        this.#tell({ method: "notifications/cancelled", params: { requestId: id } });
        this.#settle(id, (asked) => asked.reject(why));
      };
      const late = setTimeout(() => stop(new Error(`memrepo: no answer to ${method}`)), this.timeout);
      const given = () => stop(signal.reason ?? new Error("given up"));
      const done = () => {
        clearTimeout(late);
        signal?.removeEventListener("abort", given);
      };
      this.#waiting.set(id, {
        resolve: (value) => (done(), resolve(value)),
        reject: (error) => (done(), reject(error)),
      });
      signal?.addEventListener("abort", given, { once: true });
      this.#tell({ id, method, params });
      if (signal?.aborted) given();
    });
  }

  #settle(id, how) {
    const asked = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (asked) how(asked);
  }

  #heard(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    this.#settle(message.id, (asked) =>
      message.error
        ? asked.reject(new Error(`memrepo: ${message.error.message}`))
        : asked.resolve(message.result),
    );
  }
}
