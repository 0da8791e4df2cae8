// Starts a thread for one task of the virtual shell, and ends it when the task is done, takes too long, or is no longer wanted.
import { Worker } from 'node:worker_threads'
import type { ShellAnswer, ShellRequest } from './shell-request.ts'

const RESOURCES = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }
/** The shell has its own limit; this is for a thread that does not obey it. */
const GRACE_MS = 2000

export async function runInShell(request: ShellRequest, signal: AbortSignal): Promise<ShellAnswer> {
  signal.throwIfAborted()
  // No environment: what the worker knows, such as the address of the database, is not in the thread.
  const thread = new Worker(new URL('./shell-thread.js', import.meta.url), {
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
    return await new Promise<ShellAnswer>((resolve, reject) => {
      stop = () => reject(signal.reason)
      signal.addEventListener('abort', stop)
      timer = setTimeout(
        () => resolve(refusal(`The tool took longer than ${request.timeoutMs} ms and was stopped.`)),
        request.timeoutMs + GRACE_MS,
      )
      thread.once('message', resolve)
      thread.once('error', (error) => resolve(refusal(`The tool was stopped: ${error.message}`)))
      thread.once('exit', () => resolve(refusal('The tool was stopped.')))
    })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    await thread.terminate()
  }
}

function refusal(content: string): ShellAnswer {
  return { content, isError: true, changes: [] }
}
