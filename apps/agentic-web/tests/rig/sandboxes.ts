// The sandboxes that there are on this machine, and what a tool must never get hold of: a canary in the environment and in a file of this
// machine, a server on loopback and a socket that has no file.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BubblewrapSandbox } from '../../dist/tools/bubblewrap/bubblewrap-sandbox.js'
import type { SandboxAnswer } from '../../dist/tools/inside/request.js'
import type { ToolSandbox } from '../../dist/tools/sandbox.js'
import { VirtualSandbox } from '../../dist/tools/virtual/virtual-sandbox.js'

/** An ordinary user without rights. Nobody else has processes of it, so what is left of a tool is found by it. */
export const SANDBOX_UID = 20_001

export type Backend = 'virtual' | 'bubblewrap'
export const BACKENDS: readonly Backend[] = ['virtual', 'bubblewrap']

export function openBackend(backend: Backend): ToolSandbox {
  if (backend === 'virtual') return new VirtualSandbox()
  return new BubblewrapSandbox({ uid: SANDBOX_UID, memoryMb: 512, processes: 96, hasRealShell: true, report: () => {} })
}

/** Why the sandbox cannot be tested here; undefined if it can. */
export async function whyNotRun(backend: Backend): Promise<string | undefined> {
  return openBackend(backend)
    .check()
    .then(
      () => undefined,
      (error: Error) => `not run: ${error.message}`,
    )
}

/** The command of a tool, on a workspace with the file `a.txt`. */
export function runCommand(
  sandbox: ToolSandbox,
  command: string,
  timeoutMs: number,
  signal = new AbortController().signal,
): Promise<SandboxAnswer> {
  return sandbox.run({ files: new Map([['a.txt', Buffer.from('mine\n')]]), task: { tool: 'bash', args: { command } }, timeoutMs }, signal)
}

export class Surroundings {
  readonly canary = `canary-${process.pid}-${Date.now()}`
  readonly folder = mkdtempSync(join(tmpdir(), 'agentic-other-'))
  readonly abstractName = `agentic-${process.pid}`
  readonly #servers: Server[] = []
  port = 0
  connections = 0

  async open(): Promise<void> {
    process.env.AGENTIC_CANARY = this.canary
    writeFileSync(join(this.folder, 'secret.txt'), this.canary, { mode: 0o644 })
    this.port = await this.#serve(0)
    await this.#serve({ path: `\0${this.abstractName}` })
  }

  async #serve(where: number | { path: string }): Promise<number> {
    const server = createServer((socket) => {
      this.connections += 1
      socket.end(this.canary)
    })
    this.#servers.push(server)
    await new Promise<void>((resolve) =>
      typeof where === 'number' ? server.listen(where, '127.0.0.1', resolve) : server.listen(where, resolve),
    )
    const address = server.address()
    return typeof address === 'object' ? (address?.port ?? 0) : 0
  }

  /** Puts what is here into a command. */
  fill(command: string): string {
    const values: Record<string, string> = { OTHER: this.folder, PORT: String(this.port), ABSTRACT: this.abstractName, CWD: process.cwd() }
    return command.replace(/@(OTHER|PORT|ABSTRACT|CWD)@/g, (_, name: string) => values[name] ?? '')
  }

  async close(): Promise<void> {
    delete process.env.AGENTIC_CANARY
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
    rmSync(this.folder, { recursive: true, force: true })
  }
}
