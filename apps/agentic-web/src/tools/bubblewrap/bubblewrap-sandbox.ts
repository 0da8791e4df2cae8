// The sandbox of the operating system: each task is a process of its own, isolated by bubblewrap, that sees the files of its session and the programs
// of the machine, and nothing else. Files of a session go in with the request and come out with the answer, as in the virtual sandbox.
import type { ProcessRequest } from '../inside/process-messages.ts'
import { refusal, type SandboxAnswer, type SandboxRequest } from '../inside/request.ts'
import type { ToolSandbox } from '../sandbox.ts'
import { demandBubblewrap } from './find-bubblewrap.ts'
import { type Ended, type Isolation, runIsolated } from './isolated-process.ts'
import { readAnswer } from './untrusted-answer.ts'

export interface BubblewrapOptions {
  /** The user as which tools run if the worker is root. */
  uid: number | undefined
  memoryMb: number
  processes: number
  /** `bash` is a real shell. */
  hasRealShell: boolean
  report: (problem: string) => void
}

const CHECK_MS = 20_000

export class BubblewrapSandbox implements ToolSandbox {
  readonly name = 'bubblewrap'
  readonly #options: BubblewrapOptions

  constructor(options: BubblewrapOptions) {
    this.#options = options
  }

  async check(): Promise<void> {
    const task = { tool: 'glob_search', args: { pattern: '*' } } as const
    const request = { files: new Map([['isolated', Buffer.alloc(0)]]), task, timeoutMs: CHECK_MS }
    const { ended, answer } = await this.#ask(request, new AbortController().signal)
    if (answer?.content === 'isolated\n') return
    const why = ended.complaint.trim().split('\n').at(-1) || ended.violation?.message || 'it gave no answer'
    throw new Error(`bubblewrap cannot isolate a process here: ${why}. Allow user namespaces, or set SANDBOX=none`)
  }

  async run(request: SandboxRequest, signal: AbortSignal): Promise<SandboxAnswer> {
    signal.throwIfAborted()
    const { ended, answer } = await this.#ask(request, signal)
    if (answer) return answer
    const { violation, complaint } = ended
    if (violation) return refusal(violation.kind, violation.message)
    if (complaint !== '') this.#options.report(`a tool ended without an answer: ${complaint.trim()}`)
    return refusal('stopped', 'The tool ended without an answer, and no file was changed.')
  }

  async #ask(request: SandboxRequest, signal: AbortSignal): Promise<{ ended: Ended; answer: SandboxAnswer | undefined }> {
    const ended = await runIsolated(this.#isolation(), this.#encode(request), request.timeoutMs, signal)
    return { ended, answer: ended.violation ? undefined : readAnswer(ended.output, request.files) }
  }

  #isolation(): Isolation {
    const { uid, memoryMb } = this.#options
    const isRoot = process.geteuid?.() === 0
    if (isRoot && uid === undefined)
      throw new Error(
        'the worker runs as root, and a tool must not; set SANDBOX_UID to a user that has no rights, or start the worker as one',
      )
    return { bubblewrap: demandBubblewrap(), uid: isRoot ? uid : undefined, memoryMb }
  }

  #encode({ files, ...rest }: SandboxRequest): string {
    const { hasRealShell, memoryMb, processes } = this.#options
    const encoded = [...files].map(([path, content]): [string, string] => [path, Buffer.from(content).toString('base64')])
    return JSON.stringify({ ...rest, files: encoded, hasRealShell, memoryMb, processes } satisfies ProcessRequest)
  }
}
