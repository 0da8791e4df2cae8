// The virtual sandbox: a thread for each task, which ends when the task is done, takes too long, or is no longer wanted.
import { Worker } from 'node:worker_threads'
import { keepable } from '../inside/file-changes.ts'
import { refusal, type SandboxAnswer, type SandboxRequest } from '../inside/request.ts'
import type { ToolSandbox } from '../sandbox.ts'

const RESOURCES = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }
/** The shell has its own limit; this is for a thread that does not obey it. */
const GRACE_MS = 2000

export class VirtualSandbox implements ToolSandbox {
  readonly name = 'virtual'

  async check(): Promise<void> {}

  async run(request: SandboxRequest, signal: AbortSignal): Promise<SandboxAnswer> {
    signal.throwIfAborted()
    // No environment: what the worker knows, such as the address of the database, is not in the thread.
    const thread = new Worker(new URL('../inside/thread.js', import.meta.url), {
      workerData: request,
      env: {},
      execArgv: ['--no-warnings'],
      resourceLimits: RESOURCES,
      stdout: true,
      stderr: true,
    })
    let timer: NodeJS.Timeout | undefined
    let stop = () => {}
    try {
      const answer = await new Promise<SandboxAnswer>((resolve, reject) => {
        stop = () => reject(signal.reason)
        signal.addEventListener('abort', stop)
        timer = setTimeout(() => resolve(tooLong(request.timeoutMs)), request.timeoutMs + GRACE_MS)
        thread.once('message', resolve)
        thread.once('error', (error) => resolve(stopped(error)))
        thread.once('exit', () => resolve(refusal('stopped', 'The tool was stopped.')))
      })
      return keepable(request.files, answer)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      await thread.terminate()
    }
  }
}

function tooLong(ms: number): SandboxAnswer {
  return refusal('time', `The tool took longer than ${ms} ms and was stopped.`)
}

function stopped(error: Error): SandboxAnswer {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return isMemory
    ? refusal('memory', 'The tool used more memory than it may have and was stopped.')
    : refusal('stopped', `The tool was stopped: ${error.message}`)
}
