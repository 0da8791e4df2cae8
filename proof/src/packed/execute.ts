// Other programs, run to their end in a folder.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const RUN_MS_MAX = 120_000

/** What the program printed. Rejects with everything that it printed if it fails. */
export async function execute(program: string, args: readonly string[], cwd: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { cwd, timeout: RUN_MS_MAX, maxBuffer: 2 ** 26 })
    return stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout ?? ''}${stderr ?? ''}`, { cause: error })
  }
}

export function npm(args: readonly string[], cwd: string): Promise<string> {
  // The npm that started this program, so that it is the one of the user also where there are several.
  const path = process.env.npm_execpath
  return path?.endsWith('.js') ? execute(process.execPath, [path, ...args], cwd) : execute('npm', args, cwd)
}
