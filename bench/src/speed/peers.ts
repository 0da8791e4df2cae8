// Peers — the other libraries. They live in bench/peers, which is no workspace: `npm install` of the repository does not bring them,
// the first bench that needs them does.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const PEERS = fileURLToPath(new URL('../../peers/', import.meta.url))
const MODULES = join(PEERS, 'node_modules')

/** Installs what package.json names, unless that was done since it was changed. What is optional may be missing afterwards. */
export function installPeers(): void {
  const wanted = readFileSync(join(PEERS, 'package.json'), 'utf8')
  const stamp = join(MODULES, '.installed.json')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.log('installing the peers into bench/peers; better-sqlite3 may have to be compiled, which takes minutes')
  const install = `npm install --no-audit --no-fund --loglevel=error && cp package.json ${JSON.stringify(stamp)}`
  try {
    execFileSync('sh', ['-c', install], { cwd: PEERS, stdio: 'inherit' })
  } catch {
    console.log('not all peers could be installed; rows say which are missing')
  }
}

export function peerVersion(name: string): string | undefined {
  const file = join(MODULES, name, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : undefined
}

/** `T` is the part of the package that is used: its own types are not there when this is compiled. */
export async function loadPeer<T>(name: string): Promise<T> {
  const [, owner] = /^((?:@[^/]+\/)?[^/]+)/.exec(name) ?? []
  if (!owner || !peerVersion(owner)) throw new Error(`${name} is not installed in bench/peers`)
  const { load } = (await import(new URL('../../peers/load.js', import.meta.url).href)) as { load(name: string): Promise<T> }
  return load(name)
}

export const NODE_24 = join(MODULES, 'node24', 'bin', 'node')
