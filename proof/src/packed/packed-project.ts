// An empty project in which somebody installs the packages as they would be published, and pastes the program of the README.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { REPO } from '../engine-build.ts'
import { npm } from './execute.ts'

export const PACKAGES = ['durably', 'durably-react', 'durably-cli', 'durably-ui'] as const

export interface PackedProject {
  folder: string
  /** The tarballs, in the order of `PACKAGES`. */
  tarballs: string[]
  remove(): void
}

/** Installs the packed packages, and beside them the named ones of the repository's own versions, which npm has in its cache. */
export async function packedProject(beside: readonly string[]): Promise<PackedProject> {
  const folder = mkdtempSync(join(tmpdir(), 'durably-packed-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const tarballs = await pack(folder)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    await npm(['install', '--prefer-offline', '--no-audit', '--no-fund', ...tarballs, ...beside.map(atOwnVersion)], folder)
    return { folder, tarballs, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** Packs a copy, because packing builds anew and other tests use the build in the repository. In it, so that the copy finds what it imports. */
async function pack(folder: string): Promise<string[]> {
  const target = join(folder, 'tarballs')
  mkdirSync(target)
  mkdirSync(join(REPO, '.tmp'), { recursive: true })
  const copy = mkdtempSync(join(REPO, '.tmp/packed-'))
  try {
    cpSync(join(REPO, 'tsconfig.base.json'), join(copy, 'tsconfig.base.json'))
    const sources = PACKAGES.map((name) => copyOf(name, copy))
    await npm(['pack', '--pack-destination', target, ...sources], copy)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  return PACKAGES.map((name) => join(target, `coji-${name}-${manifestOf(join('packages', name)).version}.tgz`))
}

function copyOf(name: string, copy: string): string {
  const source = join(REPO, 'packages', name)
  const target = join(copy, 'packages', name)
  for (const part of PARTS) if (existsSync(join(source, part))) cpSync(join(source, part), join(target, part), { recursive: true })
  // As a build of an older version leaves it.
  mkdirSync(join(target, 'dist'))
  writeFileSync(join(target, 'dist/left-over.js'), 'export {}')
  return target
}

/** Not every package has scripts for its build. */
const PARTS = ['src', 'scripts', 'package.json', 'tsconfig.json', 'README.md', 'LICENSE']

/** `zod3` of the repository is an alias: it is installed by its real name. */
function atOwnVersion(folderName: string): string {
  const { name, version } = manifestOf(join('node_modules', folderName))
  return `${name}@${version}`
}

function manifestOf(path: string): Manifest {
  return JSON.parse(readFileSync(join(REPO, path, 'package.json'), 'utf8')) as Manifest
}

interface Manifest {
  name: string
  version: string
}

export interface Pasted {
  code: string
  prints: string
}

/** The first program of a page and what it prints; undefined where the first block is no program for Node. */
export function firstProgram(page: string): Pasted | undefined {
  const text = readFileSync(join(REPO, page), 'utf8')
  const [, language, code = '', prints = ''] = /^```(ts.*)\n([\s\S]*?)^```\n(?:\n```output\n([\s\S]*?)^```$)?/m.exec(text) ?? []
  return language === 'ts' ? { code, prints } : undefined
}
